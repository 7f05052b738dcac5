// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What one contender did in all rounds of one workload. */
final class Score {
    final String store;
    final Workload workload;
    final String contender;
    private final List<Slice> rounds = new ArrayList<>();
    private long requests;
    private boolean counted = true;

    @Nullable
    IdleScore idle;
    /** Why there are no more rounds. */
    @Nullable
    String failure;

    /** What many idle holds cost. */
    record IdleScore(int names, int alive, double fillSeconds, double requestsPerSecond, double cpuMillisPerSecond) {}

    /** The middle of several figures, and how far they are apart. */
    record Spread(double least, double median, double most) {
        static Spread of(List<Double> figures) {
            double[] sorted = figures.stream().mapToDouble(f -> f).sorted().toArray();
            if (sorted.length == 0) {
                return new Spread(Double.NaN, Double.NaN, Double.NaN);
            }
            double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
            return new Spread(sorted[0], median, sorted[sorted.length - 1]);
        }
    }

    Score(String store, Workload workload, String contender) {
        this.store = store;
        this.workload = workload;
        this.contender = contender;
    }

    void add(Slice slice, OptionalLong requestsMade) {
        rounds.add(slice);
        counted &= requestsMade.isPresent();
        requests += requestsMade.orElse(0);
    }

    Spread perSecond() {
        return spread(Slice::perSecond);
    }

    /** The ratio to the floor, round by round: of speeds, in a hand-off of times. */
    Spread ratioTo(Score floor) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(rounds.size(), floor.rounds.size()); i++) {
            double ratio = figure(rounds.get(i)) / figure(floor.rounds.get(i));
            if (Double.isFinite(ratio)) { // otherwise nothing came out of the slice
                ratios.add(ratio);
            }
        }
        return Spread.of(ratios);
    }

    private double figure(Slice slice) {
        return isHandOff() ? slice.waits().micros(0.5) : slice.perSecond();
    }

    boolean isHandOff() {
        return workload.shape() == Workload.Shape.HAND_OFF;
    }

    Histogram waits() {
        Histogram all = new Histogram();
        rounds.forEach(s -> all.add(s.waits()));
        return all;
    }

    /** NaN where the server does not count. */
    double requestsEach() {
        return counted ? (double) requests / acquisitions() : Double.NaN;
    }

    double cpuMicrosEach() {
        return rounds.stream().mapToLong(s -> s.cost().cpuNanos()).sum() / 1_000.0 / acquisitions();
    }

    /** Acquisitions of the unluckiest thread for each of the luckiest one. */
    Spread fairness() {
        return spread(s -> (double) s.fewest() / s.most());
    }

    long acquisitions() {
        return rounds.stream().mapToLong(Slice::acquisitions).sum();
    }

    long overlaps() {
        return rounds.stream().mapToLong(Slice::overlaps).sum();
    }

    long errors() {
        return rounds.stream().mapToLong(Slice::errors).sum();
    }

    @Nullable
    String firstError() {
        return rounds.stream()
                .map(Slice::firstError)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private Spread spread(ToDoubleFunction<Slice> figure) {
        return Spread.of(rounds.stream().map(figure::applyAsDouble).toList());
    }
}
