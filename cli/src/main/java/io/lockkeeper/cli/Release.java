// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper release}: asks the holder of a shell's lock to release it. */
@Command(
        name = "release",
        description = {
            "Release a lock of this shell that lockkeeper acquire has acquired; without a name, the latest.",
            "Exit code 1: there is none; 76: it had been lost before."
        },
        footer = {
            "",
            "Examples:",
            "  lockkeeper release          the latest lock of this shell that is still held",
            "  lockkeeper release nightly  this one",
            "  lockkeeper release --all    all of them"
        })
final class Release implements Callable<Integer> {
    private static final long LOOK_EVERY = 5_000_000;

    @Option(names = "--all", description = "All locks of this shell.")
    private boolean all;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli sees to it
    private boolean help;

    @Parameters(arity = "0..1", paramLabel = "NAME", description = "Which lock. Default: the latest.")
    private @Nullable String name;

    @Override
    public Integer call() throws IOException {
        if (name != null) {
            String checked = name;
            Rehearsal.of(keeper -> keeper.inspector().inspect(checked));
        }
        List<HoldFolder> held = held();
        if (held.isEmpty()) {
            Terminal.complain(
                    name == null
                            ? "this shell holds no lock: none was acquired with eval \"$(lockkeeper acquire NAME)\","
                                    + " or all were released or lost"
                            : "this shell does not hold " + name);
            return Exit.NOT_FOUND;
        }
        int code = Exit.OK;
        for (HoldFolder folder : all ? held : held.subList(0, 1)) {
            int one = release(folder);
            code = one == Exit.OK ? code : one;
        }
        return code;
    }

    /** The latest first. */
    private List<HoldFolder> held() {
        String folders = System.getenv(HoldFolder.VARIABLE);
        List<HoldFolder> held = new ArrayList<>();
        if (folders != null && !folders.isEmpty()) {
            Arrays.stream(folders.split(":"))
                    .map(path -> new HoldFolder(Path.of(path)))
                    .filter(folder -> folder.exists() && folder.holder().isPresent())
                    .filter(folder -> name == null || folder.name().equals(Optional.of(name)))
                    .forEach(held::add);
        }
        Collections.reverse(held);
        return held;
    }

    private static int release(HoldFolder folder) throws IOException {
        Optional<ProcessHandle> holder = folder.holder();
        folder.requestRelease();
        holder.ifPresent(ProcessHandle::destroy); // which wakes it
        while (folder.result().isEmpty() && holder.filter(ProcessTree::lives).isPresent()) {
            LockSupport.parkNanos(LOOK_EVERY);
        }
        int code = folder.result().orElse(Exit.LOST);
        if (code == Exit.LOST) {
            Terminal.complain("the lock " + folder.name().orElse("") + " had been lost before it was released");
        }
        folder.delete();
        return code;
    }
}
