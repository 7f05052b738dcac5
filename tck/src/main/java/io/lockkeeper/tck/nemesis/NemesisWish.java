// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.testkit.history.HistoryMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Something to be acquired as a handle, in each of the ways that locks and semaphores have in common.
 *
 * @param parts what it consists of, one for each name
 * @param once one attempt
 * @param within an attempt that may wait
 * @param forever waits without end
 * @param async a future of it
 * @param asyncWithin a future that may bring nothing
 */
record NemesisWish(
        List<Part> parts,
        Supplier<Optional<Lease>> once,
        NemesisWorker.Attempt within,
        Callable<Lease> forever,
        Supplier<CompletableFuture<Lease>> async,
        Function<Duration, CompletableFuture<Optional<Lease>>> asyncWithin) {
    /** One name of one keeper. */
    record Part(NemesisKeeper keeper, String name, HistoryMode mode, int permits) {}

    static NemesisWish lock(NemesisKeeper keeper, DistributedLock lock, HistoryMode mode) {
        return new NemesisWish(
                List.of(new Part(keeper, lock.name(), mode, 1)),
                lock::tryAcquire,
                lock::tryAcquire,
                lock::acquire,
                lock::acquireAsync,
                lock::tryAcquireAsync);
    }

    static NemesisWish permits(NemesisKeeper keeper, String name, int permits, LockOptions options) {
        DistributedSemaphore semaphore = keeper.keeper.semaphore(name, NemesisRun.PERMITS, options);
        return new NemesisWish(
                List.of(new Part(keeper, name, HistoryMode.PERMITS, permits)),
                () -> semaphore.tryAcquire(permits),
                wait -> semaphore.tryAcquire(permits, wait),
                () -> semaphore.acquire(permits),
                () -> semaphore.acquireAsync(permits),
                wait -> semaphore.acquireAsync(permits).thenApply(Optional::of));
    }

    @Override
    public String toString() {
        return parts.stream()
                .map(part -> part.name + " by " + part.keeper.clientName)
                .collect(Collectors.joining(" and "));
    }

    /** The same, of several names. */
    NemesisWish of(List<Part> several) {
        return new NemesisWish(several, once, within, forever, async, asyncWithin);
    }
}
