// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The texts in the sources of the modules that users run: string literals of Java, and whole scripts.
 *
 * <p>A message is put together from pieces, so it is compared piece by piece: by runs of {@value #RUN} words. Where a
 * page quotes a message, the runs across the end of a literal are found nowhere, {@code RUN - 1} of them in a row; where the
 * wording has changed, at least as many as a run has words are.
 */
final class Messages {
    static final int RUN = 3;

    private static final Pattern SOURCES =
            Pattern.compile("(core|cli|stores/\\w+)/src/(main|launcher)/.*\\.(java|lua|sh|sql)|lockkeeper");

    private final Set<String> runs = new HashSet<>();
    private final Map<String, List<String>> thrown = new HashMap<>();

    private Messages() {}

    static Messages ofTheRepository() {
        List<Path> files = Repository.files(Repository.ROOT).stream()
                .filter(file -> SOURCES.matcher(Repository.name(file)).matches())
                .toList();
        var messages = new Messages();
        List<Path> java = new ArrayList<>();
        for (Path file : files) {
            if (file.toString().endsWith(".java")) {
                java.add(file);
            } else {
                Repository.read(file).lines().forEach(messages::add);
            }
        }
        messages.parse(java);
        return messages;
    }

    private void parse(List<Path> files) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            var task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree unit : task.parse()) {
                String file = Repository.name(Path.of(unit.getSourceFile().toUri()));
                new Literals(file).scan(unit, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of each file, the constant beginnings of messages with which it makes exceptions: the first literal of several words. */
    Map<String, List<String>> thrown() {
        return thrown;
    }

    private void add(String text) {
        runs.addAll(runs(text));
        runs.addAll(words(text));
    }

    /** How many runs of words in a row the sources do not have; or that of a word that they do not have at all. */
    int unknownInARow(String text) {
        if (!runs.containsAll(words(text))) {
            return RUN;
        }
        int longest = 0;
        int unknown = 0;
        for (String run : runs(text)) {
            unknown = runs.contains(run) ? 0 : unknown + 1;
            longest = Math.max(longest, unknown);
        }
        return longest;
    }

    static List<String> runs(String text) {
        List<String> words = words(text);
        var runs = new ArrayList<String>();
        for (int i = 0; i + RUN <= words.size(); i++) {
            runs.add(String.join(" ", words.subList(i, i + RUN)));
        }
        return runs;
    }

    /** Without punctuation. In formats of log lines an apostrophe is doubled. */
    static List<String> words(String text) {
        return Arrays.stream(text.replace("''", "'").split("[^\\p{L}\\p{N}_'-]+"))
                .map(word -> word.replaceAll("^['-]+|['-]+$", ""))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private final class Literals extends TreeScanner<@Nullable Void, @Nullable Void> {
        private final String file;

        Literals(String file) {
            this.file = file;
        }

        @Override
        public @Nullable Void visitLiteral(LiteralTree literal, @Nullable Void nothing) {
            if (literal.getValue() instanceof String text) {
                add(text);
            }
            return null;
        }

        /** Literals that follow each other are one text. */
        @Override
        public @Nullable Void visitBinary(BinaryTree binary, @Nullable Void nothing) {
            if (binary.getKind() == Tree.Kind.PLUS) {
                joined(binary).forEach(Messages.this::add);
            }
            return super.visitBinary(binary, null);
        }

        @Override
        public @Nullable Void visitNewClass(NewClassTree made, @Nullable Void nothing) {
            if (made.getIdentifier().toString().matches(".*Exception|Failure")) {
                made.getArguments().stream()
                        .flatMap(argument -> joined(argument).stream())
                        .filter(text -> !runs(text).isEmpty())
                        .findFirst()
                        .ifPresent(text -> thrown.computeIfAbsent(file, each -> new ArrayList<>())
                                .add(text));
            }
            return super.visitNewClass(made, null);
        }

        /** The constant parts of an expression, in their order. */
        private List<String> joined(ExpressionTree expression) {
            var parts = new ArrayList<String>();
            var operands = new ArrayList<ExpressionTree>();
            flatten(expression, operands);
            StringBuilder part = new StringBuilder();
            for (ExpressionTree operand : operands) {
                if (operand instanceof LiteralTree literal && literal.getValue() instanceof String text) {
                    part.append(text);
                } else {
                    parts.add(part.toString());
                    part.setLength(0);
                }
            }
            parts.add(part.toString());
            return parts;
        }

        private void flatten(ExpressionTree expression, List<ExpressionTree> operands) {
            if (expression instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
                flatten(binary.getLeftOperand(), operands);
                flatten(binary.getRightOperand(), operands);
            } else {
                operands.add(expression);
            }
        }
    }
}
