// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Whether we are in the foreground of a terminal: its Ctrl-C then reaches the command without us. */
final class Foreground {
    private Foreground() {}

    static boolean isOurs() {
        try {
            // pid (comm) state ppid pgrp session tty_nr tpgid …
            String stat = Files.readString(Path.of("/proc/self/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return fields[2].equals(fields[5]);
        } catch (IOException e) {
            return ask();
        }
    }

    private static boolean ask() {
        String pid = Long.toString(ProcessHandle.current().pid());
        try {
            Process ps = new ProcessBuilder("ps", "-o", "pgid=,tpgid=", "-p", pid)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String[] ids = new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .strip()
                    .split(" +");
            return ps.waitFor(1, TimeUnit.SECONDS) && ids.length == 2 && ids[0].equals(ids[1]);
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
