// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchState.Outcome;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.StoreTime;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a step does to a latch. A step with an id is carried out once: a repeat gets the same outcome, and one that comes after
 * its deadline does nothing.
 */
public final class LatchRules {
    private LatchRules() {}

    /** A latch, and what the rules need from the store around it. */
    public interface Latch {
        /** The store's time, at which the step is carried out. */
        StoreTime time();

        /** The count; 0 for a latch that is open. */
        long count();

        /** Sets the count of an open latch, as a new generation. */
        void set(long count);

        /** Counts down by one, from more than 0; at 0 the latch opens, and all who watch it are notified. */
        void countDown();

        /** A client wants to know when it opens, until that time, in µs. */
        void watch(String client, long until);

        /** What the step with this id did, if it is remembered. */
        Optional<Outcome> outcomeOf(ClaimId id);

        /** Remembers what the step with this id did until the deadline has passed. */
        void remember(ClaimId id, StoreTime deadline, Outcome outcome);
    }

    /** Carries out a step. */
    public static Outcome apply(LatchStep step, Latch latch) {
        if (step instanceof LatchStep.Set set) {
            return once(set.id(), set.deadline(), latch, () -> set(latch, set.count()));
        }
        if (step instanceof LatchStep.CountDown down) {
            return once(down.id(), down.deadline(), latch, () -> countDown(latch));
        }
        if (step instanceof LatchStep.Watch watch && latch.count() > 0) {
            latch.watch(watch.client(), latch.time().micros() + NameState.micros(watch.interest()));
        }
        return Outcome.DONE;
    }

    private static Outcome once(ClaimId id, StoreTime deadline, Latch latch, Supplier<Outcome> step) {
        Optional<Outcome> known = latch.outcomeOf(id);
        if (known.isPresent()) {
            return known.get();
        }
        if (deadline.isPast(latch.time())) {
            return Outcome.LATE;
        }
        Outcome outcome = step.get();
        latch.remember(id, deadline, outcome);
        return outcome;
    }

    private static Outcome set(Latch latch, long count) {
        if (latch.count() > 0) {
            return Outcome.UNCHANGED;
        }
        latch.set(count);
        return Outcome.DONE;
    }

    private static Outcome countDown(Latch latch) {
        if (latch.count() > 0) {
            latch.countDown();
        }
        return Outcome.DONE;
    }
}
