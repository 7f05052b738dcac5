// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.NameCodec;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several hold a name, and part of what records that is gone: they hold nothing any more, and others never hold it together with them. */
class LostCrowdTest { // H115
    private static final int LIMIT = 3;
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(1_500);

    private static RedisServer server;
    private static Admin admin;
    private static RedisStore store;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        admin = new Admin(server);
        store = RedisFixture.open("redis://" + server.address() + "?operationTimeout=20s");
    }

    @AfterAll
    static void end() {
        store.close();
        server.close();
    }

    /** What is lost of a name that several hold. */
    private enum Loss {
        ENDS,
        RECORD,
        BOTH;

        void happen(String name) {
            if (this != RECORD) {
                assertThat(admin.ask("DEL", ends(name))).isEqualTo(1L);
            }
            if (this != ENDS) {
                assertThat(admin.ask("HDEL", Admin.names(name), NameCodec.encode(name)))
                        .isEqualTo(1L);
            }
        }
    }

    private static String ends(String name) {
        return Admin.text(new Keys("lockkeeper").ofName(name).get(2));
    }

    private static String entries(String name) {
        return Admin.text(new Keys("lockkeeper").ofName(name).get(3));
    }

    /** By another client each time. */
    private static Claim claim(String name, Mode mode, Duration lease) {
        int limit = mode == Mode.PERMITS ? LIMIT : 0;
        Terms terms = new Terms(mode, 1, limit, lease, Duration.ZERO, MINUTE, 1, true, "test", "");
        ClaimId id = new ClaimId(UUID.randomUUID().toString(), 1);
        return new Claim(name, id, terms, store.time(store.lane(name)).plusMicros(600_000_000), false);
    }

    private static Grant hold(String name, Mode mode, Duration lease) {
        Claim claim = claim(name, mode, lease);
        Answer answer = store.claim(claim);
        assertThat(answer).isInstanceOf(Answer.Granted.class);
        return Grant.of(claim, (Answer.Granted) answer);
    }

    private static Claim queue(String name, Mode mode) {
        Claim claim = claim(name, mode, MINUTE);
        assertThat(store.claim(claim)).isInstanceOf(Answer.Queued.class);
        return claim;
    }

    private static Renewal.Outcome renew(Grant hold) {
        return store.renew(new Renewals(List.of(new Renewals.Hold(hold, MINUTE, 0)), List.of()))
                .holds()
                .get(0);
    }

    private static Answer refresh(Claim claim) {
        return store.renew(new Renewals(List.of(), List.of(claim))).queued().get(0);
    }

    private static Grant granted(Claim claim) {
        Answer answer = refresh(claim);
        assertThat(answer).isInstanceOf(Answer.Granted.class);
        return Grant.of(claim, (Answer.Granted) answer);
    }

    private static boolean isInForce(Grant hold) {
        return store.check(new Sequencer(hold.claim().name(), hold.mode(), hold.token()));
    }

    private static void isOver(Grant hold) {
        String name = hold.claim().name();
        assertThat(isInForce(hold)).as("check").isFalse();
        assertThat(renew(hold)).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
        assertThat(store.downgrade(hold)).as("downgrade").isEmpty();
        assertThat(store.breakHold(name, hold.token(), Duration.ZERO, true))
                .as("break")
                .isFalse();
        assertThat(store.release(hold)).as("release").isFalse();
    }

    private static void goesOn(Grant hold) {
        assertThat(renew(hold)).isInstanceOf(Renewal.Kept.class);
        assertThat(isInForce(hold)).isTrue();
    }

    private static List<Long> holders(String name) {
        return store.inspect(name).stream()
                .flatMap(info -> info.holders().stream())
                .map(LockInfo.Hold::token)
                .toList();
    }

    private static void nothingIsLeft(String name) {
        assertThat(admin.keys().stream().filter(key -> key.endsWith(":" + NameCodec.encode(name))))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void readersAreNotRevivedWhileAWriterHolds(Loss loss) {
        String name = "readers " + loss;
        List<Grant> readers = List.of(hold(name, Mode.SHARED, MINUTE), hold(name, Mode.SHARED, MINUTE));
        Claim early = queue(name, Mode.EXCLUSIVE);
        loss.happen(name);
        Grant writer;
        Claim next;
        if (loss == Loss.ENDS) { // the queue is as it was
            next = queue(name, Mode.EXCLUSIVE);
            writer = granted(early);
        } else {
            writer = hold(name, Mode.EXCLUSIVE, MINUTE);
            next = queue(name, Mode.EXCLUSIVE);
        }
        goesOn(writer);
        readers.forEach(LostCrowdTest::isOver);
        goesOn(writer);
        assertThat(holders(name)).containsExactly(writer.token());
        assertThat(store.release(writer)).isTrue();
        readers.forEach(LostCrowdTest::isOver);
        assertThat(store.release(granted(next))).isTrue();
        for (byte[] key : new Keys("lockkeeper").ofName(name)) {
            assertThat(admin.ask("PTTL", Admin.text(key)))
                    .as("what is left of the queue or the crowd expires")
                    .isNotEqualTo(-1L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readersAreNotRevivedAmongLaterReaders(Loss loss) {
        String name = "later readers " + loss;
        List<Grant> readers = List.of(hold(name, Mode.SHARED, MINUTE), hold(name, Mode.SHARED, MINUTE));
        loss.happen(name);
        List<Grant> later = List.of(hold(name, Mode.SHARED, MINUTE), hold(name, Mode.SHARED, MINUTE));
        Claim writer = queue(name, Mode.EXCLUSIVE);
        readers.forEach(LostCrowdTest::isOver);
        later.forEach(LostCrowdTest::goesOn);
        assertThat(store.release(later.get(0))).isTrue();
        readers.forEach(LostCrowdTest::isOver);
        assertThat(refresh(writer)).as("while a reader holds it").isInstanceOf(Answer.Queued.class);
        goesOn(later.get(1));
        assertThat(store.release(later.get(1))).isTrue();
        assertThat(store.release(granted(writer))).isTrue();
        nothingIsLeft(name);
    }

    @ParameterizedTest
    @EnumSource
    void aSemaphoreNeverGivesMoreThanItsPermits(Loss loss) {
        String name = "permits " + loss;
        List<Grant> first = List.of(hold(name, Mode.PERMITS, MINUTE), hold(name, Mode.PERMITS, MINUTE));
        loss.happen(name);
        List<Grant> later = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            later.add(hold(name, Mode.PERMITS, MINUTE));
        }
        Claim next = queue(name, Mode.PERMITS);
        first.forEach(LostCrowdTest::isOver);
        later.forEach(LostCrowdTest::goesOn);
        assertThat(holders(name)).hasSize(LIMIT);
        assertThat(refresh(next)).isInstanceOf(Answer.Queued.class);
        assertThat(store.release(later.remove(0))).isTrue();
        later.add(granted(next));
        first.forEach(LostCrowdTest::isOver);
        later.forEach(LostCrowdTest::goesOn);
        assertThat(holders(name)).hasSize(LIMIT);
        later.forEach(hold -> assertThat(store.release(hold)).isTrue());
        nothingIsLeft(name);
    }

    /** Nobody reaches the server until the keys of the crowd have expired, while claims are queued; then late renewals come. */
    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"SHARED", "PERMITS"})
    void aRenewalThatComesMuchTooLateRevivesNothing(Mode mode) throws Exception {
        String name = "late " + mode;
        int count = mode == Mode.PERMITS ? LIMIT : 2;
        List<Grant> first = new ArrayList<>();
        List<Claim> queued = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            first.add(hold(name, mode, SHORT));
        }
        Mode waiting = mode == Mode.PERMITS ? mode : Mode.EXCLUSIVE;
        for (int i = 0; i < count; i++) {
            queued.add(queue(name, waiting));
        }
        Admin.await("the keys of the crowd expire", () -> admin.ask("EXISTS", ends(name))
                .equals(0L));
        assertThat(admin.ask("EXISTS", entries(name))).as("the queue is there").isEqualTo(1L);
        assertThat(renew(first.get(0))).isEqualTo(new Renewal.Lost(LeaseLost.Reason.EXPIRED));
        first.forEach(LostCrowdTest::isOver);
        Grant next = granted(queued.get(0));
        assertThat(holders(name)).contains(next.token()).hasSizeLessThanOrEqualTo(LIMIT);
        for (int i = 1; i < count; i++) {
            Answer answer = refresh(queued.get(i));
            assertThat(answer).isInstanceOf(mode == Mode.PERMITS ? Answer.Granted.class : Answer.Queued.class);
        }
        first.forEach(LostCrowdTest::isOver);
        goesOn(next);
        queued.forEach(store::withdraw);
        nothingIsLeft(name);
    }

    @Test
    void aLateRenewalAndItsReleaseAdmitNoWriterWhileReadersHold() throws Exception {
        String name = "uncounted";
        Grant late = hold(name, Mode.SHARED, SHORT);
        hold(name, Mode.SHARED, SHORT);
        List<Claim> writers = List.of(queue(name, Mode.EXCLUSIVE), queue(name, Mode.EXCLUSIVE));
        Admin.await("the keys of the crowd expire", () -> admin.ask("EXISTS", ends(name))
                .equals(0L));
        renew(late);
        writers.forEach(store::withdraw);
        List<Grant> readers = List.of(hold(name, Mode.SHARED, MINUTE), hold(name, Mode.SHARED, MINUTE));
        Claim writer = queue(name, Mode.EXCLUSIVE);
        store.release(late);
        assertThat(store.release(readers.get(0))).isTrue();
        assertThat(refresh(writer)).as("while a reader holds it").isInstanceOf(Answer.Queued.class);
        goesOn(readers.get(1));
        assertThat(store.release(readers.get(1))).isTrue();
        assertThat(store.release(granted(writer))).isTrue();
        nothingIsLeft(name);
    }
}
