// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is asked for: a name, how, and on which terms. Equal requests may share a claim. It is the key of the local queues,
 * so its hash is computed once.
 */
final class LockRequest {
    /**
     * How many tokens a grant asks for, and so the bound on passing a hold on inside this process. The factor 64 in the
     * tokens of ZooKeeper and etcd stores is this number, and frozen with it.
     */
    static final int BLOCK = 64;

    private final String name;
    private final Settings settings;
    private final Terms waiting;
    private final Terms trying;
    private final int hash;

    private LockRequest(String name, Settings settings, Terms waiting, Terms trying) {
        this.name = name;
        this.settings = settings;
        this.waiting = waiting;
        this.trying = trying;
        this.hash = Objects.hash(name, settings, waiting.mode());
    }

    static LockRequest of(String name, Mode mode, int permits, int limit, Settings settings, Config config) {
        int block = settings.handsOn() || mode == Mode.EXCLUSIVE ? BLOCK : 1;
        return new LockRequest(
                name,
                settings,
                terms(mode, permits, limit, settings, config, block, true),
                terms(mode, permits, limit, settings, config, block, false));
    }

    private static Terms terms(
            Mode mode, int permits, int limit, Settings settings, Config config, int block, boolean queue) {
        Duration patience = config.patience();
        return new Terms(
                mode,
                permits,
                limit,
                settings.lease(),
                settings.lockDelay(),
                patience,
                block,
                queue,
                config.clientName(),
                settings.label());
    }

    Mode mode() {
        return waiting.mode();
    }

    /** Whether threads share a claim for this, and pass the hold on. */
    boolean isShareable() {
        return settings.handsOn();
    }

    String name() {
        return name;
    }

    Settings settings() {
        return settings;
    }

    /** The terms of a claim that queues. */
    Terms waiting() {
        return waiting;
    }

    /** The terms of a claim that does not queue. */
    Terms trying() {
        return trying;
    }

    @Override
    public boolean equals(@Nullable Object o) {
        return this == o
                || (o instanceof LockRequest other
                        && hash == other.hash
                        && name.equals(other.name)
                        && settings.equals(other.settings)
                        && waiting.equals(other.waiting));
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
