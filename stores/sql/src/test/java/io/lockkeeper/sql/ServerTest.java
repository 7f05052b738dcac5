// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.sql.base.Daemons;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which server it was that could not be reached, and why. */
class ServerTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "jdbc:postgresql://db.example:6432/app db.example:6432",
                "jdbc:postgresql://db.example/app?user=me db.example:5432",
                "jdbc:postgresql://[::1]/app [::1]:5432",
                "jdbc:postgresql://[::1]:6432/app [::1]:6432",
                "jdbc:postgresql:app localhost:5432",
                "jdbc:postgresql:///app localhost:5432",
                "jdbc:mariadb://db.example/app db.example:3306",
                "jdbc:mysql://me:pass@db.example/app db.example:3306",
                "jdbc:mysql:loadbalance://a:1,b/app 'a:1, b:3306'",
                "jdbc:mariadb://address=(host=a)(port=3307),address=(host=b)/app 'a:3307, b:3306'",
                "jdbc:mysql://(host=a,port=3307)/app a:3307"
            })
    void itIsNamed(String url, String address) {
        Server server = Server.of(JdbcUrl.of(StoreUrl.parse(url)));
        assertThat(server).isNotNull();
        assertThat(server.place()).isEqualTo(" at " + address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:h2:mem:x", "jdbc:sqlite:/x", "jdbc:h2:tcp://host/x"})
    void othersHaveNone(String url) {
        assertThat(Server.of(JdbcUrl.of(StoreUrl.parse(url)))).isNull();
    }

    @Test
    void aHostThatTheUrlDoesNotNameIsNotGuessed() {
        Server server = Server.of(JdbcUrl.of(StoreUrl.parse("jdbc:postgresql:app?PGHOST=other")));
        assertThat(server).isNotNull();
        assertThat((Throwable) server.failed(new SQLException("no", "08001")))
                .hasMessage("the database cannot be reached (08001): no");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql"})
    void aServerThatRefusesIsNamedWithTheReason(String database) {
        assertThatThrownBy(() -> open("jdbc:" + database + "://127.0.0.1:1/db?user=me"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageStartingWith("the database at 127.0.0.1:1 cannot be reached (08")
                .hasMessageContaining("Connection refused");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql"})
    void aHostThatDoesNotResolveIsNamedWithTheReason(String database) {
        assertThatThrownBy(() -> open("jdbc:" + database + "://nosuch.invalid/db?user=me"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageStartingWith("the database at nosuch.invalid:")
                .hasMessageContaining("cannot be reached (08")
                .hasMessageContaining("the host name does not resolve");
    }

    @Test
    void aServerThatDoesNotLetUsInIsNamedWithTheReason() {
        String url = Db.POSTGRESQL.url().replaceAll("/[^/?]*[?]", "/no_such_database?");
        assertThatThrownBy(() -> open(url))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.worthRepeating())
                        .isFalse())
                .hasMessageMatching("the database at \\S+:\\d+ failed \\(3D000\\): .*no_such_database.*");
    }

    private static void open(String url) {
        new SqlProvider().open(StoreUrl.parse(url)).close();
    }

    /** A pool that is really exhausted says so, and not that the server is away. */
    @Test
    void aServerWhoseConnectionsAreAllInUseIsNotAway() throws Exception {
        try (SqlStore store = (SqlStore)
                new SqlProvider().open(StoreUrl.parse(Db.with(Db.POSTGRESQL.freshUrl(), "operationTimeout=2s")))) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            java.util.concurrent.atomic.AtomicInteger inside = new java.util.concurrent.atomic.AtomicInteger();
            for (int i = 0; i < 8; i++) {
                Daemons.named("busy")
                        .newThread(() -> {
                            boolean isIn = false;
                            while (!isIn) { // on a busy machine it may take more than one attempt
                                try {
                                    isIn = store.connections.autocommit(c -> {
                                        inside.incrementAndGet();
                                        done.join();
                                        return true;
                                    });
                                } catch (StoreUnavailableException e) {
                                    isIn = done.isDone();
                                }
                            }
                        })
                        .start();
            }
            Spi.await("all are in use", () -> inside.get() == 8);
            assertThatThrownBy(() -> store.time(store))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("lockkeeper - Connection is not available")
                    .hasMessageContaining("active=8");
            done.complete(null);
            CompletableFuture.runAsync(() -> store.time(store)).get(60, TimeUnit.SECONDS);
        }
    }
}
