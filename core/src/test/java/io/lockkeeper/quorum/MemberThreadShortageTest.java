// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A process that gets no more threads for a while goes on with what it holds in a quorum. */
final class MemberThreadShortageTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final AtomicInteger refused = new AtomicInteger();
    private boolean isShort;

    /** Runs what it is given at once, or has no thread for it. */
    private final MemberThreads threads = new MemberThreads() {
        @Override
        Executor of(int member, Member.Kind kind) {
            return task -> {
                if (isShort) {
                    refused.incrementAndGet();
                    throw new OutOfMemoryError("unable to create native thread (as the test wants it)");
                }
                task.run();
            };
        }
    };

    private static Claim claim(LockStore store, String name) {
        Terms terms =
                new Terms(Mode.EXCLUSIVE, 1, 0, LEASE, Duration.ZERO, Duration.ofSeconds(1), 64, false, "client", "");
        return new Claim(
                name,
                new ClaimId("c-" + name, 1),
                terms,
                store.time(store.lane(name)).plusMicros(60_000_000),
                false);
    }

    @Test
    @DisplayName("H65: a hold in a quorum is taken, renewed and released without a new thread")
    void aQuorumNeedsNoNewThread() {
        List<Supplier<LockStore>> members = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            LockStore member = new MemoryStore(MemoryCore.system());
            members.add(() -> member);
        }
        QuorumStore store = new QuorumStore(
                members,
                members.get(0).get().guarantees(),
                Ticker.SYSTEM,
                Duration.ZERO,
                QuorumOptions.defaults(),
                threads,
                Duration.ZERO,
                false);
        store.id(); // it is marked now
        Claim before = claim(store, "before");
        Grant held = Grant.of(before, (Answer.Granted) store.claim(before));

        isShort = true;
        Renewal renewal = store.renew(new Renewals(List.of(new Renewals.Hold(held, LEASE, 0)), List.of()));
        assertThat(renewal.holds()).hasOnlyElementsOfType(Renewal.Kept.class);
        Claim during = claim(store, "during");
        Grant other = Grant.of(during, (Answer.Granted) store.claim(during));
        assertThat(store.release(held)).isTrue();
        assertThat(store.release(other)).isTrue();
        assertThat(refused).hasPositiveValue();
        store.close();
    }

    @Test
    @DisplayName("H65: what is left at a member is cleared up after a shortage, which no step fails for")
    void leftoversAreClearedUpAfterAShortage() {
        LockStore store = new MemoryStore(MemoryCore.system());
        Member member = new Member(0, () -> store, Ticker.SYSTEM, threads);
        Claim left = claim(store, "left");
        store.claim(left);
        member.leave(left);

        isShort = true;
        assertThat(member.step(LockStore::id)).isEqualTo(store.id());
        assertThat(refused).hasPositiveValue();
        assertThat(store.inspect("left")).isPresent();

        isShort = false;
        member.step(LockStore::id);
        assertThat(store.inspect("left")).isEmpty();
    }
}
