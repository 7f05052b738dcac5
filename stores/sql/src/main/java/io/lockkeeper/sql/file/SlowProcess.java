// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Distinguishes a process that is slow, because the machine or its disk is busy, from one that was stopped or hangs:
 * the first goes on by itself. Known on Linux only; elsewhere none counts as slow.
 */
final class SlowProcess {
    /** A process that has taken longer hangs, whatever the system says. */
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private SlowProcess() {}

    /** Whether the process that entered then will leave by itself. */
    static boolean is(FileGate.Note entered) {
        long millis = System.currentTimeMillis() - entered.at();
        return millis >= 0 && millis < LONGEST.toMillis() && isRunning(entered.pid());
    }

    private static boolean isRunning(long pid) {
        try {
            // PID (COMMAND) STATE ..., where the command may be anything.
            String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"), StandardCharsets.ISO_8859_1);
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state == 'R' || state == 'S' || state == 'D';
        } catch (IOException | IndexOutOfBoundsException e) {
            return false; // it has ended, or cannot be seen from here
        }
    }
}
