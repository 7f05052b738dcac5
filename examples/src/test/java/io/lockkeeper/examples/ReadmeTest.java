// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** What the README shows compiles, and its commands exist. */
class ReadmeTest {
    private static final Path README = Path.of("..", "README.md");

    private static final String IMPORTS = """
            import io.lockkeeper.*;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.concurrent.locks.Lock;
            """;

    /** What a snippet may use without declaring it: fields, so that a snippet may declare its own all the same. */
    private static final String CONTEXT = """
                static Lockkeeper keeper;
                static DistributedLock lock;
                static Lease lease;
                static void work() {}
            """;

    private static final Pattern TYPE = Pattern.compile(
            "^(?:@\\w+\\s+)*(?:(?:public|final|abstract|sealed)\\s+)*(?:class|interface|record|enum)\\s+(\\w+)",
            Pattern.MULTILINE);

    private static final Pattern COMMAND = Pattern.compile("(\\./lockkeeper|\\./check|\\./bench|mvn)( .*)?");

    @TempDir
    Path classes;

    @TestFactory
    Stream<DynamicTest> javaCompiles() throws IOException {
        return blocks("java").map(block -> DynamicTest.dynamicTest(block.title(), () -> compile(block)));
    }

    @TestFactory
    Stream<DynamicTest> shellCommandsExist() throws IOException {
        return blocks("sh")
                .map(block -> DynamicTest.dynamicTest(block.title(), () -> {
                    for (String command : block.text().replace("\\\n", " ").split("\n", -1)) {
                        String bare = command.replaceFirst("(^|\\s)#.*", "").strip();
                        if (!bare.isEmpty()) {
                            assertThat(bare).matches(COMMAND);
                        }
                    }
                }));
    }

    private void compile(Block block) {
        var type = TYPE.matcher(block.text());
        String name = type.find() ? type.group(1) : "Snippet";
        var messages = new StringWriter();
        var options = List.of(
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "--release",
                "17");
        var sources = List.of(new Source(name, name.equals("Snippet") ? wrapped(block) : IMPORTS + block.text()));
        if (!ToolProvider.getSystemJavaCompiler()
                .getTask(messages, null, null, options, null, sources)
                .call()) {
            fail("%s:%n%s%n%s", block.title(), messages, sources.get(0).text);
        }
    }

    private static String wrapped(Block block) {
        var lines = block.text().lines().collect(Collectors.partitioningBy(line -> line.startsWith("import ")));
        return IMPORTS + String.join("\n", lines.get(true)) + "\nclass Snippet {\n" + CONTEXT
                + "    static void run() throws Exception {\n" + String.join("\n", lines.get(false)) + "\n    }\n}\n";
    }

    private static Stream<Block> blocks(String language) throws IOException {
        var blocks = new ArrayList<Block>();
        StringBuilder open = null;
        String openLanguage = "";
        int start = 0;
        int number = 0;
        for (String line : Files.readAllLines(README)) {
            number++;
            if (!line.strip().startsWith("```")) {
                if (open != null) {
                    open.append(line).append('\n');
                }
            } else if (open == null) {
                open = new StringBuilder();
                openLanguage = line.strip().substring(3).strip();
                start = number;
            } else {
                if (openLanguage.equals(language)) {
                    blocks.add(new Block(start, open.toString()));
                }
                open = null;
            }
        }
        assertThat(open).as("the block of line %d ends", start).isNull();
        return blocks.stream();
    }

    private record Block(int line, String text) {
        String title() {
            return "README.md:" + line;
        }
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
