// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.tck.support.Contract;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A task on its own thread, so that an interrupt meant for it hits no other. */
final class WaitingThread {
    final CompletableFuture<Boolean> flagAfter = new CompletableFuture<>();
    final CompletableFuture<Optional<Throwable>> failure = new CompletableFuture<>();
    final Thread thread;

    WaitingThread(Task task) {
        thread = new Thread(() -> {
            Throwable thrown = null;
            try {
                task.run();
            } catch (Throwable e) {
                thrown = e;
            }
            flagAfter.complete(Thread.currentThread().isInterrupted());
            failure.complete(Optional.ofNullable(thrown));
        });
        thread.setDaemon(true);
        thread.start();
    }

    void awaitParked() throws InterruptedException {
        Contract.await(
                "it waits",
                () -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    void assertInterrupted() throws Exception {
        assertThat(Contract.get(failure)).get().isInstanceOf(InterruptedException.class);
        assertThat(Contract.get(flagAfter)).as("the flag is cleared").isFalse();
    }

    void assertDoneWithFlag(boolean flag) throws Exception {
        assertThat(Contract.get(failure)).isEmpty();
        assertThat(Contract.get(flagAfter)).as("the flag").isEqualTo(flag);
    }

    /** What the thread does. */
    interface Task {
        void run() throws Exception;
    }
}
