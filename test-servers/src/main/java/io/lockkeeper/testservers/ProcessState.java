// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What Linux says a process is doing. */
final class ProcessState {
    private ProcessState() {}

    /** R, S, T (stopped), Z (zombie)… as in {@code proc(5)}; X if there is no such process, ? on another system. */
    static char of(ProcessHandle process) {
        if (!Files.isDirectory(Path.of("/proc/self"))) {
            return '?';
        }
        try {
            String stat = new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(process.pid()), "stat")), StandardCharsets.UTF_8);
            // "pid (name) state …", and a name may contain anything
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return 'X';
        }
    }
}
