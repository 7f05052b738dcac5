// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks;

import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import java.util.ArrayList;
import java.util.List;

/** Counts threads and bytes: for a keeper, for each held lock, and for each lock that was held once and is idle. */
public final class Footprint {
    private static final int LOCKS = 100_000;

    private Footprint() {}

    /** Prints what it found. */
    public static void main(String[] args) throws InterruptedException {
        try (Lockkeeper warm = Lockkeeper.connect("memory:")) {
            churn(warm, LOCKS);
        }
        long empty = usedBytes();
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            System.out.printf("a new keeper:       %d threads, %,d bytes%n", threads(), usedBytes() - empty);
            churn(keeper, 1_000);
            long before = usedBytes();
            int threadsBefore = threads();
            churn(keeper, LOCKS);
            System.out.printf(
                    "each idle name:     %.4f threads, %.2f bytes%n",
                    (threads() - threadsBefore) / (double) LOCKS, (usedBytes() - before) / (double) LOCKS);
            before = usedBytes();
            List<Lease> held = new ArrayList<>(LOCKS);
            for (int i = 0; i < LOCKS; i++) {
                held.add(keeper.lock("held-" + i).acquire());
            }
            System.out.printf(
                    "each held lock:     %.4f threads, %.0f bytes (the memory store's own record included)%n",
                    (threads() - threadsBefore) / (double) LOCKS, (usedBytes() - before) / (double) LOCKS);
            System.out.printf("%,d locks held by:  %d threads%n", LOCKS, threads());
            held.forEach(Lease::close);
        }
    }

    private static void churn(Lockkeeper keeper, int names) throws InterruptedException {
        for (int i = 0; i < names; i++) {
            keeper.lock("idle-" + i).acquire().close();
        }
    }

    private static int threads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith("lockkeeper-"))
                .count();
    }

    private static long usedBytes() throws InterruptedException {
        Runtime runtime = Runtime.getRuntime();
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(50); // lets reference processing finish; nothing depends on it but the noise of the figure
            used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
        }
        return used;
    }
}
