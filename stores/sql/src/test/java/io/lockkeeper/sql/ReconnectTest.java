// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.sql.base.Daemons;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How our own pool gets its connections while the database is away. */
class ReconnectTest {
    private final SQLException refused = new SQLException("refused", "08001");
    private final SQLException wrongPassword = new SQLException("wrong password", "28P01");

    private final AtomicInteger attempts = new AtomicInteger();

    private CompletableFuture<Connection> connect(Reconnect reconnect, Reconnect.Opening opening) {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        Daemons.named("pool")
                .newThread(() -> {
                    try {
                        connected.complete(reconnect.connect(() -> {
                            attempts.incrementAndGet();
                            return opening.open();
                        }));
                    } catch (Throwable e) {
                        connected.completeExceptionally(e);
                    }
                })
                .start();
        return connected;
    }

    @Test
    void thePoolDoesNotHearOfWhatMayPass() throws Exception {
        Reconnect reconnect = new Reconnect();
        reconnect.beginWait();
        try (Connection connection = connect(reconnect, () -> {
                    if (attempts.get() < 8) {
                        throw refused;
                    }
                    return Db.H2.connect();
                })
                .get(60, TimeUnit.SECONDS)) {
            assertThat(connection.isClosed()).isFalse();
            assertThat(attempts).hasValue(8);
            assertThat((Throwable) reconnect.failure()).isNull();
        }
    }

    @Test
    void aLastingFailureIsReportedAtOnce() {
        Reconnect reconnect = new Reconnect();
        reconnect.beginWait();
        assertThatThrownBy(() -> reconnect.connect(() -> {
                    attempts.incrementAndGet();
                    throw wrongPassword;
                }))
                .isSameAs(wrongPassword);
        assertThat(attempts).hasValue(1);
        assertThat((Throwable) reconnect.failure()).isSameAs(wrongPassword);
    }

    @Test
    void nobodyIsAskedWhileNobodyWaits() throws Exception {
        Reconnect reconnect = new Reconnect();
        reconnect.beginWait();
        CompletableFuture<Connection> connecting = connect(reconnect, () -> {
            throw refused;
        });
        Spi.await("it is tried again", () -> attempts.get() > 3);
        reconnect.endWait();
        TimeUnit.SECONDS.sleep(1);
        int before = attempts.get();
        Spi.during(java.time.Duration.ofSeconds(1), () -> assertThat(attempts).hasValue(before));
        reconnect.beginWait();
        Spi.await("it is tried again", () -> attempts.get() > before + 3);
        assertThat((Throwable) reconnect.failure()).isSameAs(refused);
        assertThat(connecting).isNotDone();
        reconnect.close();
        assertThatThrownBy(() -> connecting.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCause(refused);
    }

    @Test
    void aConnectionThatComesAfterTheEndIsClosed() throws Exception {
        Reconnect reconnect = new Reconnect();
        reconnect.close();
        Connection late = Db.H2.connect();
        assertThatThrownBy(() -> reconnect.connect(() -> late)).hasMessageContaining("closed");
        assertThat(late.isClosed()).isTrue();
    }
}
