// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule 9: what the checker is for. Deliberately broken locks are caught, and the one that is not broken is not. */
class BrokenLockTest {
    enum Fault {
        NONE,
        NO_OWNER_CHECK,
        TOKEN_REPEATS,
        TOKEN_RESETS,
        EXPIRY_TOO_EARLY,
        EXPIRY_IGNORED_ON_RELEASE,
        GUARD_ASLEEP
    }

    private static Set<Rule> brokenBy(Fault fault) {
        return switch (fault) {
            case NONE -> Set.of();
            case NO_OWNER_CHECK -> Set.of(Rule.RELEASE, Rule.EXCLUSION);
            case TOKEN_REPEATS, TOKEN_RESETS -> Set.of(Rule.FENCE);
            case EXPIRY_TOO_EARLY -> Set.of(Rule.EXCLUSION);
            case EXPIRY_IGNORED_ON_RELEASE -> Set.of(Rule.RELEASE);
            case GUARD_ASLEEP -> Set.of(Rule.GUARD);
        };
    }

    /** A lease lock and a guard, on the scenario's clock, as right as the fault allows. */
    private static final class LeaseLock {
        private static final long LEASE = 100;
        private final Fault fault;
        private long owner;
        private long expires;
        private long token;
        private long mark;

        LeaseLock(Fault fault) {
            this.fault = fault;
        }

        /** The token, or 0. */
        long tryAcquire(long id, long now) {
            long earlier = fault == Fault.EXPIRY_TOO_EARLY ? LEASE / 2 : 0;
            if (owner != 0 && now < expires - earlier) {
                return 0;
            }
            owner = id;
            expires = now + LEASE;
            if (fault == Fault.TOKEN_RESETS && token == 2) {
                token = 0;
            }
            if (fault != Fault.TOKEN_REPEATS || token != 2) {
                token++;
            }
            return token;
        }

        boolean release(long id, long now) {
            if (fault == Fault.EXPIRY_IGNORED_ON_RELEASE && owner != id) {
                return true;
            }
            if (fault != Fault.NO_OWNER_CHECK && (owner != id || now >= expires)) {
                return false;
            }
            owner = 0;
            return true;
        }

        boolean write(long with) {
            if (with < mark && fault != Fault.GUARD_ASLEEP) {
                return false;
            }
            mark = with;
            return true;
        }
    }

    private final Scenario scenario = new Scenario();

    @ParameterizedTest
    @EnumSource
    void faultIsFound(Fault fault) {
        run(new LeaseLock(fault));
        assertThat(Set.copyOf(scenario.broken())).isEqualTo(brokenBy(fault));
    }

    /** A is paused beyond its lease, B comes in, A wakes, writes and releases, C tries at every occasion. */
    private void run(LeaseLock lock) {
        RecordedClaim a = acquire(lock, "a", 1, 0);
        acquire(lock, "c", 3, 60);
        RecordedClaim b = acquire(lock, "b", 2, 110);
        write(lock, 2);
        write(lock, 1);
        release(lock, a, 1, 120);
        acquire(lock, "c", 4, 130);
        release(lock, b, 2, 140);
        RecordedClaim c = acquire(lock, "c", 5, 150);
        release(lock, c, 5, 160);
        scenario.at(165);
        RecordedStep foreign = scenario.history.client("d").release(Scenario.LOCK);
        foreign.okOrFail(lock.release(6, 165));
    }

    private RecordedClaim acquire(LeaseLock lock, String client, long id, long now) {
        RecordedClaim claim = scenario.at(now).exclusive(client);
        long token = lock.tryAcquire(id, now);
        scenario.at(now + 1);
        if (token == 0) {
            claim.fail();
        } else {
            claim.ok(token, now + LeaseLock.LEASE);
        }
        return claim;
    }

    private void release(LeaseLock lock, RecordedClaim claim, long id, long now) {
        scenario.at(now);
        RecordedStep release = claim.release();
        scenario.at(now + 1);
        release.okOrFail(lock.release(id, now));
    }

    private void write(LeaseLock lock, long token) {
        RecordedStorage storage = scenario.history.storage("account");
        if (lock.write(token)) {
            storage.accepted(token);
        } else {
            storage.refused(token);
        }
    }
}
