// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

/** Exit codes; those of {@code sysexits.h} where it has one. */
final class Exit {
    static final int OK = 0;
    static final int NOT_FOUND = 1;
    static final int USAGE = 64;
    static final int UNAVAILABLE = 69;
    static final int SOFTWARE = 70;
    static final int SYSTEM = 71;
    static final int OUTPUT = 74;
    static final int NOT_ACQUIRED = 75;
    static final int LOST = 76;
    static final int CANNOT_EXECUTE = 126;
    static final int NO_SUCH_COMMAND = 127;
    static final int SIGNAL = 128;

    private Exit() {}
}
