// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.DistributedLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that waits for a lock, and gives up in one of several ways. */
public final class Waiting {
    /** Enough time to be queued in most runs; if it is not, giving up came first, and the rule is the same. */
    private static final Duration WHILE = Duration.ofMillis(400);

    /** How a waiter stops waiting. */
    public enum GivesUp {
        TIMES_OUT,
        IS_INTERRUPTED,
        IS_CANCELLED,
        TIMES_OUT_ASYNC
    }

    private final StepContract contract;
    private final GivesUp how;
    private final String name;
    private final @Nullable Attempt attempt;
    private final @Nullable CompletableFuture<?> future;

    /** Begins to wait. */
    public Waiting(StepContract contract, GivesUp how, DistributedLock lock) {
        this.contract = contract;
        this.how = how;
        this.name = lock.name();
        this.attempt = switch (how) {
            case TIMES_OUT -> contract.attemptToTry(() -> lock.tryAcquire(WHILE));
            case IS_INTERRUPTED -> contract.attempt(lock::acquire);
            case IS_CANCELLED, TIMES_OUT_ASYNC -> null;
        };
        this.future = switch (how) {
            case TIMES_OUT, IS_INTERRUPTED -> null;
            case IS_CANCELLED -> lock.acquireAsync();
            case TIMES_OUT_ASYNC -> lock.tryAcquireAsync(WHILE);
        };
    }

    /** Waits until it is in the queue, or out of it already because its time is up. */
    public void awaitQueued() throws InterruptedException {
        Contract.await(
                "it is queued",
                () -> contract.waiters(name) == 1
                        || (attempt != null && attempt.isDone())
                        || (future != null && future.isDone()));
    }

    /** Gives up, and must have acquired nothing. */
    public void giveUp() throws Exception {
        if (attempt != null && how == GivesUp.IS_INTERRUPTED) {
            attempt.interrupt();
            assertThatThrownBy(attempt::get).isInstanceOf(InterruptedException.class);
            assertThat(attempt.keptFlag()).as("the flag is cleared").isFalse();
        } else if (attempt != null) {
            assertThat(attempt.get()).isEmpty();
        } else if (future != null && how == GivesUp.IS_CANCELLED) {
            assertThat(future.cancel(true)).isTrue();
            assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
        } else if (future != null) {
            assertThat(future.get(Contract.LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Optional.empty());
        }
    }
}
