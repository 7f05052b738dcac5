// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Inspector;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper break}. */
@Command(
        name = "break",
        description = {
            "End somebody else's hold. The name stays closed until the holder knows, or its lease has ended.",
            "Exit code 1: there was no such hold."
        },
        footer = {
            "",
            "Examples:",
            "  lockkeeper break nightly              shows the holder and asks",
            "  lockkeeper break nightly --yes        for scripts",
            "  lockkeeper break nightly --now --yes  does not wait for the holder: until it is notified,",
            "                                        two may believe that they hold the name"
        })
final class Break implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(names = "--json", description = "For programs.")
    private boolean json;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    @Option(
            names = "--now",
            description = "Do not wait for the holder: others can acquire the lock at once. Dangerous.")
    private boolean now;

    @Option(names = "--token", paramLabel = "TOKEN", description = "Only the hold that has this token.")
    private @Nullable Long token;

    @Option(
            names = "--delay",
            paramLabel = "DURATION",
            defaultValue = "0",
            description = "Keep the name closed for that long afterwards, 0 to 1h (default: ${DEFAULT-VALUE}).")
    private String delay = "0";

    @Parameters(paramLabel = "NAME")
    private String name = "";

    @Override
    public Integer call() throws IOException {
        Duration lockDelay = Text.duration("--delay", "0 to 1h", delay);
        Rehearsal.of(keeper -> keeper.inspector().breakHold(name, token == null ? 1 : token, lockDelay));
        List<Long> broken = new ArrayList<>();
        try (Lockkeeper keeper = store.open()) {
            Inspector inspector = keeper.inspector();
            Optional<LockInfo> found = inspector.inspect(name);
            List<Long> tokens = found.map(LockInfo::holders).orElse(List.of()).stream()
                    .map(LockInfo.Hold::token)
                    .filter(t -> token == null || t.equals(token))
                    .toList();
            if (found.isPresent() && !tokens.isEmpty()) {
                confirm(found.get());
            }
            for (long t : tokens) {
                if (now ? inspector.breakHoldNow(name, t, lockDelay) : inspector.breakHold(name, t, lockDelay)) {
                    broken.add(t);
                }
            }
        }
        tell(broken);
        return broken.isEmpty() ? Exit.NOT_FOUND : Exit.OK;
    }

    private void confirm(LockInfo info) throws IOException {
        if (yes) {
            return;
        }
        if (json || !Terminal.OUT.isTerminal()) {
            throw new Failure(Exit.USAGE, "break asks before it breaks a hold; where nobody can answer, add --yes");
        }
        Inspect.print(info);
        Terminal.ERR.print("Break it? [y/N] ");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        String answer = in.readLine();
        if (answer == null || !answer.strip().toLowerCase(Locale.ROOT).startsWith("y")) {
            throw new Failure(Exit.NOT_FOUND, "nothing was broken");
        }
    }

    private void tell(List<Long> broken) {
        if (json) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", name);
            fields.put("broken", broken.stream().map(t -> Long.toString(t)).toList());
            Terminal.OUT.println(Json.text(fields));
        } else if (broken.isEmpty()) {
            Terminal.ERR.println("no hold of " + Text.safe(name) + " was found");
        } else {
            Terminal.OUT.println("broken: " + Text.safe(name)
                    + (now ? "" : "; it stays closed until the holder knows or its lease has ended"));
        }
    }
}
