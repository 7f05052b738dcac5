// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables of the page of options. Durations are written "10 s" for Java and "10s" for URLs; both mean the same here. */
final class OptionsPage {
    private static final Pattern NAME = Pattern.compile("`(\\w[\\w.]*)`");
    private static final Pattern DURATION = Pattern.compile("(\\d+) ?(ms|s|min|m|h)");
    private static final Pattern RANGE = Pattern.compile(
            "^`?(\\d[\\d,]*(?: ?(?:ms|s|min|m|h))?)`? to `?(\\d[\\d,]*(?: ?(?:ms|s|min|m|h))?)`?(?:[,;].*)?$");

    private final Page page;

    OptionsPage(Page page) {
        this.page = page;
    }

    /** The rows of those tables of a section whose first column is called so. */
    Map<String, Row> rows(String section, String firstColumn) {
        var rows = new LinkedHashMap<String, Row>();
        List<String> header = List.of();
        for (Page.Line line : page.section(section)) {
            List<String> cells = line.cells();
            if (cells.isEmpty()) {
                header = List.of();
            } else if (header.isEmpty()) {
                header = cells;
            } else if (header.get(0).equals(firstColumn) && !cells.get(0).startsWith("-")) {
                String builtIn = header.contains("default") ? cells.get(header.indexOf("default")) : "";
                String allowed = header.contains("allowed") ? cells.get(header.indexOf("allowed")) : "";
                Matcher name = NAME.matcher(cells.get(0));
                while (name.find()) {
                    Row earlier = rows.put(name.group(1), new Row(name.group(1), bare(builtIn), allowed));
                    if (earlier != null) {
                        throw new IllegalArgumentException(section + ": " + name.group(1) + " is there twice");
                    }
                }
            }
        }
        return rows;
    }

    private static String bare(String cell) {
        return cell.replace("`", "").strip();
    }

    static Optional<Duration> duration(String text) {
        Matcher duration = DURATION.matcher(text);
        if (!duration.matches()) {
            return Optional.empty();
        }
        long number = Long.parseLong(duration.group(1));
        return Optional.of(
                switch (duration.group(2)) {
                    case "ms" -> Duration.ofMillis(number);
                    case "s" -> Duration.ofSeconds(number);
                    case "h" -> Duration.ofHours(number);
                    default -> Duration.ofMinutes(number);
                });
    }

    /** A value as code and messages write it: a duration in its ISO form. */
    static String value(String text) {
        return duration(text).map(Duration::toString).orElse(text.replace(",", ""));
    }

    /**
     * An option.
     *
     * @param builtIn its default, without back-quotes
     */
    record Row(String name, String builtIn, String allowed) {
        /** The two ends of the range, if it has one: durations in ISO form, or numbers. */
        Optional<List<String>> range() {
            Matcher range = RANGE.matcher(allowed);
            if (!range.find()) {
                return Optional.empty();
            }
            String most = range.group(2);
            // "0 to 1 h": the unit is that of the duration
            String least = range.group(1).equals("0") && duration(most).isPresent() ? "0 s" : range.group(1);
            return Optional.of(List.of(value(least), value(most)));
        }
    }
}
