// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;

/**
 * One thing that was recorded. All times are nanoseconds since the history began, deadlines included, so that they can
 * be compared with {@code <} whatever the origin of the clock.
 */
public sealed interface Event {
    /** When it was recorded. */
    long at();

    /** A limit that the checker has to know. */
    enum Limit {
        /** Permits of a semaphore. */
        PERMITS,
        /** Count of a latch. */
        COUNT,
        /** Greatest depth of a re-entrant hold. */
        DEPTH
    }

    /** A limit was declared. */
    record Declared(long at, Limit limit, String name, long value) implements Event {}

    /** An operation is about to begin. */
    record Invoked(long at, long operation, String client, String name, Call call) implements Event {}

    /** An operation has been answered. */
    record Returned(long at, long operation, Outcome outcome) implements Event {}

    /** What came with the ok of a claim, a downgrade or a re-entry. */
    record Granted(long at, long operation, OptionalLong token, OptionalLong validUntil) implements Event {}

    /** The handle of a hold says that it is valid until another time. */
    record Extended(long at, long operation, long validUntil) implements Event {}

    /** The holder was told that it has lost its hold. */
    record Lost(long at, long operation) implements Event {}

    /** An operation has to be answered (or even granted) by a deadline. */
    record Due(long at, long operation, long deadline, boolean granted) implements Event {}

    /** A guarded storage accepted or refused a write. */
    record Written(long at, long operation, String storage, HistoryMode mode, long token, boolean accepted)
            implements Event {}

    /** The process that waited for an operation's answer was killed: from then on nobody waits for it. */
    record Abandoned(long at, long operation) implements Event {}

    /** Somebody looked, and nothing else had happened: lets the checker see that an answer is overdue. */
    record Looked(long at) implements Event {}
}
