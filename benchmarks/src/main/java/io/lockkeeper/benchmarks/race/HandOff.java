// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import io.lockkeeper.benchmarks.race.Contender.Held;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One of two processes that give a lock to and fro. Whoever has it keeps it until the other one is waiting, and for 5 to 105 ms:
 * so the release meets a waiter that polls every 100 ms at any point of its pause. Then it notes the time, releases, and comes
 * back only when the other one has got it.
 */
final class HandOff {
    private static final String NAME = "hand-off";
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(105);
    private static final long LOOK = TimeUnit.MICROSECONDS.toNanos(200);

    private final Contender contender;
    private final Page page;
    private final int me;

    HandOff(Contender contender, Page page, int me) {
        this.contender = contender;
        this.page = page;
        this.me = me;
    }

    void run(long end, Tally tally) {
        while (System.nanoTime() - end < 0) {
            try {
                long start = System.nanoTime();
                page.set(0, Page.WAITING + 8 * me, 1);
                Held held = contender.lock(NAME);
                long got = System.nanoTime();
                page.set(0, Page.WAITING + 8 * me, 0);
                if (page.get(0, Page.GIVER) == giver(1 - me) && start - page.get(0, Page.GIVEN_AT) < 0) {
                    tally.waits.record(got - page.get(0, Page.GIVEN_AT));
                }
                page.set(0, Page.GIVER, 0);
                tally.overlaps += page.alone(0, giver(me), () -> hold(got, end));
                tally.additions++;
                tally.acquisitions++;
                tally.inTime++;
                page.set(0, Page.GIVEN_AT, System.nanoTime());
                page.set(0, Page.GIVER, giver(me));
                held.release();
                while (page.get(0, Page.GIVER) == giver(me) && System.nanoTime() - end < 0) {
                    LockSupport.parkNanos(LOOK);
                }
            } catch (Exception e) {
                tally.failed(e);
                LockSupport.parkNanos(SHORTEST);
            }
        }
    }

    private void hold(long got, long end) {
        long until = got + ThreadLocalRandom.current().nextLong(SHORTEST, LONGEST);
        while ((System.nanoTime() - until < 0 || page.get(0, Page.WAITING + 8 * (1 - me)) == 0)
                && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(LOOK);
        }
    }

    private static long giver(int process) {
        return process + 1L;
    }
}
