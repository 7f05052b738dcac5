// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLostException;
import io.lockkeeper.tck.support.Pauses;
import io.lockkeeper.testkit.history.RecordedClient;
import io.lockkeeper.testkit.history.RecordedStep;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Acquires by handle or by future, works, and releases; all of it recorded. Used by one worker and its callbacks. */
final class NemesisUse {
    private final NemesisRun run;
    private final RecordedClient client;
    private final Random random;

    NemesisUse(NemesisRun run, RecordedClient client, Random random) {
        this.run = run;
        this.client = client;
        this.random = random;
    }

    /** Notes that all parts of a wish are about to be claimed. */
    List<NemesisBook.Entry> begin(NemesisWish wish) {
        List<NemesisBook.Entry> entries = new ArrayList<>();
        for (NemesisWish.Part part : wish.parts()) {
            entries.add(run.book.claim(client, part.keeper(), part.name(), part.mode(), part.permits()));
        }
        return entries;
    }

    /** Notes what a lease says of each part. */
    void granted(List<NemesisBook.Entry> entries, Lease lease) {
        for (Lease part : lease.parts()) {
            entries.stream().filter(entry -> entry.name.equals(part.name())).forEach(entry -> entry.granted(part));
        }
    }

    // ---- Handles ----

    void handle(NemesisWish wish) throws Exception {
        List<NemesisBook.Entry> entries = begin(wish);
        Optional<Lease> lease =
                switch (random.nextInt(3)) {
                    case 0 -> wish.once().get();
                    case 1 -> wish.within().within(NemesisWorker.shortWait(random));
                    default -> Optional.of(wish.forever().call());
                };
        lease.ifPresent(had -> use(entries, had));
    }

    private void use(List<NemesisBook.Entry> entries, Lease lease) {
        granted(entries, lease);
        work(entries, lease);
        release(entries, lease);
    }

    /** Holds it for a while; what interrupts that is not kept. */
    void work(List<NemesisBook.Entry> entries, Lease lease) {
        int dice = random.nextInt(100);
        int rounds = dice == 0 ? 60 : dice < 6 ? 10 : dice < 60 ? 1 : 0;
        try {
            for (int i = 0; i < rounds && (run.isOn() || i == 0); i++) {
                Pauses.whileFaultLasts(Duration.ofNanos(1_000L * random.nextInt(i == 0 ? 4_000 : 25_000)));
                for (Lease part : lease.parts()) {
                    entries.stream()
                            .filter(entry -> entry.name.equals(part.name()))
                            .forEach(entry -> entry.look(part));
                }
            }
        } catch (InterruptedException e) {
            // works less
        }
    }

    // ---- Futures ----

    /** A future that is awaited, cancelled, completed by other code, or left to itself. */
    void async(NemesisWish wish) throws InterruptedException {
        List<NemesisBook.Entry> entries = begin(wish);
        int dice = random.nextInt(8);
        if (dice == 0) {
            run.track(wish.asyncWithin().apply(NemesisWorker.shortWait(random)), "a timed acquisition of " + wish)
                    .whenComplete(
                            (lease, failure) -> called(entries, lease == null ? null : lease.orElse(null), failure));
            return;
        }
        CompletableFuture<Lease> future = run.track(wish.async().get(), "an acquisition of " + wish);
        if (dice < 3) {
            future.whenComplete((lease, failure) -> called(entries, lease, failure));
            return;
        }
        Lease lease = null;
        try {
            lease = await(future, dice);
        } catch (InterruptedException e) {
            future.cancel(true);
            lease = broughtBy(future);
        }
        if (lease != null) {
            use(entries, lease);
        }
    }

    private @Nullable Lease await(CompletableFuture<Lease> future, int how) throws InterruptedException {
        long millis = random.nextInt(300);
        try {
            switch (how) {
                case 3 -> {
                    return future.get();
                }
                case 4 -> {
                    return future.orTimeout(millis, TimeUnit.MILLISECONDS).get();
                }
                case 5 -> {
                    return future.completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                            .get();
                }
                default -> {
                    return future.get(millis, TimeUnit.MILLISECONDS);
                }
            }
        } catch (TimeoutException e) {
            if (how == 6) {
                future.complete(null);
            } else if (random.nextBoolean()) {
                future.completeExceptionally(new TimeoutException("the user has given up"));
            } else {
                future.cancel(true);
            }
            return broughtBy(future);
        } catch (ExecutionException e) {
            run.excuse("a future", e);
            return null;
        }
    }

    /** The lease of a future that was completed before it could be abandoned. */
    private static @Nullable Lease broughtBy(CompletableFuture<Lease> future) {
        return future.isCompletedExceptionally() ? null : future.join();
    }

    /** On a thread of the keeper. */
    private void called(List<NemesisBook.Entry> entries, @Nullable Lease lease, @Nullable Throwable failure) {
        try {
            if (failure != null) {
                run.excuse("a future", failure);
            } else if (lease != null) {
                use(entries, lease);
            }
        } catch (RuntimeException | Error e) {
            run.excuse("a callback", e);
        }
    }

    // ---- Releasing ----

    private void release(List<NemesisBook.Entry> entries, Lease lease) {
        List<@Nullable RecordedStep> steps = releasing(entries);
        try {
            switch (random.nextInt(3)) {
                case 0 -> {
                    lease.close();
                    released(entries, steps, true);
                }
                case 1 ->
                    run.track(lease.releaseAsync(), "the release of " + lease).whenComplete((released, failure) -> {
                        if (failure != null) {
                            run.excuse("a release", failure);
                        } else if (released) {
                            released(entries, steps, true);
                        }
                    });
                default -> {
                    if (lease.release()) {
                        released(entries, steps, true);
                    }
                }
            }
        } catch (LeaseLostException e) {
            // nothing to record: the loss was recorded
        } catch (RuntimeException | Error e) {
            run.excuse("a release", e);
        }
    }

    /** Unlocks one level, the last one or another. */
    void unlock(DistributedLock lock, List<NemesisBook.Entry> entries, boolean last) {
        List<@Nullable RecordedStep> steps = releasing(entries);
        try {
            lock.unlock();
            released(entries, steps, last);
        } catch (IllegalMonitorStateException e) {
            // lost
        } catch (RuntimeException | Error e) {
            run.excuse("an unlock", e);
        }
    }

    private static List<@Nullable RecordedStep> releasing(List<NemesisBook.Entry> entries) {
        List<@Nullable RecordedStep> steps = new ArrayList<>();
        entries.forEach(entry -> steps.add(entry.releasing()));
        return steps;
    }

    private static void released(List<NemesisBook.Entry> entries, List<@Nullable RecordedStep> steps, boolean last) {
        for (int i = 0; i < entries.size(); i++) {
            entries.get(i).released(steps.get(i), last);
        }
    }
}
