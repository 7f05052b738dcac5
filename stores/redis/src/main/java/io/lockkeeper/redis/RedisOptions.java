// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.redis.server.Replicas;
import io.lockkeeper.spi.Ranges;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How a store uses its Redis. Immutable; {@link #defaults()} with what is to be different:
 *
 * <pre>{@code
 * RedisStore.of(client, RedisOptions.defaults().prefix("app:locks").replicas(1));
 * }</pre>
 */
public final class RedisOptions {
    private static final Pattern PREFIX = Pattern.compile("[A-Za-z0-9._:/-]{1,100}");
    static final int MOST_REPLICAS = 100;
    private static final RedisOptions DEFAULTS = new RedisOptions("lockkeeper", 0, false, Duration.ofSeconds(1));

    private final String prefix;
    private final int replicas;
    private final boolean allowEviction;
    private final Duration operationTimeout;

    private RedisOptions(String prefix, int replicas, boolean allowEviction, Duration operationTimeout) {
        this.prefix = prefix;
        this.replicas = replicas;
        this.allowEviction = allowEviction;
        this.operationTimeout = operationTimeout;
    }

    /** Keys {@code lockkeeper:…}; no waiting for replicas; no Redis that evicts. */
    public static RedisOptions defaults() {
        return DEFAULTS;
    }

    /**
     * What all keys and channels begin with, before a colon. Built-in: {@code lockkeeper}.
     *
     * @throws IllegalArgumentException when it is not 1 to 100 ASCII letters, digits and {@code . _ : / -}
     */
    public RedisOptions prefix(String prefix) {
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "prefix is '" + prefix + "'; allowed are 1 to 100 ASCII letters, digits and . _ : / -");
        }
        return new RedisOptions(prefix, replicas, allowEviction, operationTimeout);
    }

    /**
     * How many replicas must have a grant or a renewal before it is believed. Built-in: 0. A step that too few of them
     * have received in time fails.
     *
     * @throws IllegalArgumentException when it is not 0 to 100
     */
    public RedisOptions replicas(int replicas) {
        if (replicas < 0 || replicas > MOST_REPLICAS) {
            throw new IllegalArgumentException("replicas is " + replicas + "; allowed is 0 to " + MOST_REPLICAS);
        }
        return new RedisOptions(prefix, replicas, allowEviction, operationTimeout);
    }

    /** Whether to accept a Redis that evicts keys, including locks, when its memory is full. Built-in: false. */
    public RedisOptions allowEviction(boolean allowEviction) {
        return new RedisOptions(prefix, replicas, allowEviction, operationTimeout);
    }

    /**
     * How long to wait for replicas, and for a free connection of the client. Built-in: 1 s. How long an answer may take is
     * determined by the client's socket timeout.
     *
     * @throws IllegalArgumentException when it is not 10 ms to 1 min
     */
    public RedisOptions operationTimeout(Duration operationTimeout) {
        Ranges.operationTimeout(operationTimeout);
        return new RedisOptions(prefix, replicas, allowEviction, operationTimeout);
    }

    String prefix() {
        return prefix;
    }

    boolean allowEviction() {
        return allowEviction;
    }

    /** How to wait for replicas: not quite as long as for an answer. */
    Replicas replicas() {
        return replicas == 0 ? Replicas.NONE : new Replicas(replicas, Math.max(1, timeoutMillis() * 3 / 4));
    }

    int timeoutMillis() {
        return (int) Math.max(1, Math.min(operationTimeout.toMillis(), Integer.MAX_VALUE / 4));
    }
}
