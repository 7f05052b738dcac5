// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler of the user's log that throws, such as one whose classes are gone, ends no thread that renews. */
final class BrokenLoggerTest {
    private static final class Expected extends RuntimeException {
        private static final long serialVersionUID = 1;

        Expected() {
            super("a driver's own exception (as the test wants it)");
        }
    }

    private static final class Gone extends LinkageError {
        private static final long serialVersionUID = 1;

        Gone() {
            super("a class of the appender is gone (as the test wants it)");
        }
    }

    /** Throws at what concerns this test, and at nothing else. */
    private static final class Broken extends Handler {
        private final AtomicInteger asked = new AtomicInteger();

        @Override
        public void publish(LogRecord message) {
            if (message.getThrown() instanceof Expected || message.getThrown() instanceof Gone) {
                asked.incrementAndGet();
                throw new Gone();
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    private final Logger log = Logger.getLogger("io.lockkeeper");
    private final Broken broken = new Broken();
    private final AtomicBoolean fails = new AtomicBoolean(true);
    private final AtomicInteger renewals = new AtomicInteger();
    private final MemoryCore core = MemoryCore.system();
    private final Rig rig = new Rig(
            core,
            Intercepted.store(new MemoryStore(core), (step, args, store) -> {
                if (step.equals("renew")) {
                    if (fails.getAndSet(false)) {
                        throw new Expected();
                    }
                    renewals.incrementAndGet();
                }
                return store.make();
            }),
            null);

    @AfterEach
    void end() {
        log.removeHandler(broken);
        rig.close();
    }

    @Test
    void renewalsGoOnThoughOneFailedAndCouldNotBeLogged() throws Exception {
        log.addHandler(broken);
        KeeperLock lock = rig.lock("x", LockOptions.defaults().lease(Duration.ofSeconds(2)));
        Lease lease = lock.acquire();
        Rig.await("the failure is logged", () -> broken.asked.get() > 0);
        Rig.await("it is renewed", () -> renewals.get() >= 2);
        assertThat(lease.isValid()).isTrue();
        fails.set(true);
        Lease later = rig.lock("y", LockOptions.defaults().lease(Duration.ofSeconds(2)))
                .acquire();
        Rig.await("another failure is logged", () -> broken.asked.get() > 1);
        int before = renewals.get();
        Rig.await("they are renewed", () -> renewals.get() >= before + 2);
        assertThat(later.release()).isTrue();
        assertThat(lease.release()).isTrue();
        rig.assertNothingIsLeft();
    }
}
