// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The time in which a {@link FaultyStore} answers no step. */
final class Outage {
    private Duration hangsFor = Duration.ZERO; // guarded by this
    private volatile boolean isOn;

    /** Begins: each step blocks its thread for this long, and then fails. */
    synchronized void begin(Duration each) {
        hangsFor = each;
        isOn = true;
    }

    /** Ends: steps that hang fail now. */
    synchronized void end() {
        isOn = false;
        notifyAll();
    }

    boolean isOn() {
        return isOn;
    }

    /** Blocks until a step that was sent now fails; an interrupt does not end it, and is kept. */
    void awaitFailure() {
        boolean interrupted = false;
        synchronized (this) {
            long deadline = System.nanoTime() + hangsFor.toNanos();
            for (long left = hangsFor.toNanos(); isOn && left > 0; left = deadline - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                } catch (InterruptedException e) {
                    interrupted = true; // a step is not broken by an interrupt
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
