// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Sequencer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lockkeeper check}. */
@Command(
        name = "check",
        description = "Ask the store whether the hold that a sequencer names is in force. Exit code 1: it is not.",
        footer = {
            "",
            "Examples:",
            "  lockkeeper check lk1:X:1763240000000000:nightly",
            "  lockkeeper run nightly -- sh -c './prepare && lockkeeper check && ./publish'"
        })
final class Check implements Callable<Integer> {
    @Mixin
    private Store store = new Store();

    @Option(names = "--json", description = "For programs.")
    private boolean json;

    @Parameters(
            arity = "0..1",
            paramLabel = "SEQUENCER",
            description = "Default: $LOCKKEEPER_SEQUENCER, which run sets for its command.")
    private @Nullable String sequencer;

    @Override
    public Integer call() {
        String text = sequencer == null ? System.getenv("LOCKKEEPER_SEQUENCER") : sequencer;
        if (text == null) {
            throw new Failure(Exit.USAGE, "which sequencer? See lockkeeper check --help");
        }
        Sequencer parsed = Sequencer.parse(text);
        Rehearsal.of(keeper -> keeper.inspector().check(parsed));
        boolean inForce;
        try (Lockkeeper keeper = store.open()) {
            inForce = keeper.inspector().check(parsed);
        }
        if (json) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("sequencer", text);
            fields.put("inForce", inForce);
            Terminal.OUT.println(Json.text(fields));
        } else {
            Terminal.OUT.println(inForce ? "in force" : "not in force");
        }
        return inForce ? Exit.OK : Exit.NOT_FOUND;
    }
}
