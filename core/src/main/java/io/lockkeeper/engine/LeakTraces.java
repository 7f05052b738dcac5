// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Where leases were acquired, for those that are never closed. Capturing a stack is expensive, so only a few are. */
final class LeakTraces {
    private static final int FIRST = 32;
    private static final int AFTER_LEAK = 1024;

    /** After the first ones, one of this many acquisitions captures its stack. */
    private static final int EVERY = 256;

    private final AtomicInteger all = new AtomicInteger(FIRST);
    private int count; // racy on purpose: it only spreads the samples

    /** The stack of the caller, for some. */
    @Nullable
    Throwable sample() {
        if ((all.get() > 0 && all.getAndDecrement() > 0) || ++count % EVERY == 0) {
            return new Throwable("acquired here, by thread "
                    + Printable.text(Thread.currentThread().getName()));
        }
        return null;
    }

    /** A lease was not closed: the next ones capture their stacks. */
    void leakSeen() {
        all.set(AFTER_LEAK);
    }
}
