// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Does many things on a few threads, each on the thread that its number belongs to. */
public final class Parallel {
    static final int THREADS = 16;

    private Parallel() {}

    /** What is done with a number. */
    public interface Step {
        /** Does it. */
        void with(int number) throws Exception;
    }

    /** Does it for the numbers from 0 to before {@code count}. */
    public static void each(int count, Step step) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int first = t;
                all.add(executor.submit(() -> {
                    for (int i = first; i < count; i += THREADS) {
                        step.with(i);
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            executor.shutdownNow();
        }
    }
}
