// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

/** Ends the command with a message and an exit code. */
final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int code;

    Failure(int code, String message) {
        super(message, null, false, false);
        this.code = code;
    }

    int code() {
        return code;
    }
}
