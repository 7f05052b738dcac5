// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who asks a store for an order that it does not keep is warned, once. */
final class UnfairStoreTest {
    private static final LockOptions FAIR = LockOptions.defaults().fair(true);

    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final Logger log = Logger.getLogger("io.lockkeeper");
    private final Handler tap = new Handler() {
        @Override
        public void publish(LogRecord message) {
            if (message.getMessage().contains("fair(true)")) {
                warnings.add(message.getMessage());
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

    @Test
    void fairLocksOnAQuorumCauseOneWarning() {
        try (Lockkeeper a = Lockkeeper.connect("memory:");
                Lockkeeper b = Lockkeeper.connect("memory:");
                Lockkeeper c = Lockkeeper.connect("memory:");
                Lockkeeper quorum = Lockkeeper.quorum(a, b, c)) {
            quorum.lock("plain");
            quorum.election("leader"); // its claims are fair among the threads of a process; nobody has asked for that
            assertThat(warnings).isEmpty();
            quorum.lock("x", FAIR);
            quorum.readWriteLock("y", LockOptions.defaults()).readLock();
            quorum.lock("z", FAIR);
            assertThat(warnings).singleElement().asString().contains("'x'").contains("does not guarantee FAIR");
        }
    }

    @Test
    void fairLocksOnAFairStoreCauseNone() {
        try (Lockkeeper keeper = Lockkeeper.connect("memory:")) {
            keeper.lock("x", FAIR);
            assertThat(warnings).isEmpty();
        }
    }
}
