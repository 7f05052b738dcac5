// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Mode;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Semaphores, whose queues have several drivers and so several claims at a time. */
final class PermitsTest {
    private final MemoryCore core = MemoryCore.system();
    private final MemoryStore store = new MemoryStore(core);

    /** One that does what it is given to do only when the test says so. */
    static Waiter waiter() {
        return new Waiter(false, Long.MAX_VALUE, null, null) {
            @Override
            void wake() {}

            @Override
            void remind() {}
        };
    }

    private static boolean await(CountDownLatch latch) throws InterruptedException {
        return latch.await(Race.LONG_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * One who is to confirm a grant leaves when another claim is pending that nobody waits for any more: both claims are
     * ended, not only the first that is found.
     */
    @Test
    void aWaiterThatLeavesWithAGrantToConfirmEndsThePendingClaimToo() throws Exception {
        Rig others = new Rig(core, null);
        LockOptions options =
                LockOptions.defaults().lease(Duration.ofSeconds(10)).lockDelay(Duration.ofMillis(100));
        KeeperSemaphore theirs = new KeeperSemaphore(others.keeper, "s", 3, options);
        Lease one = theirs.acquire();
        Lease two = theirs.acquire();
        ThreadLocal<String> who = ThreadLocal.withInitial(() -> "");
        CountDownLatch mayClaim = new CountDownLatch(1);
        CountDownLatch isGranted = new CountDownLatch(1);
        CountDownLatch arrives = new CountDownLatch(1);
        Rig rig = new Rig(
                core,
                Intercepted.store(store, (step, args, inner) -> {
                    if (!step.equals("claim")) {
                        return inner.make();
                    }
                    return claim(who.get(), inner, mayClaim, isGranted, arrives);
                }),
                null);
        Keeper keeper = rig.keeper;
        LocalQueue queue = keeper.queueFor(keeper.request("s", Mode.PERMITS, 1, 3, options));
        Waiter first = waiter();
        Waiter second = waiter();
        Waiter third = waiter();
        queue.enter(first);
        queue.enter(second);
        queue.enter(third);
        Call<Boolean> secondStep = step(queue, second, "second", who);
        Call<Boolean> thirdStep = step(queue, third, "third", who);
        assertThat(await(isGranted)).isTrue(); // the last permit; the answer is on its way
        queue.perform(first, keeper.ticker().nanos());
        assertThat(one.release()).isTrue();
        Rig.await("the first is to confirm what was handed over", () -> first.role() instanceof Role.Confirm);
        mayClaim.countDown();
        assertThat(secondStep.get()).as("the second is queued").isTrue();
        queue.abandon(third, keeper.claims()::endInBackground);
        arrives.countDown();
        assertThat(thirdStep.get()).isTrue();
        queue.abandon(first, keeper.claims()::endInBackground);
        assertThat(second.result()).as("what the third was granted").isInstanceOf(Result.Acquired.class);
        LeaseHandle handle = ((Result.Acquired) second.result()).possession().handOut();
        assertThat(Objects.requireNonNull(handle).release()).isTrue();
        rig.assertNothingIsLeftHere();
        Rig.await("one hold is left in the store", () -> holders() == 1);
        assertThat(two.release()).isTrue();
        rig.close();
        others.close();
    }

    /** The second waits before its claim, the third for its answer. */
    private static Object claim(
            String who,
            Intercepted.Step inner,
            CountDownLatch mayClaim,
            CountDownLatch isGranted,
            CountDownLatch arrives)
            throws Throwable {
        if (who.equals("second")) {
            mayClaim.await();
        }
        Object answer = inner.make();
        if (who.equals("third")) {
            isGranted.countDown();
            arrives.await();
        }
        return answer;
    }

    private int holders() {
        return store.inspect("s").map(LockInfo::holders).map(List::size).orElse(0);
    }

    private static Call<Boolean> step(LocalQueue queue, Waiter waiter, String name, ThreadLocal<String> who) {
        return Call.start(() -> {
            who.set(name);
            queue.perform(waiter, queue.keeper().ticker().nanos());
            return true;
        });
    }

    /** Those whose time is up do not make one claim after the other: the next answer ends all of them. */
    @Test
    void allWaitersWhoseTimeIsUpEndWithTheNextAnswer() throws Exception {
        Semaphore answers = new Semaphore(0);
        Rig rig = new Rig(
                core,
                Intercepted.store(store, (step, args, inner) -> {
                    if (step.equals("claim")) {
                        answers.acquire();
                    }
                    return inner.make();
                }),
                Duration.ofSeconds(Race.LONG_SECONDS),
                false);
        KeeperSemaphore semaphore = new KeeperSemaphore(rig.keeper, "s", 1000, LockOptions.defaults());
        List<Call<Optional<Lease>>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            calls.add(Call.start(() -> semaphore.tryAcquire(1, Duration.ofMillis(100))));
        }
        Rig.await("their time is up, and all wait for an answer", () -> calls.stream()
                .allMatch(call -> call.thread.getState() == Thread.State.WAITING));
        int claiming = answers.getQueueLength();
        assertThat(claiming).isBetween(1, 20);
        answers.release();
        Rig.await(
                "all have ended but those who make a claim",
                () -> calls.stream().filter(Call::isDone).count() == 40 - claiming + 1);
        answers.release(1000);
        int acquired = 0;
        for (Call<Optional<Lease>> call : calls) {
            if (call.get().isPresent()) {
                acquired++;
                assertThat(call.get().get().release()).isTrue();
            }
        }
        assertThat(acquired).isBetween(1, claiming);
        rig.assertNothingIsLeft();
        rig.close();
    }
}
