// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.OptionalLong;

/** What was asked for. Holds are named by the id of the operation that acquired them. */
public sealed interface Call {
    /** The word for it in sentences. */
    String verb();

    /** A claim of a name. */
    record Acquire(HistoryMode mode, int permits) implements Call {
        @Override
        public String verb() {
            return switch (mode) {
                case EXCLUSIVE -> "exclusive claim";
                case SHARED -> "shared claim";
                case PERMITS -> "claim of " + permits + (permits == 1 ? " permit" : " permits");
            };
        }
    }

    /** Exclusive to shared, without a gap: ends one hold and begins another, with its own token. */
    record Downgrade(long hold) implements Call {
        @Override
        public String verb() {
            return "downgrade of #" + hold;
        }
    }

    /** The holder enters again. */
    record Reenter(long hold) implements Call {
        @Override
        public String verb() {
            return "re-entry of #" + hold;
        }
    }

    /** The end of a hold, or of one level of a re-entrant one. Empty: requested by a client that has no claim. */
    record Release(OptionalLong hold) implements Call {
        @Override
        public String verb() {
            return hold.isPresent() ? "release of #" + hold.getAsLong() : "release without a claim";
        }
    }

    /** One count off a latch. */
    record CountDown() implements Call {
        @Override
        public String verb() {
            return "count-down";
        }
    }

    /** Waiting for a latch. */
    record Await() implements Call {
        @Override
        public String verb() {
            return "await";
        }
    }

    /** A write to a guarded storage: ok if accepted, fail if refused. */
    record Write(HistoryMode mode) implements Call {
        @Override
        public String verb() {
            return "write";
        }
    }
}
