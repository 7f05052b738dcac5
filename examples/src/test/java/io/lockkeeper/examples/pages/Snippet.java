// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A block of Java of a page, made into something that compiles.
 *
 * <p>A block can be a whole class, methods of one, or statements. What it uses without declaring it, such as {@code keeper} and
 * {@code work()}, is in the context of its page: fields and methods, so that a block may declare its own all the same.
 *
 * @param source the compilation unit, in a package that no other block has
 */
record Snippet(Page.Block block, String type, String source) {
    private static final Pattern TYPE = Pattern.compile(
            "^(?:@\\w+(?:\\(.*\\))?\\s+)*(?:(?:public|final|abstract|sealed)\\s+)*(?:class|interface|record|enum)\\s+(\\w+)",
            Pattern.MULTILINE);
    private static final Pattern MEMBER = Pattern.compile("^(?:@\\w|public |private |protected )");

    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);");

    private static final String IMPORTS = """
            import io.lockkeeper.*;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.concurrent.locks.Lock;
            """;

    /** The names of the classes that a block declares. */
    static List<String> typesIn(String text) {
        return TYPE.matcher(text).results().map(match -> match.group(1)).toList();
    }

    static Snippet of(Page.Block block, String context, String ownPackage) {
        List<String> types = typesIn(block.text());
        var complete = PACKAGE.matcher(block.text());
        if (complete.find()) {
            return new Snippet(block, complete.group(1) + "." + types.get(0), block.text());
        }
        var code = split(block.text());
        var around = split(context);
        String head = "package " + ownPackage + ";\n" + IMPORTS + around.imports() + code.imports();
        if (!types.isEmpty()) {
            return new Snippet(block, ownPackage + "." + types.get(0), head + code.rest());
        }
        String body = MEMBER.matcher(code.rest()).find()
                ? code.rest()
                : "void run() throws Exception {\n" + code.rest() + "\n}\n";
        return new Snippet(
                block, ownPackage + ".Snippet", head + "class Snippet {\n" + around.rest() + "\n" + body + "\n}\n");
    }

    private static Parts split(String text) {
        var imports = new ArrayList<String>();
        var rest = new ArrayList<String>();
        text.lines().forEach(line -> (line.startsWith("import ") ? imports : rest).add(line));
        return new Parts(joined(imports), joined(rest).strip());
    }

    private static String joined(List<String> lines) {
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private record Parts(String imports, String rest) {}
}
