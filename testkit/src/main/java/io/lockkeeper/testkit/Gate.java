// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Holds up one step, or the answer to it, until it is opened. */
public final class Gate {
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    Gate() {}

    /** Waits until the step has arrived at the gate. */
    public boolean awaitArrival(Duration wait) throws InterruptedException {
        return arrived.await(wait.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Lets the step continue. */
    public void open() {
        opened.countDown();
    }

    void pass() {
        arrived.countDown();
        boolean interrupted = false;
        for (; ; ) {
            try {
                opened.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true; // a step is not broken by an interrupt
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
