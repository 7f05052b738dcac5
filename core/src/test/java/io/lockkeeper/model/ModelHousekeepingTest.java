// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.StoreTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is left behind, what is shown, and that the model is a function of its commands. */
final class ModelHousekeepingTest {
    private final Bench bench = new Bench();

    @Test
    void namesThatNobodyTouchesAnyMoreAreSweptAway() {
        for (int i = 0; i < 500; i++) {
            bench.send(bench.claim("a", "name" + i, Bench.terms(Mode.EXCLUSIVE)));
            bench.send(bench.claim("b", "name" + i, Bench.terms(Mode.EXCLUSIVE)));
        }
        assertThat(bench.model.size()).isEqualTo(500);
        bench.pass(Bench.PATIENCE.toMillis() + Bench.LEASE.toMillis());
        for (int i = 0; i < 3_000 && bench.model.size() > 0; i++) {
            bench.inspect();
        }
        assertThat(bench.model.size()).isZero();
    }

    @Test
    void aLockDelayIsNotSweptAwayBeforeItsTime() {
        bench.send(bench.claim("a", "x", Bench.leased(Bench.terms(Mode.EXCLUSIVE), Bench.LEASE, Duration.ofHours(1))));
        bench.pass(Bench.LEASE.toMillis());
        for (int i = 0; i < 3_000; i++) {
            bench.inspect();
        }
        assertThat(bench.send(bench.writer("b"))).isInstanceOf(Answer.Queued.class);
    }

    @Test
    void theSignalsOfAStepDoNotGrowWithLaterSteps() {
        Model model = new Model(Bench.INCARNATION);
        Model.Step<?> quiet = model.apply(new Command.Inspect("x"), 1_000_000);
        StoreTime deadline = new StoreTime(Bench.INCARNATION, Long.MAX_VALUE);
        Claim holder = new Claim("x", new ClaimId("a", 1), Bench.terms(Mode.EXCLUSIVE), deadline, false);
        Claim waiter = new Claim("x", new ClaimId("b", 1), Bench.terms(Mode.EXCLUSIVE), deadline, false);
        model.apply(new Command.Claim(holder), 1_000_001);
        model.apply(new Command.Claim(waiter), 1_000_002);
        Model.Step<?> handOver = model.apply(new Command.Withdraw(holder), 1_000_003);
        assertThat(handOver.signals()).hasSize(1);
        assertThat(quiet.signals()).isEmpty();
    }

    @Test
    void timeNeverRunsBackwards() {
        Model model = new Model(Bench.INCARNATION);
        model.apply(new Command.Inspect("x"), 5_000_000);
        model.apply(new Command.Inspect("x"), 1_000_000);
        assertThat(model.time()).isEqualTo(new StoreTime(Bench.INCARNATION, 5_000_000));
    }

    @Test
    void aListIsInOrderWithinThePrefixAndTheLimit() {
        for (String name : List.of("b2", "a1", "b1", "b3", "B0")) {
            bench.send(bench.claim("a", name, Bench.terms(Mode.EXCLUSIVE)));
        }
        assertThat(bench.apply(new Command.ListNames("b", 2)))
                .extracting(LockInfo::name)
                .containsExactly("b1", "b2");
        assertThat(bench.apply(new Command.ListNames("", 100))).hasSize(5);
        bench.pass(Bench.LEASE.toMillis());
        assertThat(bench.apply(new Command.ListNames("", 100)))
                .as("what has expired is not in use")
                .isEmpty();
    }

    @Test
    void inspectionShowsHoldersAndWaiters() {
        bench.grant(bench.claim("a", "x", Bench.permits(2, 3)));
        bench.send(bench.claim("b", "x", Bench.permits(2, 3)));
        bench.pass(1_000);
        LockInfo info = bench.inspect().orElseThrow();
        assertThat(info.mode()).isEqualTo(Mode.PERMITS);
        assertThat(info.limit()).isEqualTo(3);
        assertThat(info.waiters()).isEqualTo(1);
        assertThat(info.closedFor()).isZero();
        assertThat(info.holders()).singleElement().satisfies(hold -> {
            assertThat(hold.client()).isEqualTo("someone");
            assertThat(hold.permits()).isEqualTo(2);
            assertThat(hold.since().toEpochMilli()).isEqualTo(1_000);
            assertThat(hold.expiresIn()).isEqualTo(Bench.LEASE.minusSeconds(1));
        });
    }

    /** Random commands on two models that began alike, and on a copy that goes another way in between. */
    @Test
    void theSameCommandsGiveTheSameAnswersAndACopyGoesItsOwnWay() {
        for (int seed = 0; seed < 50; seed++) {
            Model one = new Model(Bench.INCARNATION);
            Model two = new Model(Bench.INCARNATION);
            List<Command<?>> commands = commands(new Random(seed), 300);
            for (int i = 0; i < commands.size(); i++) {
                long at = 1_000_000 + i * 150_000L;
                Model aside = one.copy();
                Model.Step<?> first = one.apply(commands.get(i), at);
                assertThat(two.apply(commands.get(i), at))
                        .as("seed %d, command %d", seed, i)
                        .isEqualTo(first);
                aside.apply(commands.get((i + 7) % commands.size()), at + 20_000_000);
                if (i % 50 == 0) {
                    Model copy = two.copy();
                    assertThat(copy.size()).isEqualTo(two.size());
                    assertThat(copy.time()).isEqualTo(two.time());
                    two = copy; // a copy goes on as the original would have
                }
            }
        }
    }

    private static List<Command<?>> commands(Random random, int count) {
        List<Command<?>> commands = new ArrayList<>();
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long micros = 1_000_000 + i * 150_000L;
            if (claims.isEmpty() || random.nextInt(3) == 0) {
                Mode mode = random.nextInt(3) == 0 ? Mode.SHARED : Mode.EXCLUSIVE;
                Claim claim = new Claim(
                        "n" + random.nextInt(3),
                        new ClaimId("c" + random.nextInt(3), i),
                        Bench.leased(Bench.terms(mode), Duration.ofSeconds(2), Duration.ofSeconds(random.nextInt(2))),
                        new StoreTime(Bench.INCARNATION, micros + 2_000_000),
                        random.nextInt(4) == 0);
                claims.add(claim);
                commands.add(new Command.Claim(claim));
                continue;
            }
            Claim claim = claims.get(random.nextInt(claims.size()));
            Grant grant = new Grant(claim, claim.terms().mode(), 1 + random.nextInt(100), 4);
            commands.add(
                    switch (random.nextInt(9)) {
                        case 0 -> new Command.Claim(claim.asStray());
                        case 1 -> new Command.Release(grant);
                        case 2 -> new Command.Withdraw(claim.asStray());
                        case 3 ->
                            new Command.Renew(new Renewals(
                                    List.of(new Renewals.Hold(grant, Duration.ofSeconds(2), 0)), List.of(claim)));
                        case 4 -> new Command.Downgrade(grant);
                        case 5 ->
                            new Command.Break(
                                    claim.name(), grant.token(), Duration.ofMillis(300), random.nextBoolean());
                        case 6 -> new Command.Inspect(claim.name());
                        case 7 ->
                            new Command.Latch(new LatchStep.Set(
                                    claim.name(), 2, claim.id(), new StoreTime(Bench.INCARNATION, micros + 2_000_000)));
                        default ->
                            new Command.Latch(new LatchStep.CountDown(
                                    claim.name(),
                                    new ClaimId("d", i),
                                    new StoreTime(Bench.INCARNATION, micros + 2_000_000)));
                    });
        }
        return commands;
    }
}
