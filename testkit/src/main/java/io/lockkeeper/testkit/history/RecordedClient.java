// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Records what one client asks for. Call each method just before the real operation. */
public final class RecordedClient {
    private final History history;
    private final String client;

    RecordedClient(History history, String client) {
        this.history = history;
        this.client = Objects.requireNonNull(client, "client");
    }

    /**
     * A claim of a lock, or of one permit of a semaphore.
     *
     * @throws IllegalArgumentException if a semaphore is claimed as a lock
     * @throws IllegalStateException if permits are claimed of a name that is not declared as a semaphore
     */
    public RecordedClaim acquire(String name, HistoryMode mode) {
        return acquire(name, mode, 1);
    }

    /**
     * A claim of permits of a semaphore.
     *
     * @throws IllegalArgumentException if permits is less than 1
     * @throws IllegalStateException if the name is not declared as a semaphore
     */
    public RecordedClaim acquirePermits(String name, int permits) {
        return acquire(name, HistoryMode.PERMITS, permits);
    }

    /**
     * A release by a client that has no claim at all, as in an unlock by the wrong thread: to be answered with
     * {@code fail}. The holder's own release is {@link RecordedClaim#release()}.
     */
    public RecordedStep release(String name) {
        return new RecordedStep(history, invoke(name, new Call.Release(OptionalLong.empty())));
    }

    /**
     * One count off a latch.
     *
     * @throws IllegalStateException if the name is not declared as a latch
     */
    public RecordedStep countDown(String name) {
        requireDeclared(Event.Limit.COUNT, name);
        return new RecordedStep(history, invoke(name, new Call.CountDown()));
    }

    /**
     * Waiting for a latch: {@code ok} when it was open, {@code fail} when time ran out.
     *
     * @throws IllegalStateException if the name is not declared as a latch
     */
    public RecordedStep await(String name) {
        requireDeclared(Event.Limit.COUNT, name);
        return new RecordedStep(history, invoke(name, new Call.Await()));
    }

    private RecordedClaim acquire(String name, HistoryMode mode, int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits is " + permits + ", less than 1");
        }
        if (mode == HistoryMode.PERMITS) {
            requireDeclared(Event.Limit.PERMITS, name);
        } else if (history.isDeclared(Event.Limit.PERMITS, name)) {
            throw new IllegalArgumentException("\"" + name + "\" is a semaphore, not a lock");
        }
        return new RecordedClaim(history, this, name, mode, invoke(name, new Call.Acquire(mode, permits)));
    }

    /** Reads the clock before anything else: an invocation may be recorded too early, never too late. */
    long invoke(String name, Call call) {
        long at = history.elapsed();
        Objects.requireNonNull(name, "name");
        long operation = history.nextOperation();
        history.add(new Event.Invoked(at, operation, client, name, call));
        return operation;
    }

    private void requireDeclared(Event.Limit limit, String name) {
        if (!history.isDeclared(limit, name)) {
            throw new IllegalStateException(limit + " of \"" + name + "\" has not been declared");
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RecordedClient that && history == that.history && client.equals(that.client);
    }

    @Override
    public int hashCode() {
        return client.hashCode();
    }

    @Override
    public String toString() {
        return client;
    }
}
