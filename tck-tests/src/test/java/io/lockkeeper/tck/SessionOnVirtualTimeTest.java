// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Liveness;
import io.lockkeeper.testkit.ForwardingStore;
import io.lockkeeper.testkit.VirtualTime;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the life of a session means for holds whose lease, 30 s, is longer. */
final class SessionOnVirtualTimeTest {
    private static final long SECOND = 1_000_000_000;

    private final VirtualTime time = new VirtualTime();
    private final Session session = new Session();
    private final BlockingQueue<LeaseLost> told = new LinkedBlockingQueue<>();
    private final BlockingQueue<Duration> atRisk = new LinkedBlockingQueue<>();
    private final Lockkeeper keeper = Lockkeeper.builder(new ForwardingStore(time.newStore()) {
                @Override
                public Liveness liveness(Claim claim) {
                    return session;
                }
            })
            .listener(new KeeperListener() {
                @Override
                public void lost(LeaseLost lost) {
                    told.add(lost);
                }

                @Override
                public void atRisk(String name, long token, Duration remaining) {
                    atRisk.add(remaining);
                }
            })
            .build();

    /** Lives for 10 s after a sign of life; the next is due after 5 s, and holders are told a second before the end. */
    private final class Session implements Liveness {
        private volatile long heard = time.nanos();
        private volatile boolean over;

        @Override
        public long expectedBy() {
            return heard + 5 * SECOND;
        }

        @Override
        public long tellBy() {
            return over ? Long.MIN_VALUE / 4 : heard + 9 * SECOND;
        }

        @Override
        public long endsAt() {
            return over ? Long.MIN_VALUE / 4 : heard + 10 * SECOND;
        }
    }

    @AfterEach
    void end() {
        keeper.close();
    }

    private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T first = queue.poll(30, TimeUnit.SECONDS);
        assertThat(first).as("reported in time").isNotNull();
        return first;
    }

    @Test
    void aHoldEndsWithItsSessionAlthoughItsLeaseGoesOn() throws Exception {
        Lease lease = keeper.lock("x").acquire();
        assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(9));
        time.jump(Duration.ofSeconds(9).minusNanos(1));
        assertThat(lease.isValid()).isTrue();
        time.jump(Duration.ofNanos(1));
        assertThat(lease.isValid()).isFalse();
        LeaseLost loss = next(told);
        assertThat(loss.reason()).isEqualTo(Reason.STORE_UNREACHABLE);
        assertThat(loss.remaining()).isEqualTo(Duration.ofSeconds(1));
        session.heard = time.nanos();
        assertThat(lease.isValid())
                .as("ended validity is loss, whatever comes later")
                .isFalse();
        assertThat(lease.release()).isFalse();
    }

    @Test
    void signsOfLifeKeepIt() throws Exception {
        Lease lease = keeper.lock("x").acquire();
        for (int i = 0; i < 5; i++) {
            time.jump(Duration.ofSeconds(4));
            session.heard = time.nanos();
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(told).isEmpty();
        assertThat(atRisk).isEmpty();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void anOverdueSignOfLifePutsItAtRiskOnce() throws Exception {
        Lease lease = keeper.lock("x").acquire();
        time.jump(Duration.ofSeconds(5));
        assertThat(next(atRisk)).isEqualTo(Duration.ofSeconds(4));
        time.jump(Duration.ofSeconds(1));
        session.heard = time.nanos();
        assertThat(lease.remaining()).isEqualTo(Duration.ofSeconds(9));
        assertThat(atRisk).isEmpty();
        assertThat(lease.release()).isTrue();
    }

    @Test
    void aSessionThatIsKnownToHaveEndedTakesItsHoldsWithIt() throws Exception {
        Lease lease = keeper.lock("x").acquire();
        session.over = true;
        assertThat(lease.isValid()).isFalse();
        time.jump(Duration.ofSeconds(9)); // when the keeper looks next
        assertThat(next(told).reason()).isEqualTo(Reason.SESSION_LOST);
    }
}
