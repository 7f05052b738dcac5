// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

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
            "  eval \"$(lockkeeper acquire nightly)\" || exit   for the rest of a script",
            "  lockkeeper ls                                  who holds what",
            "",
            "The store: --store URL, otherwise LOCKKEEPER_STORE, otherwise a file in your state directory. Keep a URL",
            "that has a password in a file: --store @FILE.",
            "",
            "Exit codes: of run, the command's own, 128+n when signal n ended it, 126 and 127 as shells have them;",
            "1 not found, 64 usage, 69 store unavailable, 70 a bug, 71 no process or folder could be made,",
            "74 output not written, 75 not acquired in time, 76 lock lost."
        })
final class Main implements Runnable {
    @CommandLine.Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli sees to it
    private boolean help;

    /** Not a constant: a missing class is to be reported by {@link #main}, which it would keep from starting. */
    private static Map<String, Supplier<Object>> commands() {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("run", Run::new);
        commands.put(Acquire.NAME, Acquire::new);
        commands.put("release", Release::new);
        commands.put("ls", Ls::new);
        commands.put("inspect", Inspect::new);
        commands.put("watch", Watch::new);
        commands.put("break", Break::new);
        commands.put("check", Check::new);
        commands.put("version", Version::new);
        commands.put("ddl", Ddl::new);
        commands.put("generate-completion", GenerateCompletion::new);
        commands.put(Holder.NAME, Holder::new);
        return commands;
    }

    private static List<String> arguments = List.of();

    private Main() {}

    /** The arguments that we were started with, exactly. */
    static List<String> arguments() {
        return arguments;
    }

    /** Runs the command and ends the process. */
    public static void main(String[] args) {
        int code;
        try {
            code = execute(Arguments.exact(args));
        } catch (Throwable e) { // an Error, too, such as a missing class: Java would end with 1, "not found"
            code = failed(e);
        }
        if (code != Exit.OK && args.length > 0 && args[0].equals(Acquire.NAME)) {
            Terminal.OUT.print(Acquire.refusal(List.of(args), code));
        }
        // Everything that needs an end has had it; the JVM's own costs time.
        halt(code);
    }

    /** Ends the process at once. */
    static void halt(int code) {
        Optional<String> unwritten = Terminal.OUT.flush();
        unwritten.ifPresent(why -> Terminal.complain("the output could not be written: " + why));
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(code == Exit.OK && unwritten.isPresent() ? Exit.OUTPUT : code);
    }

    private static int execute(String[] args) {
        arguments = List.of(args);
        CommandLine root = new CommandLine(new Main());
        // Reading a command's options takes time: only those of the one that is meant, if that is plain.
        String first = args.length == 0 ? "" : args[0];
        Map<String, Supplier<Object>> commands = commands();
        Collection<String> wanted = commands.containsKey(first) && !first.equals("generate-completion")
                ? List.of(first)
                : commands.keySet();
        for (String name : wanted) {
            Supplier<Object> command = commands.get(name);
            if (command != null) {
                root.addSubcommand(name, command.get());
            }
        }
        root.setExpandAtFiles(false); // @FILE is ours
        root.registerConverter(Long.class, text -> number(text, Long::valueOf));
        root.registerConverter(Integer.class, text -> number(text, Integer::valueOf));
        root.registerConverter(int.class, text -> number(text, Integer::valueOf));
        root.setColorScheme(Help.defaultColorScheme(Terminal.OUT.hasColours() ? Help.Ansi.ON : Help.Ansi.OFF));
        root.setParameterExceptionHandler(Main::wrongUsage);
        root.setExecutionExceptionHandler((e, command, parsed) -> failed(e));
        root.setUsageHelpWidth(100);
        return root.execute(args);
    }

    /** Without the names that Java has for numbers. */
    private static <T> T number(String text, Function<String, T> parser) {
        try {
            return parser.apply(text);
        } catch (NumberFormatException e) {
            boolean isLarge = text.matches("[+-]?[0-9]+");
            throw new TypeConversionException("'" + text + "' is " + (isLarge ? "too large" : "not a whole number"));
        }
    }

    @Override
    public void run() {
        throw new Failure(Exit.USAGE, "which command? One of " + names() + "; see lockkeeper --help");
    }

    private static String names() {
        return String.join(
                ", ",
                commands().keySet().stream().filter(c -> !c.equals(Holder.NAME)).toList());
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        Terminal.complain(Text.safe(what(e, args)) + "; see " + command + " --help");
        return Exit.USAGE;
    }

    private static String what(ParameterException e, String[] args) {
        if (!(e instanceof UnmatchedArgumentException unmatched) || unmatched.isUnknownOption()) {
            return String.valueOf(e.getMessage());
        }
        boolean isCommand = e.getCommandLine().getParent() == null && args.length > 0;
        return isCommand
                ? "there is no command '" + args[0] + "'; the commands are " + names()
                : "unexpected argument '" + String.join(" ", unmatched.getUnmatched()) + "'";
    }

    private static int failed(Throwable e) {
        Failure failure = Failure.of(e);
        Terminal.complain(String.valueOf(failure.getMessage()));
        if (Terminal.isVerbose()) {
            Terminal.trace(e);
        }
        return failure.code();
    }
}
