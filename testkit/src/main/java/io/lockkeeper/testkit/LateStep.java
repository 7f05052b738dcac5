// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A step that is still on its way when its sender has given up: it arrives when a test delivers it. */
public final class LateStep {
    private final AtomicReference<@Nullable Supplier<?>> step = new AtomicReference<>();

    LateStep() {}

    void send(Supplier<?> sent) {
        step.set(sent);
    }

    /** Whether a step has been sent and not yet delivered. */
    public boolean isOnItsWay() {
        return step.get() != null;
    }

    /**
     * Makes the store carry it out now.
     *
     * @return what the store answered; nobody waits for it
     * @throws IllegalStateException if none is on its way
     */
    public Object deliver() {
        Supplier<?> sent = step.getAndSet(null);
        if (sent == null) {
            throw new IllegalStateException("no step is on its way");
        }
        return sent.get();
    }
}
