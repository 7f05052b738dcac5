// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Keeps names alive for libraries that leave that to the application: a few threads, each of which takes its share of the names
 * and renews them one by one, with a pause of a third of the lease.
 */
public final class KeptOneByOne implements Contender.Kept {
    private final Duration lease;
    private final Keeping keeping;
    private final CountDownLatch full;
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Share> shares = new ArrayList<>();

    /** What the library can do with a name; always called on the same thread for one name. */
    public interface Keeping {
        /** Takes it. */
        void take(String name) throws Exception;

        /** Whether it is still ours. */
        boolean renew(String name) throws Exception;

        /** Gives it back. */
        void release(String name) throws Exception;
    }

    private KeptOneByOne(int threads, Duration lease, Keeping keeping) {
        this.full = new CountDownLatch(threads);
        this.lease = lease;
        this.keeping = keeping;
    }

    /** Takes them all. */
    public static KeptOneByOne take(int names, int threads, Duration lease, Keeping keeping)
            throws InterruptedException {
        KeptOneByOne kept = new KeptOneByOne(threads, lease, keeping);
        for (int t = 0; t < threads; t++) {
            Share share = kept.new Share(t, threads, names);
            kept.shares.add(share);
            share.start();
        }
        kept.full.await();
        return kept;
    }

    @Override
    public int alive() {
        return shares.stream().mapToInt(s -> s.alive()).sum();
    }

    @Override
    public void release() throws InterruptedException {
        end.countDown();
        for (Share share : shares) {
            share.join();
        }
    }

    private final class Share extends Thread {
        private final List<String> names = new ArrayList<>();
        private final List<String> held = new ArrayList<>();
        private long renewed = System.nanoTime();

        Share(int number, int threads, int count) {
            super("kept-" + number);
            setDaemon(true);
            for (int i = number; i < count; i += threads) {
                names.add("idle-" + i);
            }
        }

        @Override
        public void run() {
            try {
                for (String name : names) {
                    keeping.take(name);
                    held(name);
                    if (pause() <= 0) {
                        renewAll();
                    }
                }
                full.countDown();
                while (!end.await(Math.max(0, pause()), TimeUnit.NANOSECONDS)) {
                    renewAll();
                }
                for (String name : snapshot()) {
                    keeping.release(name);
                }
            } catch (Exception e) {
                // What it held is lost, and not counted as alive.
                e.printStackTrace();
                lost();
                full.countDown();
            }
        }

        /** Until the next renewal. */
        private long pause() {
            return renewed + lease.toNanos() / 3 - System.nanoTime();
        }

        private void renewAll() throws Exception {
            for (String name : snapshot()) {
                if (!keeping.renew(name)) {
                    drop(name);
                }
            }
            renewed = System.nanoTime();
        }

        private synchronized List<String> snapshot() {
            return List.copyOf(held);
        }

        private synchronized void held(String name) {
            held.add(name);
        }

        private synchronized void drop(String name) {
            held.remove(name);
        }

        private synchronized void lost() {
            held.clear();
        }

        private synchronized int alive() {
            return held.size();
        }
    }
}
