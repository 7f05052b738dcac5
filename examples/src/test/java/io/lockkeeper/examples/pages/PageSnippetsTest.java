// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the pages show compiles: each block marked {@code java}, of all pages, also the code of other libraries that the pages
 * on migrating show side by side with ours, which is why these libraries are on the class path of these tests. One run of the
 * compiler has all blocks, each in its own package; what it says is sorted by block.
 */
class PageSnippetsTest {
    private static final Path CONTEXTS = Path.of("src", "test", "snippets");

    /** The languages in which blocks are marked, so that none escapes by a misspelt mark. */
    private static final Pattern LANGUAGE =
            Pattern.compile("|java|sh|sql|xml|kotlin|ini|yaml|properties|dockerfile|lua");

    @TempDir
    Path classes;

    @TestFactory
    Stream<DynamicTest> eachSnippetCompiles() {
        List<Page.Block> blocks = Repository.pages().stream()
                .flatMap(page -> page.blocks("java").stream())
                .toList();
        assertThat(blocks).hasSizeGreaterThan(80);
        Map<Page.Block, String> complaints = compile(blocks);
        return blocks.stream()
                .map(block ->
                        DynamicTest.dynamicTest(block.title(), () -> assertThat(complaints.getOrDefault(block, ""))
                                .isEmpty()));
    }

    @Test
    void eachBlockIsMarkedWithItsLanguage() {
        assertThat(Repository.pages().stream()
                        .flatMap(page -> page.blocks().stream())
                        .filter(block -> !LANGUAGE.matcher(block.language()).matches())
                        .map(block -> block.title() + " " + block.language()))
                .isEmpty();
    }

    @Test
    void aSnippetThatDoesNotCompileIsFound() {
        List<Page.Block> blocks = new Page("docs/options.md", """
                ```java
                keeper.lock("a").lock();
                ```
                ```java
                keeper.lock("a").unlockAll();
                ```
                ```java
                @Override
                public int toString() { return 1; }
                ```
                """).blocks("java");
        assertThat(compile(blocks).keySet()).containsExactlyInAnyOrder(blocks.get(1), blocks.get(2));
    }

    /** What the compiler says about each block that it does not accept. */
    private Map<Page.Block, String> compile(List<Page.Block> blocks) {
        var units = new LinkedHashMap<String, Snippet>();
        for (int i = 0; i < blocks.size(); i++) {
            addWithWhatItUses(units, blocks, blocks.get(i), "p" + i);
        }
        var said = new DiagnosticCollector<JavaFileObject>();
        var options = List.of(
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "--release",
                "17",
                "-Xmaxerrs",
                "1000");
        ToolProvider.getSystemJavaCompiler()
                .getTask(
                        null,
                        null,
                        said,
                        options,
                        null,
                        units.values().stream().map(Source::new).toList())
                .call();
        var complaints = new LinkedHashMap<Page.Block, String>();
        for (Diagnostic<? extends JavaFileObject> each : said.getDiagnostics()) {
            if (each.getKind() == Diagnostic.Kind.ERROR && each.getSource() instanceof Source source) {
                complaints.merge(
                        source.snippet.block(),
                        each.getMessage(Locale.ROOT) + ": " + source.line(each.getLineNumber()),
                        (first, second) -> first + "\n" + second);
            } else if (each.getKind() == Diagnostic.Kind.ERROR) {
                throw new AssertionError(each.toString());
            }
        }
        return complaints;
    }

    /** A block may use a class that another block of our pages declares. */
    private static void addWithWhatItUses(
            Map<String, Snippet> units, List<Page.Block> all, Page.Block block, String ownPackage) {
        Snippet snippet = Snippet.of(block, context(block), ownPackage);
        units.put(snippet.type(), snippet);
        List<String> own = Snippet.typesIn(block.text());
        for (Page.Block other : all) {
            List<String> declared = Snippet.typesIn(other.text());
            if (declared.size() == 1
                    && !own.contains(declared.get(0))
                    && Pattern.compile("new " + declared.get(0) + "\\b")
                            .matcher(block.text())
                            .find()) {
                Snippet used = Snippet.of(other, context(other), ownPackage);
                units.putIfAbsent(used.type(), used);
            }
        }
    }

    /** What all snippets may use, and those of this page. */
    private static String context(Page.Block block) {
        var contexts = new ArrayList<>(List.of(Repository.read(CONTEXTS.resolve("all.txt"))));
        Path own = CONTEXTS.resolve(
                block.page().replaceFirst("^docs/", "").replace('/', '-').replace(".md", ".txt"));
        if (Files.exists(own)) {
            contexts.add(Repository.read(own));
        }
        return String.join("\n", contexts);
    }

    private static final class Source extends SimpleJavaFileObject {
        private final Snippet snippet;

        Source(Snippet snippet) {
            super(URI.create("string:///" + snippet.type().replace('.', '/') + ".java"), Kind.SOURCE);
            this.snippet = snippet;
        }

        String line(long number) {
            return snippet.source().lines().skip(number - 1).findFirst().orElse("");
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return snippet.source();
        }
    }
}
