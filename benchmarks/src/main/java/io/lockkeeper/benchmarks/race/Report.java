// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tables for people, JSON for programs. */
final class Report {
    private final List<Score> scores;

    Report(List<Score> scores) {
        this.scores = scores;
    }

    /** Two tables in Markdown: what was raced, and what idle holds cost. */
    String tables(String store) {
        StringBuilder out = new StringBuilder();
        out.append("\n## ").append(store).append("\n\n");
        out.append("| workload | contender | per second | × floor (least–most) | p50 µs | p99 µs | requests each"
                + " | CPU µs each | fewest/most | overlaps | errors |\n");
        out.append("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
        StringBuilder idle = new StringBuilder();
        String last = "";
        for (Score score : of(store)) {
            if (score.idle != null) {
                idle.append(idleRow(score.contender, score.idle));
                continue;
            }
            String title = score.workload.title();
            out.append(row(title.equals(last) ? "" : title, score));
            last = title;
        }
        if (!idle.isEmpty()) {
            out.append(
                            "\n| idle holds | contender | still held | taken in s | requests a second | client CPU ms a second |\n")
                    .append("|---|---|---:|---:|---:|---:|\n")
                    .append(idle);
        }
        return out.toString();
    }

    private List<Score> of(String store) {
        return scores.stream().filter(s -> s.store.equals(store)).toList();
    }

    private Score floorOf(Score score) {
        return scores.stream()
                .filter(s -> s.store.equals(score.store) && s.workload.equals(score.workload))
                .findFirst()
                .orElseThrow();
    }

    private String row(String title, Score score) {
        Score.Spread ratio = score.ratioTo(floorOf(score));
        Histogram waits = score.waits();
        if (score.failure != null) {
            return "| " + title + " | " + score.contender + " | failed |||||||||\n";
        }
        return "| "
                + String.join(
                        " | ",
                        title,
                        score.contender,
                        score.isHandOff()
                                ? "(" + waits.total() + " times)"
                                : figure(score.perSecond().median()),
                        figure(ratio.median()) + " (" + figure(ratio.least()) + "–" + figure(ratio.most()) + ")"
                                + (score.isHandOff() ? " of its time" : ""),
                        figure(waits.micros(0.5)),
                        figure(waits.micros(0.99)),
                        figure(score.requestsEach()),
                        figure(score.cpuMicrosEach()),
                        figure(score.fairness().median()),
                        score.overlaps() == 0 ? "0" : "**" + score.overlaps() + "**",
                        Long.toString(score.errors()))
                + " |\n";
    }

    private static String idleRow(String contender, Score.IdleScore idle) {
        return "| " + idle.names() + " | " + contender + " | " + idle.alive() + " | " + figure(idle.fillSeconds())
                + " | " + figure(idle.requestsPerSecond()) + " | " + figure(idle.cpuMillisPerSecond()) + " |\n";
    }

    /** Three digits that count. */
    private static String figure(double value) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        double size = Math.abs(value);
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }

    /** All figures. */
    String json(Options options, Map<String, Map<Workload, Long>> controls) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("suite", options.suite);
        all.put("rounds", options.rounds);
        all.put("sliceMillis", options.slice.toMillis());
        all.put("processors", Runtime.getRuntime().availableProcessors());
        all.put("java", System.getProperty("java.version"));
        List<Object> caught = new ArrayList<>();
        controls.forEach((store, overlaps) -> overlaps.forEach(
                (workload, count) -> caught.add(map("store", store, "workload", workload.name(), "overlaps", count))));
        all.put("controls", caught);
        all.put("scores", scores.stream().map(this::entry).toList());
        return Json.of(all);
    }

    private Object entry(Score score) {
        Map<String, @Nullable Object> entry =
                map("store", score.store, "workload", score.workload.name(), "contender", score.contender);
        if (score.idle != null) {
            entry.putAll(map(
                    "names", score.idle.names(),
                    "alive", score.idle.alive(),
                    "fillSeconds", score.idle.fillSeconds(),
                    "requestsPerSecond", score.idle.requestsPerSecond(),
                    "cpuMillisPerSecond", score.idle.cpuMillisPerSecond()));
            return entry;
        }
        Score.Spread ratio = score.ratioTo(floorOf(score));
        entry.putAll(map(
                "acquisitions", score.acquisitions(),
                "perSecond", score.perSecond().median(),
                "ratio", ratio.median(),
                "ratioLeast", ratio.least(),
                "ratioMost", ratio.most(),
                "p50Micros", score.waits().micros(0.5),
                "p99Micros", score.waits().micros(0.99),
                "requestsEach", score.requestsEach(),
                "cpuMicrosEach", score.cpuMicrosEach(),
                "fairness", score.fairness().median(),
                "overlaps", score.overlaps(),
                "errors", score.errors()));
        entry.put("firstError", score.firstError());
        entry.put("failure", score.failure);
        return entry;
    }

    private static Map<String, @Nullable Object> map(Object... pairs) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put((String) pairs[i], pairs[i + 1]);
        }
        return map;
    }
}
