// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code lockkeeper version}. */
@Command(
        name = "version",
        description = "Show the version.",
        footer = {"", "Example:", "  lockkeeper version --json | jq -r .version"})
final class Version implements Callable<Integer> {
    @Option(names = "--json", description = "For programs.")
    private boolean json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli sees to it
    private boolean help;

    @Override
    public Integer call() throws IOException {
        String version = read();
        String java = System.getProperty("java.version");
        if (json) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("version", version);
            fields.put("java", java);
            Terminal.OUT.println(Json.text(fields));
        } else {
            Terminal.OUT.println("lockkeeper " + version + " (Java " + java + ")");
        }
        return Exit.OK;
    }

    private static String read() throws IOException {
        try (InputStream in = Version.class.getResourceAsStream("version.txt")) {
            return in == null ? "unknown" : new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        }
    }
}
