// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.testkit.ForwardingStore;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Stores with one typical mistake each. A mistake that needs state shared by all clients of a store keeps it in the fields of
 * its {@link Breakage}, which is one object for all connections.
 */
final class BrokenStores {
    private BrokenStores() {}

    /** The connections to one store with this fault. */
    static Supplier<LockStore> connections(Fault fault) {
        MemoryCore core = MemoryCore.system();
        Breakage breakage = fault.breakage.get();
        return () -> breakage.on(new MemoryStore(core));
    }

    @SuppressWarnings("ImmutableEnumChecker")
    enum Fault {
        NONE(() -> ForwardingStore::new),
        NO_OWNER_CHECK(WrongEnds.NoOwnerCheck::new),
        TOKEN_REPEATS(() -> inner -> new WrongAnswers.Retold(inner, granted -> ChangedTerms.token(granted, 7))),
        TOKEN_FALLS(() -> inner -> new WrongAnswers.Retold(
                inner, granted -> ChangedTerms.token(granted, 1_000_000_000 - granted.token()))),
        BLOCKS_OVERLAP(() -> inner -> new WrongAnswers.Retold(inner, granted -> ChangedTerms.block(granted, 64))),
        LETS_GO_EARLY(() -> inner -> new WrongAnswers.Lying(inner, 0.25)),
        NEVER_LETS_GO(() -> inner -> new WrongAnswers.Lying(inner, 1_000)),
        ENDLESS_PATIENCE(() ->
                inner -> new WrongAnswers.Misread(inner, terms -> ChangedTerms.patience(terms, Duration.ofHours(9)))),
        NO_LOCK_DELAY(
                () -> inner -> new WrongAnswers.Misread(inner, terms -> ChangedTerms.lockDelay(terms, Duration.ZERO))),
        WAKE_UP_LOST(() -> WrongHandOvers.WakeUpLost::new),
        WAKE_UP_FOR_ALL(WrongHandOvers.WakeUpForAll::new),
        NO_HAND_OVER(() -> WrongHandOvers.NoHandOver::new),
        SECOND_GRANT(() -> WrongClaims.SecondGrant::new),
        GHOSTS(() -> WrongClaims.Ghosts::new),
        READERS_BESIDE_WRITERS(() -> WrongClaims.ReadersBesideWriters::new),
        TOO_MANY_PERMITS(() -> WrongClaims.TooManyPermits::new),
        NOT_IN_ORDER(WrongHandOvers.NotInOrder::new),
        KEEPS_SILENT_WAITERS(WrongHandOvers.KeepsSilentWaiters::new),
        SKIPS_LIVE_WAITERS(() -> WrongHandOvers.SkipsLiveWaiters::new),
        RENEWAL_FORGOTTEN(() -> WrongEnds.RenewalForgotten::new),
        RENEWAL_REVIVES(() -> WrongEnds.RenewalRevives::new),
        REFRESH_CONFIRMS(() -> WrongEnds.RefreshConfirms::new),
        BREAK_AT_ONCE(() -> WrongEnds.BreakAtOnce::new),
        LATCH_COUNTS_COPIES(() -> WrongClaims.LatchCountsCopies::new);

        private final Supplier<Breakage> breakage;

        Fault(Supplier<Breakage> breakage) {
            this.breakage = breakage;
        }
    }

    /** Makes a connection broken. */
    interface Breakage {
        LockStore on(LockStore inner);
    }
}
