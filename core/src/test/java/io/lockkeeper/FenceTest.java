// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class FenceTest {
    private final Fence.InMemory fence = Fence.inMemory();

    private static Sequencer exclusive(long token) {
        return new Sequencer("a", Mode.EXCLUSIVE, token);
    }

    private static Sequencer shared(long token) {
        return new Sequencer("a", Mode.SHARED, token);
    }

    private void refuses(Sequencer sequencer, long seen) {
        assertThatThrownBy(() -> fence.enter(sequencer)).isInstanceOfSatisfying(StaleTokenException.class, e -> {
            assertThat(e.token()).isEqualTo(sequencer.token());
            assertThat(e.seen()).isEqualTo(seen);
        });
    }

    @Test
    void anExclusiveTokenEntersAgainUntilALaterOneHas() {
        fence.enter(exclusive(33));
        fence.enter(exclusive(33));
        fence.enter(exclusive(34));
        refuses(exclusive(33), 34);
        fence.enter(exclusive(34));
    }

    @Test
    void aReaderThatHasOnlyReadShutsAnEarlierWriterOut() {
        fence.enter(exclusive(10));
        fence.enter(shared(11));
        refuses(exclusive(10), 11);
    }

    @Test
    void readersEnterInAnyOrderButNotAfterALaterWriter() {
        fence.enter(shared(12));
        fence.enter(shared(11));
        fence.enter(shared(12));
        fence.enter(exclusive(13));
        refuses(shared(12), 13);
        refuses(shared(13), 13);
        fence.enter(shared(14));
    }

    @Test
    void aWriterThatReadsOnEntersWithItsNextToken() {
        fence.enter(exclusive(20));
        fence.enter(shared(21));
        refuses(exclusive(20), 21);
        fence.enter(exclusive(22));
    }

    @Test
    void namesHaveMarksOfTheirOwn() {
        fence.enter(exclusive(9));
        fence.enter(new Sequencer("b", Mode.EXCLUSIVE, 1));
    }

    @Test
    void permitsAreRefused() {
        assertThatThrownBy(() -> fence.enter(new Sequencer("a", Mode.PERMITS, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("permits");
    }

    @Test
    void aStaleWriteWritesNothing() throws Exception {
        List<String> written = new ArrayList<>();
        assertThat(fence.write(exclusive(1), () -> written.add("one"))).isTrue();
        fence.enter(exclusive(2));
        assertThatThrownBy(() -> fence.write(exclusive(1), () -> written.add("late")))
                .isInstanceOf(StaleTokenException.class);
        assertThat(written).containsExactly("one");
    }

    @Test
    void nobodyEntersBetweenTheCheckAndTheWrite() throws Exception {
        CompletableFuture<Void> writing = new CompletableFuture<>();
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        CompletableFuture<String> order = new CompletableFuture<>();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            try {
                fence.write(exclusive(1), () -> {
                    writing.complete(null);
                    goOn.get(30, TimeUnit.SECONDS);
                    return order.complete("written");
                });
            } catch (Exception e) {
                order.completeExceptionally(e);
            }
        });
        writing.get(30, TimeUnit.SECONDS);
        Thread successor = new Thread(() -> {
            fence.enter(exclusive(2));
            order.complete("entered");
        });
        successor.start();
        for (long end = System.nanoTime() + 30_000_000_000L;
                successor.getState() != Thread.State.BLOCKED && System.nanoTime() < end; ) {
            Thread.onSpinWait();
        }
        assertThat(successor.getState()).isEqualTo(Thread.State.BLOCKED);
        goOn.complete(null);
        assertThat(order.get(30, TimeUnit.SECONDS)).isEqualTo("written");
        writer.get(30, TimeUnit.SECONDS);
        successor.join(30_000);
    }

    @Test
    void aLeaseEntersWithEachOfItsParts() throws Exception {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            Lease both = DistributedLock.all(keeper.lock("a"), keeper.lock("b")).acquire();
            fence.enter(both);
            assertThat(fence.write(both, () -> "written")).isEqualTo("written");
            assertThat(both.release()).isTrue();
            Lease later = keeper.lock("b").acquire();
            fence.enter(later);
            assertThatThrownBy(() -> fence.write(both, () -> "late"))
                    .isInstanceOf(StaleTokenException.class)
                    .hasMessageContaining("'b'");
        }
    }
}
