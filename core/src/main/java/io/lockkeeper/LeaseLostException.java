// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.util.Objects;

/** The hold that was needed has been lost. */
public final class LeaseLostException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    private final transient LeaseLost loss;

    /** Tells of this loss. */
    public LeaseLostException(LeaseLost loss) {
        super("lost the hold of '" + loss.name() + "' with token " + loss.token() + ": " + loss.reason());
        this.loss = Objects.requireNonNull(loss, "loss");
    }

    /** What was lost, and why. */
    public LeaseLost loss() {
        return loss;
    }
}
