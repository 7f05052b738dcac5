// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Renewals;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MariaDB in other modes: our statements work, or the store is not opened. */
class SqlModeTest {
    private static SqlStore open(String mode) {
        return Db.open(Db.with(Db.MARIADB.freshUrl(), "sessionVariables=sql_mode='" + mode + "'"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORACLE", "EMPTY_STRING_IS_NULL"})
    void itIsRejected(String mode) {
        assertThatThrownBy(() -> open(mode))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageContaining("sql_mode is '")
                .hasMessageContaining("not allowed in it is " + mode)
                .hasMessageContaining("sessionVariables=sql_mode=");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ANSI",
                "MAXDB",
                "TRADITIONAL",
                "HIGH_NOT_PRECEDENCE",
                "NO_BACKSLASH_ESCAPES",
                "PAD_CHAR_TO_FULL_LENGTH",
                "SIMULTANEOUS_ASSIGNMENT"
            })
    void itWorks(String mode) {
        try (SqlStore store = open(mode)) {
            Renewals.Hold hold = Spi.hold(store, "n", Mode.EXCLUSIVE, Spi.LEASE);
            List<Claim> queued = List.of(Spi.queue(store, "n", Mode.EXCLUSIVE), Spi.queue(store, "n", Mode.EXCLUSIVE));
            assertThat(store.renew(new Renewals(List.of(hold), queued)).queued())
                    .hasOnlyElementsOfType(Answer.Queued.class);
            assertThat(store.list("", 2)).singleElement().satisfies(info -> assertThat(info.waiters())
                    .isEqualTo(2));
            assertThat(store.release(hold.grant())).isTrue();
            assertThat(store.claim(queued.get(0))).isInstanceOf(Answer.Granted.class);
        }
    }
}
