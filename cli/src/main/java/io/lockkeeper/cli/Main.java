// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.ConflictingUseException;
import io.lockkeeper.LockkeeperException;
import io.lockkeeper.StoreUnavailableException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.ParameterException;

/** The command {@code lockkeeper}. */
@Command(
        name = "lockkeeper",
        mixinStandardHelpOptions = false,
        synopsisSubcommandLabel = "COMMAND",
        description = "Locks for commands: one at a time, on this host or on all that share a store.",
        footer = {
            "",
            "Examples:",
            "  lockkeeper run nightly -- ./report.sh         one at a time on this host",
            "  lockkeeper run nightly --wait 0 -- ./report.sh   or not at all (exit code 75)",
            "  lockkeeper run import --permits 1/4 -- ./load.sh  four at a time",
            "  lockkeeper ls                                  who holds what",
            "",
            "The store: --store URL, else LOCKKEEPER_STORE, else a file in your state directory. A URL that has a",
            "password is better kept in a file: --store @FILE.",
            "",
            "Exit codes: of run, the command's own, 128+n when signal n ended it, 126 and 127 as shells have them;",
            "1 not found, 64 usage, 69 store unavailable, 75 not acquired in time, 76 lock lost."
        })
final class Main implements Runnable {
    @CommandLine.Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli sees to it
    private boolean help;

    private static final Map<String, Supplier<Object>> COMMANDS = commands();

    private static Map<String, Supplier<Object>> commands() {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("run", Run::new);
        commands.put("ls", Ls::new);
        commands.put("inspect", Inspect::new);
        commands.put("watch", Watch::new);
        commands.put("break", Break::new);
        commands.put("check", Check::new);
        commands.put("version", Version::new);
        commands.put("generate-completion", GenerateCompletion::new);
        return commands;
    }

    private Main() {}

    /** Runs the command and ends the process. */
    public static void main(String[] args) {
        int code;
        try {
            code = execute(Arguments.exact(args));
        } catch (Failure e) {
            code = failed(e);
        }
        System.out.flush();
        System.err.flush();
        // Everything that needs an end has had it; the JVM's own costs time.
        Runtime.getRuntime().halt(code);
    }

    private static int execute(String[] args) {
        CommandLine root = new CommandLine(new Main());
        // Reading a command's options takes time: only those of the one that is meant, if that is plain.
        String first = args.length == 0 ? "" : args[0];
        Collection<String> wanted = COMMANDS.containsKey(first) && !first.equals("generate-completion")
                ? List.of(first)
                : COMMANDS.keySet();
        for (String name : wanted) {
            Supplier<Object> command = COMMANDS.get(name);
            if (command != null) {
                root.addSubcommand(name, command.get());
            }
        }
        root.setExpandAtFiles(false); // @FILE is ours
        root.setColorScheme(Help.defaultColorScheme(Terminal.OUT.hasColours() ? Help.Ansi.ON : Help.Ansi.OFF));
        root.setParameterExceptionHandler(Main::wrongUsage);
        root.setExecutionExceptionHandler((e, command, parsed) -> failed(e));
        root.setUsageHelpWidth(100);
        return root.execute(args);
    }

    @Override
    public void run() {
        throw new Failure(
                Exit.USAGE,
                "which command? One of " + String.join(", ", COMMANDS.keySet()) + "; see lockkeeper --help");
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        Terminal.complain(e.getMessage() + "; see " + command + " --help");
        return Exit.USAGE;
    }

    private static int failed(Exception e) {
        int code = tell(e);
        if (Terminal.isVerbose()) {
            Terminal.trace(e);
        }
        return code;
    }

    private static int tell(Exception e) {
        if (e instanceof Failure failure) {
            Terminal.complain(String.valueOf(failure.getMessage()));
            return failure.code();
        }
        if (e instanceof StoreUnavailableException) {
            Terminal.complain("the store is unavailable: " + e.getMessage());
            return Exit.UNAVAILABLE;
        }
        if (e instanceof IllegalArgumentException
                || e instanceof UnsupportedOperationException
                || e instanceof ConflictingUseException) {
            Terminal.complain(String.valueOf(e.getMessage()));
            return Exit.USAGE;
        }
        Terminal.complain(e instanceof LockkeeperException ? String.valueOf(e.getMessage()) : "unexpected: " + e);
        return Exit.SOFTWARE;
    }
}
