// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Places in queues, however they were taken. */
class QueueTest {
    @ParameterizedTest
    @EnumSource
    void allLookAgainWhenTheHolderMayHaveExpired(Db db) { // rule 8: its client may be dead, and those ahead as well
        try (SqlStore store = Db.open(db.freshUrl())) {
            Duration lease = Duration.ofSeconds(3);
            store.claim(Spi.claim(store, "a", Mode.EXCLUSIVE, lease));
            List<Integer> ahead = new ArrayList<>();
            for (int i = 0; i < 4; i++) { // the first the general way, the others the short one
                Answer.Queued queued = (Answer.Queued) store.claim(Spi.claim(store, "a", Mode.EXCLUSIVE));
                ahead.add(queued.ahead());
                assertThat(queued.retryAfter()).isBetween(Duration.ZERO, lease.plusMillis(100L * i));
            }
            assertThat(ahead).containsExactly(0, 1, 2, 3);
        }
    }
}
