// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loss meets release, hand-off and renewal: a token told lost is never handed on, and each loss is told once. (Law 10, 15.) */
final class LossRaceTest {
    private static final int ROUNDS = Tier.pick(400, 10_000, 200_000);

    /** How often each token was told lost. */
    private final Map<Long, AtomicInteger> told = new ConcurrentHashMap<>();

    private final MemoryCore core = MemoryCore.system();
    private final LockStore store = new MemoryStore(core);
    private final Rig rig = new Rig(core, new KeeperListener() {
        @Override
        public void lost(LeaseLost lost) {
            told.computeIfAbsent(lost.token(), t -> new AtomicInteger()).incrementAndGet();
        }
    });
    private final Race race = new Race();

    @AfterEach
    void end() {
        race.close();
        rig.close();
    }

    private int timesTold(Lease lease) {
        AtomicInteger count = told.get(lease.token());
        return count == null ? 0 : count.get();
    }

    private void assertEnded(Lease lease, boolean released) throws Exception {
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        if (released) {
            assertThat(timesTold(lease))
                    .as("released: no loss is told of %s", lease)
                    .isZero();
        } else {
            Rig.await("the loss of " + lease + " is told", () -> timesTold(lease) > 0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBreakMeetsTheReleaseThatHandsOn(boolean now) throws Exception {
        KeeperLock lock = rig.lock("x");
        int handedOn = 0;
        int lost = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = lock.acquire();
            List<Object> results = race.run(
                    first::release, () -> store.breakHold("x", first.token(), Duration.ZERO, now), lock::acquire);
            boolean released = results.get(0).equals(true);
            boolean broken = results.get(1).equals(true);
            Lease second = (Lease) results.get(2);
            assertEnded(first, released);
            if (!released) {
                lost++;
                assertThat(broken).as("what was lost was broken").isTrue();
                assertThat(second.token())
                        .as("a lost hold is not handed on: the next token is of another block")
                        .isGreaterThanOrEqualTo(first.token() + 64);
            } else if (second.token() == first.token() + 1) {
                handedOn++;
            }
            // The hold that was handed on may be the one that is broken, while or after it is handed on.
            boolean stillMine = second.release();
            assertEnded(second, stillMine);
            assertThat(stillMine || broken).isTrue();
            rig.assertNothingIsLeft();
        }
        assertThat(told.values()).as("each loss is told once").allSatisfy(count -> assertThat(count)
                .hasValue(1));
        assertThat(handedOn + lost).as("the race was a race").isPositive();
    }

    @Test
    void aLossSignalMeetsTheRelease() throws Exception {
        KeeperLock lock = rig.lock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease lease = lock.acquire();
            Hold hold = rig.hold();
            AtomicInteger actions = new AtomicInteger();
            lease.onLost(lost -> actions.incrementAndGet());
            List<Object> results = race.run(lease::release, lease::release, () -> {
                hold.lose(Reason.BROKEN);
                return lease.isValid();
            });
            boolean released = results.get(0).equals(true);
            assertThat(results.get(1)).as("both releases say the same").isEqualTo(released);
            assertThat(results.get(2)).as("after the signal it is not valid").isEqualTo(false);
            assertEnded(lease, released);
            if (!released) {
                Rig.await("the action runs", () -> actions.get() > 0);
            }
            rig.assertNothingIsLeft();
            assertThat(actions).hasValue(released ? 0 : 1);
        }
    }

    /** The end of validity is noticed by whoever looks first: the timer, the user, or the release. */
    @Test
    void theEndOfValidityIsSeenByAllThreadsThatLook() throws Exception {
        KeeperLock lock = rig.lock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease lease = lock.acquire();
            Hold hold = rig.hold();
            List<Object> results = race.run(
                    lease::release,
                    () -> {
                        hold.runOut(Reason.EXPIRED);
                        return lease.isValid();
                    },
                    () -> rig.keeper.renewer().run(hold.validity.deadline()) > 0);
            assertThat(results.get(1)).isEqualTo(false);
            assertEnded(lease, results.get(0).equals(true));
            rig.assertNothingIsLeft();
        }
        assertThat(told.values()).allSatisfy(count -> assertThat(count).hasValue(1));
    }

    @Test
    void aRenewalPassMeetsTheRelease() throws Exception {
        KeeperLock lock = rig.lock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease lease = lock.acquire();
            Hold hold = rig.hold();
            List<Object> results = race.run(lease::release, () -> {
                hold.validity.renewAt(0);
                rig.keeper.renewer().run(rig.keeper.ticker().nanos());
                return true;
            });
            assertThat(results.get(0)).isEqualTo(true);
            assertEnded(lease, true);
            rig.assertNothingIsLeft();
        }
    }

    @Test
    void aRenewalPassMeetsTheHandOff() throws Exception {
        KeeperLock lock = rig.lock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = lock.acquire();
            Hold hold = rig.hold();
            List<Object> results = race.run(first::release, lock::acquire, () -> {
                hold.validity.renewAt(0);
                rig.keeper.renewer().run(rig.keeper.ticker().nanos());
                return true;
            });
            Lease second = (Lease) results.get(1);
            assertThat(second.isValid()).isTrue();
            assertThat(second.token()).isGreaterThan(first.token());
            assertThat(second.release()).isTrue();
            rig.assertNothingIsLeft();
        }
        assertThat(told).isEmpty();
    }

    @Test
    void readersJoinAndLeaveWhileTheirHoldIsBroken() throws Exception {
        KeeperLock lock = rig.readLock("x");
        for (int i = 0; i < ROUNDS; i++) {
            Lease first = lock.acquire();
            List<Object> results = race.run(
                    lock::acquire, lock::acquire, () -> store.breakHold("x", first.token(), Duration.ZERO, true));
            assertThat(results.get(2)).isEqualTo(true);
            assertThat(first.isValid()).isFalse();
            assertThat(first.release()).isFalse();
            for (Object result : results.subList(0, 2)) {
                Lease reader = (Lease) result;
                boolean joined = reader.token() < first.token() + 64;
                assertThat(reader.release())
                        .as("%s, which joined: %s", reader, joined)
                        .isEqualTo(!joined);
                assertEnded(reader, !joined);
            }
            rig.assertNothingIsLeft();
        }
    }
}
