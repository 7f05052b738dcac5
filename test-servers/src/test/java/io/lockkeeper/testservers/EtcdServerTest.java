// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EtcdServerTest {
    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void find() {
        Servers.require(ServerKind.ETCD, Assumptions::abort);
    }

    @Test
    void keepsItsDataWhenKilledAndAnswersAfterAPause() throws Exception {
        try (EtcdServer server = EtcdServer.start()) {
            assertThat(health(server, 20_000)).contains("\"health\":\"true\"");
            // in base 64: a = 1
            post(server, "put", "{\"key\":\"YQ==\",\"value\":\"MQ==\"}");
            server.kill();
            assertThatThrownBy(() -> health(server, 20_000)).isInstanceOf(IOException.class);
            server.restart();
            assertThat(post(server, "range", "{\"key\":\"YQ==\"}")).contains("\"value\":\"MQ==\"");
            server.pause();
            assertThatThrownBy(() -> health(server, 300)).isInstanceOf(HttpTimeoutException.class);
            server.resume();
            assertThat(health(server, 20_000)).contains("\"health\":\"true\"");
            server.restart();
            assertThat(post(server, "range", "{\"key\":\"YQ==\"}")).contains("\"value\":\"MQ==\"");
        }
    }

    private String health(EtcdServer server, long millis) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create(server.url() + "/health"))
                                .timeout(Duration.ofMillis(millis))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }

    private String post(EtcdServer server, String verb, String json) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create(server.url() + "/v3/kv/" + verb))
                                .timeout(Duration.ofSeconds(20))
                                .POST(BodyPublishers.ofString(json))
                                .build(),
                        BodyHandlers.ofString())
                .body();
    }
}
