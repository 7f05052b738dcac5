// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page in Markdown: its blocks of code, and in the text between them its links, headings and words in back-quotes. */
final class Page {
    private static final Pattern FENCE = Pattern.compile("^\\s*```\\s*(.*?)\\s*$");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*)$");

    private final String name;
    private final List<Line> prose = new ArrayList<>();
    private final List<Block> blocks = new ArrayList<>();

    Page(String name, String text) {
        this.name = name;
        split(text);
    }

    private void split(String text) {
        StringBuilder block = null;
        String language = "";
        int start = 0;
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            Matcher fence = FENCE.matcher(line);
            if (!fence.matches()) {
                if (block == null) {
                    prose.add(new Line(number, line));
                } else {
                    block.append(line).append('\n');
                }
            } else if (block == null) {
                block = new StringBuilder();
                language = fence.group(1);
                start = number;
            } else {
                blocks.add(new Block(name, start, language, block.toString().stripIndent()));
                block = null;
            }
        }
        if (block != null) {
            throw new IllegalArgumentException(name + ":" + start + ": the block does not end");
        }
    }

    /** The path from the root of the repository. */
    String name() {
        return name;
    }

    /** The lines that are not in a block of code. */
    List<Line> prose() {
        return prose;
    }

    List<Block> blocks(String language) {
        return blocks.stream()
                .filter(block -> block.language().equals(language))
                .toList();
    }

    List<Block> blocks() {
        return blocks;
    }

    /** What stands in back-quotes, within one line. */
    List<Span> spans() {
        return prose.stream().flatMap(line -> spans(line).stream()).toList();
    }

    List<Span> spans(Line line) {
        var spans = new ArrayList<Span>();
        Matcher span = SPAN.matcher(line.text());
        while (span.find()) {
            String after = line.text().substring(span.end());
            spans.add(new Span(name + ":" + line.number(), span.group(1), after));
        }
        return spans;
    }

    List<Link> links() {
        var links = new ArrayList<Link>();
        for (Line line : prose) {
            Matcher link = LINK.matcher(line.text().replaceAll("`[^`]*`", "`"));
            while (link.find()) {
                links.add(new Link(name + ":" + line.number(), link.group(1)));
            }
        }
        return links;
    }

    /**
     * The anchors of the headings, as GitHub makes them: in lower case, without anything but letters, digits, hyphens and
     * underscores, with a hyphen for each blank; and with a number if an earlier heading has the same.
     */
    Set<String> anchors() {
        var anchors = new LinkedHashSet<String>();
        Map<String, Integer> seen = new HashMap<>();
        for (Line line : prose) {
            Matcher heading = HEADING.matcher(line.text());
            if (heading.matches()) {
                String anchor = heading.group(1)
                        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-');
                int earlier = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(earlier == 0 ? anchor : anchor + "-" + earlier);
            }
        }
        return anchors;
    }

    /** The lines from a heading, given without its number signs, to the next one of its rank or higher. */
    List<Line> section(String heading) {
        var section = new ArrayList<Line>();
        int rank = 0;
        for (Line line : prose) {
            int signs =
                    line.text().length() - line.text().replaceFirst("^#+", "").length();
            if (rank == 0 && signs > 0 && line.text().substring(signs).strip().equals(heading)) {
                rank = signs;
            } else if (rank > 0 && signs > 0 && signs <= rank) {
                return section;
            } else if (rank > 0) {
                section.add(line);
            }
        }
        if (rank == 0) {
            throw new IllegalArgumentException(name + " has no section '" + heading + "'");
        }
        return section;
    }

    record Line(int number, String text) {
        /** The cells of a row of a table; empty if this is none. */
        List<String> cells() {
            String row = text.strip();
            if (row.length() < 2 || !row.startsWith("|") || !row.endsWith("|")) {
                return List.of();
            }
            var cells = new ArrayList<String>();
            for (String cell : row.substring(1, row.length() - 1).split("(?<!\\\\)\\|", -1)) {
                cells.add(cell.strip().replace("\\|", "|"));
            }
            return cells;
        }
    }

    record Block(String page, int line, String language, String text) {
        String title() {
            return page + ":" + line;
        }
    }

    /** Words in back-quotes: where they stand, and what follows on the line. */
    record Span(String place, String text, String after) {}

    record Link(String place, String target) {}
}
