// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Each {@code lockkeeper} command that a page shows exists, with the options that it is shown with; and each has its page. */
class DocumentedCommandsTest {
    private static final Path ROOT = Path.of("..");

    private static final Map<String, Set<String>> COMMANDS = commands();

    /** The command, and what follows it up to the command that it runs, or to the end of a shell's command. */
    private static final Pattern CALL =
            Pattern.compile("(?:^|[\\s(/])lockkeeper +([a-z][a-z-]*)((?:(?! -- |[|;)&<>`]).)*)");

    private static final Pattern OPTION = Pattern.compile("(?<=\\s)--?[a-z][a-z-]*");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");

    /** Options of other programs that the pages mention. */
    private static final Set<String> OF_OTHERS =
            Set.of("--allow-skips", "--full", "--long", "--read-only", "--signal", "--init", "--help");

    private static Map<String, Set<String>> commands() {
        var commands = new TreeMap<String, Set<String>>();
        try {
            Method declared = Main.class.getDeclaredMethod("commands"); // what main itself makes them from
            declared.setAccessible(true);
            ((Map<?, ?>) declared.invoke(null)).forEach((name, made) -> {
                Object command = ((Supplier<?>) made).get();
                commands.put(
                        (String) name,
                        new CommandLine(command).getCommandSpec().optionsMap().keySet());
            });
            if (Files.readString(ROOT.resolve("lockkeeper")).contains("$command == package")) {
                commands.put("package", Set.of()); // the launcher's own
            }
        } catch (ReflectiveOperationException | IOException e) {
            throw new LinkageError(e.getMessage(), e);
        }
        return commands;
    }

    @Test
    void eachCommandThatAPageShowsExists() throws IOException {
        var complaints = new ArrayList<String>();
        int calls = 0;
        for (Path page : pages()) {
            for (String call : calls(Files.readString(page))) {
                calls++;
                complaint(call).forEach(complaint -> complaints.add(page + ": lockkeeper " + call + ": " + complaint));
            }
        }
        assertThat(complaints).isEmpty();
        assertThat(calls).isGreaterThan(50);
    }

    @Test
    void eachOptionThatAPageNamesExists() throws IOException {
        var all = new TreeSet<>(OF_OTHERS);
        COMMANDS.values().forEach(all::addAll);
        var complaints = new ArrayList<String>();
        for (Path page : pages()) {
            if (page.endsWith("performance.md")) {
                continue; // has the options of ./bench
            }
            Matcher span = SPAN.matcher(withoutBlocks(Files.readString(page)));
            while (span.find()) {
                Matcher option = Pattern.compile("^--[a-z-]+").matcher(span.group(1));
                if (option.find() && !all.contains(option.group())) {
                    complaints.add(page + ": " + span.group());
                }
            }
        }
        assertThat(complaints).isEmpty();
    }

    @Test
    void eachCommandIsOnThePageOfTheCommandLine() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/cli.md"));
        assertThat(COMMANDS.keySet())
                .filteredOn(name -> !name.equals(Holder.NAME)) // ours, not the user's
                .allSatisfy(name -> assertThat(page).containsPattern("\\b" + name + "\\b"));
    }

    @Test
    void whatDoesNotExistIsFound() {
        String page = """
                ```sh
                lockkeeper run nightly --wait 0 -- ./report.sh --prolong
                eval "$(lockkeeper acquire nightly --leash 3)" || exit
                args: ["lockkeeper", "rush", "nightly"]
                ```
                """;
        assertThat(calls(page).stream().flatMap(call -> complaint(call).stream()))
                .containsExactly("there is no option --leash", "there is no command rush");
    }

    private static List<String> complaint(String call) {
        String name = call.replaceFirst("[^a-z-].*", "");
        Set<String> options = COMMANDS.get(name);
        if (options == null) {
            return List.of("there is no command " + name);
        }
        return OPTION.matcher(call)
                .results()
                .map(option -> option.group())
                .filter(option -> !options.contains(option))
                .map(option -> "there is no option " + option)
                .toList();
    }

    /** What stands after "lockkeeper" in blocks of code, without comments, and in back-quotes. */
    private static List<String> calls(String page) {
        var calls = new ArrayList<String>();
        boolean inBlock = false;
        for (String line : page.split("\n", -1)) {
            if (line.strip().startsWith("```")) {
                inBlock = !inBlock;
            } else if (inBlock) {
                addCalls(calls, line.replaceFirst("(^|\\s)# .*", "").replaceAll("[\"',\\[\\]]+", " "));
            } else {
                SPAN.matcher(line)
                        .results()
                        .map(span -> span.group(1))
                        .filter(DocumentedCommandsTest::isACall)
                        .forEach(span -> addCalls(calls, span));
            }
        }
        return calls;
    }

    private static boolean isACall(String span) {
        return span.startsWith("lockkeeper ") || span.startsWith("./lockkeeper ") || span.contains("(lockkeeper ");
    }

    private static void addCalls(List<String> calls, String text) {
        Matcher call = CALL.matcher(text);
        while (call.find()) {
            calls.add(call.group(1) + call.group(2));
        }
    }

    private static String withoutBlocks(String page) {
        return page.replaceAll("(?ms)^ *```.*?^ *```", "");
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs.filter(file -> file.toString()
                            .endsWith(".md")))
                    .toList();
        }
    }
}
