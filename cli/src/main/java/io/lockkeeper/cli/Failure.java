// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.KeeperClosedException;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.StoreUnavailableException;

/** Ends the command with a message and an exit code. */
final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    Failure(int code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    /** Whatever has ended a command, in words for its user. */
    static Failure of(Throwable e) {
        if (e instanceof Failure failure) {
            return failure;
        }
        String message = Text.withDurations(String.valueOf(e.getMessage()));
        if (e instanceof StoreUnavailableException) {
            return new Failure(Exit.UNAVAILABLE, "the store is unavailable: " + message);
        }
        if (e instanceof KeeperClosedException) {
            return new Failure(
                    Exit.UNAVAILABLE, "the connection to the store was closed while it was needed: " + message);
        }
        if (e instanceof LeaseLostException lost) {
            return new Failure(
                    Exit.LOST,
                    "the lock " + lost.loss().name() + " was lost ("
                            + Text.reason(lost.loss().reason()) + ")");
        }
        if (e instanceof IllegalArgumentException
                || e instanceof UnsupportedOperationException
                || e instanceof ConflictingUseException) {
            return new Failure(Exit.USAGE, message);
        }
        return new Failure(Exit.SOFTWARE, e instanceof LockkeeperException ? message : "unexpected: " + inOneLine(e));
    }

    /** A class that cannot be verified has pages to say. */
    private static String inOneLine(Throwable e) {
        Throwable cause = e.getCause();
        Throwable reported = e instanceof ExceptionInInitializerError && cause != null ? cause : e;
        return reported.toString().lines().findFirst().orElse("");
    }

    int code() {
        return code;
    }
}
