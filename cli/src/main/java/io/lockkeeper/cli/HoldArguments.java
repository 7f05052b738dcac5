// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The arguments of {@code acquire}, which its holder gets, too. */
final class HoldArguments {
    @Mixin
    Store store = new Store();

    @Mixin
    Request request = new Request();

    @Option(
            names = "--on-lost",
            paramLabel = "WHAT",
            defaultValue = "term",
            description =
                    "If the lock is lost: term sends TERM to the shell and all that it has started, kill also KILL"
                            + " before others can acquire the lock, none only says so (default: ${DEFAULT-VALUE}).")
    private String onLost = "term";

    @Option(
            names = "--shell",
            paramLabel = "PID",
            description = "The process that the lock ends with. Default: the shell that evaluates what is printed.")
    @Nullable
    Long shell;

    @Option(names = "--json", description = "For programs: prints no shell commands; needs --shell.")
    boolean json;

    void check() {
        request.check();
        means();
        if (json && shell == null) {
            throw new Failure(Exit.USAGE, "--json needs --shell PID, the process that the lock ends with");
        }
        if (shell != null && ProcessHandle.of(shell).isEmpty()) {
            throw new Failure(Exit.USAGE, "--shell is " + shell + "; there is no such process");
        }
    }

    Guardian.Means means() {
        return switch (onLost) {
            case "term" -> Guardian.Means.TERM;
            case "kill" -> Guardian.Means.KILL;
            case "none" -> Guardian.Means.NONE;
            default -> throw new Failure(Exit.USAGE, "--on-lost is '" + onLost + "'; allowed are term, kill and none");
        };
    }
}
