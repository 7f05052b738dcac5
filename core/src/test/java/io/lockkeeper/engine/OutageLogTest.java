// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.spi.LockStore;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An outage is logged when it begins and when it ends, if there is no listener to be notified of it. */
final class OutageLogTest {
    private static final Set<String> STEPS = Set.of("time", "claim", "renew", "release", "withdraw", "canDecideClaims");

    private final List<LogRecord> lines = new CopyOnWriteArrayList<>();
    private final AtomicBoolean isDown = new AtomicBoolean();
    private final Logger log = Logger.getLogger("io.lockkeeper");
    private final Handler tap = new Handler() {
        @Override
        public void publish(LogRecord line) {
            if (line.getMessage().startsWith("the store ")) {
                lines.add(line);
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        log.addHandler(tap);
    }

    @AfterEach
    void stopListening() {
        log.removeHandler(tap);
    }

    private Rig rig(@Nullable KeeperListener listener) {
        MemoryCore core = MemoryCore.system();
        LockStore store = Intercepted.store(new MemoryStore(core), (step, arguments, to) -> {
            if (isDown.get() && STEPS.contains(step)) {
                throw new StoreUnavailableException("cut off", null);
            }
            return to.make();
        });
        return new Rig(core, store, listener);
    }

    private void failTwiceAndRecover(Rig rig) {
        rig.lock("before").lock();
        isDown.set(true);
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(rig.lock("x")::tryLock);
        }
        isDown.set(false);
        assertThat(rig.lock("x").tryLock()).isTrue();
    }

    @Test
    void eachOutageIsLoggedOnce() throws Exception {
        try (Rig rig = rig(null)) {
            failTwiceAndRecover(rig);
            Rig.await("the end is logged", () -> lines.size() == 2);
            assertThat(lines).extracting(LogRecord::getLevel).containsExactly(Level.WARNING, Level.INFO);
            assertThat(lines.get(0).getMessage()).contains("does not respond: cut off");
        }
    }

    @Test
    void aListenerIsNotifiedInstead() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        KeeperListener listener = new KeeperListener() {
            @Override
            public void storeDown(StoreUnavailableException cause) {
                told.add("down");
            }

            @Override
            public void storeUp() {
                told.add("up");
            }
        };
        try (Rig rig = rig(listener)) {
            failTwiceAndRecover(rig);
            Rig.await("the listener knows", () -> told.equals(List.of("down", "up")));
            assertThat(lines).isEmpty();
        }
    }
}
