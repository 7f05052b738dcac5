// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.history;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.StepKind;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Makes the store of one client fail now and then, in every way in which it can. */
public final class Chaos implements Runnable {
    private static final StepKind[] KINDS = {
        StepKind.CLAIM, StepKind.CLAIM, StepKind.RELEASE, StepKind.RENEW, StepKind.WITHDRAW, StepKind.DOWNGRADE
    };

    private final FaultyStore store;
    private final Random random;
    private final BooleanSupplier goesOn;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean began;
    private final Deque<LateStep> late = new ArrayDeque<>();
    private final Map<StepKind, Integer> spoilt = new EnumMap<>(StepKind.class);

    public Chaos(FaultyStore store, Random random, BooleanSupplier goesOn) {
        this.store = store;
        this.random = random;
        this.goesOn = goesOn;
    }

    @Override
    public void run() {
        began = true;
        try {
            while (goesOn.getAsBoolean() && !stopped.await(2 + random.nextInt(20), TimeUnit.MILLISECONDS)) {
                strike();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            store.loseSignals(false);
            store.up();
            store.deliverSignals();
            ended.countDown();
        }
    }

    private void strike() throws InterruptedException {
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3, 4, 5, 6 -> spoil(KINDS[random.nextInt(KINDS.length)]);
            case 7 -> store.loseSignals(true);
            case 8 -> store.loseSignals(false);
            case 9 -> store.holdSignals();
            case 10 -> store.deliverSignals();
            default -> {
                if (random.nextInt(8) == 0) {
                    store.down();
                    stopped.await(random.nextInt(200), TimeUnit.MILLISECONDS);
                    store.up();
                }
            }
        }
        if (late.size() > 3) {
            arrive(late.poll());
        }
    }

    /** Lets a copy arrive whose sender has given up: it may fail as any step may, in a deadlock for instance. */
    public static void arrive(LateStep step) {
        try {
            if (step.isOnItsWay()) {
                step.deliver();
            }
        } catch (StoreUnavailableException e) {
            // Nobody waits for it.
        }
    }

    /** Spoils the next step of this kind, unless the last one to be spoilt has not come yet: faults must not pile up. */
    private void spoil(StepKind kind) {
        int count = store.count(kind);
        if (count <= spoilt.getOrDefault(kind, 0)) {
            return;
        }
        spoilt.put(kind, count + 1);
        switch (random.nextInt(4)) {
            case 0 -> store.fail(kind);
            case 1 -> late.add(store.sendLate(kind));
            default -> store.loseReply(kind);
        }
    }

    /** Ends it; the store answers and signals again. */
    public void stop() {
        stopped.countDown();
        try {
            if (began) {
                ended.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
