// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LatchStep;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables that an older version has left behind can be read forever. */
class FormatTest {
    private static final long FLOOR_OF_IDLE = 4_102_444_800_000_005L;

    @ParameterizedTest
    @EnumSource
    void tablesOfFormat1CanBeUsed(Db db) throws Exception {
        load(db, "format-1/" + db.name().toLowerCase(Locale.ROOT) + ".sql");
        String url = Db.with(db.url(), "lockkeeper.tablePrefix=format1_");
        try (SqlStore store = Db.open(Db.with(url, "lockkeeper.createTables=false"))) {
            assertThat(store.id()).isEqualTo("5f0c1b6e-0000-4000-8000-000000000001");
            assertThat(store.list("", 10))
                    .extracting(LockInfo::name)
                    .containsExactly("closed", "nightly report", "permits", "readers");

            LockInfo held = store.inspect("nightly report").orElseThrow();
            assertThat(held.waiters()).isEqualTo(1);
            assertThat(held.holders()).singleElement().satisfies(hold -> {
                assertThat(hold.client()).isEqualTo("billing-7");
                assertThat(hold.label()).isEqualTo("the label");
                assertThat(hold.token()).isEqualTo(1_700_000_000_000_000L);
            });
            assertThat(store.inspect("readers").orElseThrow().holders()).hasSize(2);
            assertThat(store.inspect("permits").orElseThrow())
                    .satisfies(info -> assertThat(info.mode()).isEqualTo(Mode.PERMITS))
                    .satisfies(info -> assertThat(info.limit()).isEqualTo(3));

            assertThat(store.claim(StatementsTest.claim(store, "nightly report")))
                    .isInstanceOfSatisfying(Answer.Queued.class, queued -> assertThat(queued.ahead())
                            .isEqualTo(1));
            assertThat(store.claim(StatementsTest.claim(store, "closed"))).isInstanceOf(Answer.Queued.class);
            assertThat(store.claim(StatementsTest.claim(store, "idle")))
                    .isInstanceOfSatisfying(Answer.Granted.class, granted -> assertThat(granted.token())
                            .isEqualTo(FLOOR_OF_IDLE + 1));
            Claim known = StatementsTest.claim(store, "refused");
            Claim refused = new Claim(known.name(), new ClaimId("cccc", 7), known.terms(), known.deadline(), false);
            assertThat(store.claim(refused)).isInstanceOf(Answer.Refused.class);
            assertThat(store.latch(new LatchStep.Look("ready")).count()).isEqualTo(3);
        }
    }

    private static void load(Db db, String file) throws Exception {
        try (InputStream in = FormatTest.class.getResourceAsStream(file)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^--.*$", "");
            db.execute(text.strip().split(";\\s*(\n|$)"));
        }
    }
}
