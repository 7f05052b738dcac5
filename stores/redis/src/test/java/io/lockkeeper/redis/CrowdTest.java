// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Terms;
import io.lockkeeper.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many holders of one name: what a renewal costs does not depend on how many they are. */
class CrowdTest {
    private static final int FEW = 20;
    private static final int MANY = 600;

    private static RedisServer server;
    private static Admin admin;

    @BeforeAll
    static void start() {
        server = RedisServer.start("--appendonly", "yes", "--appendfsync", "no");
        admin = new Admin(server);
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static Claim claim(RedisStore store, String name, Mode mode) {
        Terms terms = new Terms(
                mode,
                1,
                mode == Mode.PERMITS ? MANY : 0,
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ofMinutes(1),
                1,
                false,
                "test",
                "");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1); // each of another client
        return new Claim(name, id, terms, store.time(store.lane(name)).plusMicros(600_000_000), false);
    }

    /** Of one renewed hold: commands inside the scripts, bytes written, and time in the server. */
    private record Cost(double commands, double bytes, double micros) {}

    private static Cost cost(List<Grant> holds, int atOnce, RedisStore store) {
        admin.resetStatistics();
        long before = admin.written();
        for (int from = 0; from < holds.size(); from += atOnce) {
            List<Renewals.Hold> some = holds.subList(from, Math.min(holds.size(), from + atOnce)).stream()
                    .map(grant -> new Renewals.Hold(grant, Duration.ofMinutes(2), 0))
                    .toList();
            Renewal renewal = store.renew(new Renewals(some, List.of()));
            assertThat(renewal.holds()).allMatch(Renewal.Kept.class::isInstance);
        }
        double all = admin.commands().values().stream().mapToLong(n -> n).sum();
        double scripts = admin.commands().get("evalsha");
        double micros = admin.microsOfScripts() * scripts / holds.size();
        return new Cost(all / holds.size(), (double) (admin.written() - before) / holds.size(), micros);
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"SHARED", "PERMITS"})
    void aRenewalCostsTheSameHoweverManyHoldTheName(Mode mode) { // H79
        try (RedisStore store = RedisFixture.open("redis://" + server.address() + "?operationTimeout=20s")) {
            List<Grant> few = hold(store, "few " + mode, mode, FEW);
            List<Grant> many = hold(store, "many " + mode, mode, MANY);
            cost(few, FEW, store); // the server has the scripts from now on
            for (int atOnce : List.of(1, FEW)) { // as by a client for each hold, and as by one client for all
                Cost one = cost(few, atOnce, store);
                Cost all = cost(many, atOnce, store);
                System.out.println(mode + ", " + atOnce + " at once: " + FEW + " holders " + one + ", " + MANY
                        + " holders " + all);
                assertThat(all.commands).as("commands").isLessThanOrEqualTo(one.commands + 1);
                assertThat(all.bytes).as("bytes written").isLessThanOrEqualTo(one.bytes * 1.5);
            }
            Cost pass = cost(many, MANY, store);
            assertThat(pass.commands).as("commands for a hold in a pass").isLessThanOrEqualTo(5);
            System.out.println(mode + ", a pass of " + MANY + ": " + pass);
            many.forEach(grant -> assertThat(store.release(grant)).isTrue());
            few.forEach(grant -> assertThat(store.release(grant)).isTrue());
            assertThat(admin.keys()).isEmpty();
        }
    }

    private static List<Grant> hold(RedisStore store, String name, Mode mode, int count) {
        List<Grant> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Claim claim = claim(store, name, mode);
            holds.add(Grant.of(claim, (Answer.Granted) store.claim(claim)));
        }
        return holds;
    }
}
