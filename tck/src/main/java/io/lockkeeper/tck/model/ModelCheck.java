// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.Pauses;
import io.lockkeeper.tck.support.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Plays random scripts to a store and to the model, and finds the shortest one it can on which they differ.
 *
 * <p>Scripts with pauses are played side by side, so that they share the pauses.
 */
public final class ModelCheck implements AutoCloseable {
    private static final int FEWEST = 20;

    /**
     * How long to wait.
     *
     * @param signal for a signal that must come
     * @param shrinking for a shorter script
     */
    public record Effort(Duration signal, Duration shrinking) {
        /** For stores that are expected to be right. */
        public static final Effort FULL = new Effort(Contract.LONG, Duration.ofSeconds(30));
    }

    private final Clients clients;
    private final long seed;
    private final Effort effort;
    private final Pace pace;
    private int conclusive;

    /** Nothing ends by itself in these scripts. */
    public static ModelCheck still(Supplier<LockStore> connect, long seed, Effort effort) {
        return new ModelCheck(new Clients(connect), Pace.still(), seed, effort);
    }

    /** In these, time passes. */
    public static ModelCheck pausing(Supplier<LockStore> connect, long seed, Effort effort) {
        Clients clients = new Clients(connect);
        LockStore store = clients.store(0);
        Pace pace = Pace.pausing(store.guarantees().shortestLease(), Promise.hasSessions(store));
        return new ModelCheck(clients, pace, seed, effort);
    }

    private ModelCheck(Clients clients, Pace pace, long seed, Effort effort) {
        this.clients = clients;
        this.pace = pace;
        this.seed = seed;
        this.effort = effort;
    }

    /** How many scripts were played to their end in time. */
    public int conclusive() {
        return conclusive;
    }

    @Override
    public void close() {
        clients.close();
    }

    /** Plays this many scripts of this length; what differs, if anything does. */
    public Optional<String> compare(int scripts, int length) throws InterruptedException {
        return compare(scripts, length, Duration.ofDays(1));
    }

    /**
     * The same, for at most this long: a store that takes its time gets fewer scripts, but never less than a few.
     */
    public Optional<String> compare(int scripts, int length, Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        List<List<ScriptStep>> batch = new ArrayList<>();
        for (int i = 0; i < scripts; i++) {
            batch.add(ScriptWriter.write(
                    random(seed + i), length, clients.store(0).guarantees(), pace));
        }
        for (int first = 0; first < scripts && (first < FEWEST || System.nanoTime() < end); ) {
            List<ScriptRun> runs = new ArrayList<>();
            long began = System.nanoTime();
            Optional<Failure> failure = Optional.empty();
            do {
                ScriptRun run = start(batch.get(first + runs.size()), effort.signal);
                runs.add(run);
                failure = failureOf(run);
            } while (failure.isEmpty()
                    && pace.pauses() > 0
                    && first + runs.size() < scripts
                    && System.nanoTime() - began < pace.batch().toNanos());
            while (failure.isEmpty() && runs.stream().anyMatch(run -> !run.isOver())) {
                pass();
                for (ScriptRun run : runs) {
                    if (failure.isEmpty() && !run.isOver()) {
                        failure = failureOf(run);
                    }
                }
            }
            if (failure.isPresent()) {
                int number = first + runs.indexOf(failure.get().run);
                return Optional.of(report(seed + number, batch.get(number), failure.get().what));
            }
            first += runs.size();
        }
        return Optional.empty();
    }

    /** The first numbers of a {@link Random} hardly differ from those of the next seed; so seeds are spread first. */
    private static Random random(long seed) {
        return new Random(seed * 0x9E3779B97F4A7C15L);
    }

    private record Failure(ScriptRun run, String what) {}

    private ScriptRun start(List<ScriptStep> script, Duration wait) {
        return new ScriptRun(clients, script, pace, "model-" + UUID.randomUUID() + "-", wait);
    }

    /** Plays on; a run that was not in time proves nothing, and is given up. */
    private Optional<Failure> failureOf(ScriptRun run) {
        Optional<String> what = run.play();
        if (!run.wasInTime()) {
            run.giveUp();
            return Optional.empty();
        }
        if (run.isOver() && what.isEmpty()) {
            conclusive++;
        }
        return what.map(w -> new Failure(run, w));
    }

    /** Waits until a pause is over, by our clock and by the store's. */
    private void pass() throws InterruptedException {
        LockStore store = clients.store(0);
        Object lane = store.lane("a");
        StoreTime from = store.time(lane);
        Pauses.whileFaultLasts(pace.pause());
        while (store.time(lane).micros() - from.micros() < pace.pause().toNanos() / 1_000) {
            Pauses.betweenLooks(5);
        }
    }

    // ---- Reporting ----

    private String report(long scriptSeed, List<ScriptStep> script, String what) throws InterruptedException {
        List<ScriptStep> least = shrink(script);
        String reason = replay(least).orElse(what + " (not seen again in the shorter script)");
        return "the store differs from the model (-Dlockkeeper.seed=" + scriptSeed + "):\n"
                + reason + "\nin this script of " + least.size() + " steps, of " + script.size() + " at first:\n"
                + least.stream().map(step -> "  " + step).collect(Collectors.joining("\n"));
    }

    private Optional<String> replay(List<ScriptStep> script) throws InterruptedException {
        Duration shortWait = Duration.ofMillis(Math.min(1_000, effort.signal.toMillis()));
        ScriptRun run = start(script, shortWait);
        for (; ; ) {
            Optional<Failure> failure = failureOf(run);
            if (failure.isPresent() || run.isOver()) {
                return failure.map(Failure::what);
            }
            pass();
        }
    }

    /** Leaves out what can be left out, half of it first, then ever smaller parts. */
    private List<ScriptStep> shrink(List<ScriptStep> script) throws InterruptedException {
        long deadline = System.nanoTime() + effort.shrinking.toNanos();
        List<ScriptStep> least = script;
        for (int part = script.size() / 2; part > 0; ) {
            List<ScriptStep> before = least;
            least = without(least, part, deadline);
            part = part == 1 && least.size() < before.size() ? 1 : part / 2;
        }
        return least;
    }

    private List<ScriptStep> without(List<ScriptStep> script, int part, long deadline) throws InterruptedException {
        List<ScriptStep> least = script;
        for (int end = least.size(); end >= part && System.nanoTime() < deadline; end -= part) {
            List<ScriptStep> shorter = new ArrayList<>(least);
            shorter.subList(end - part, end).clear();
            if (replay(shorter).isPresent()) {
                least = shorter;
            }
        }
        return least;
    }
}
