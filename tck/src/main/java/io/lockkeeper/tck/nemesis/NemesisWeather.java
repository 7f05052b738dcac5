// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.tck.history.Chaos;
import io.lockkeeper.tck.support.Pauses;
import io.lockkeeper.testkit.Fate;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.LateStep;
import io.lockkeeper.testkit.SignalFate;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What goes wrong between one client and its store. Phases of different weather follow each other, each for some kinds of
 * steps only: a failure matters most where the steps before it succeeded. Failures may outlast the operation timeout;
 * one step never does, which is what every store promises.
 */
final class NemesisWeather implements Runnable {
    /** Thrown by a step as if the store had a defect. */
    static final class Defect extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Defect() {
            super("injected: a defect of the store");
        }
    }

    /** Thrown by a step as if the machine were at its limits. */
    static final class Exhausted extends Error {
        private static final long serialVersionUID = 1L;

        Exhausted() {
            super("injected: the machine is exhausted");
        }
    }

    private static final StepKind[] KINDS = {
        StepKind.CLAIM,
        StepKind.CLAIM,
        StepKind.DOWNGRADE,
        StepKind.DOWNGRADE,
        StepKind.RELEASE,
        StepKind.RENEW,
        StepKind.WITHDRAW
    };

    /** The longest phase; one that outlasts a long operation timeout is rare. */
    private static final long LONGEST_MILLIS = 1_200;

    private static final List<SignalFate> SIGNALS = List.of(SignalFate.values());

    private static final ClaimId NOBODY = new ClaimId("", 0);

    /** Faults that were asked for and not met yet must not pile up. */
    private static final int MOST_LATE = 3;

    private final FaultyStore store;
    private final Random random;
    private final long leaseMillis;
    private final long timeoutMillis;
    private final BooleanSupplier goesOn;
    private final Deque<LateStep> late = new ArrayDeque<>();

    /** Steps whose first copy was carried out, and what becomes of their repeats. */
    private final Map<Repeated, Repeats> cut = new ConcurrentHashMap<>();

    private record Repeats(long lostUntil, boolean refused) {}

    /** What copies of one step have in common. */
    private record Repeated(StepKind kind, ClaimId claim) {}

    NemesisWeather(NemesisClient client, Duration lease, Random random, BooleanSupplier goesOn) {
        this.store = client.store;
        this.leaseMillis = lease.toMillis();
        this.timeoutMillis = client.operationTimeout.toMillis();
        this.random = random;
        this.goesOn = goesOn;
    }

    @Override
    public void run() {
        try {
            while (goesOn.getAsBoolean()) {
                phase();
                deliverLate(late.size() / 2);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            store.calm();
            deliverLate(0);
        }
    }

    private void phase() throws InterruptedException {
        Set<StepKind> kinds = someKinds();
        store.disturbSignals(signals(random.nextInt(4)));
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> stay(200);
            case 4, 5 -> {
                double often = 0.05 + random.nextDouble() / 3;
                disturb(kinds, often, this::any);
                stay(200);
            }
            case 6 -> {
                disturb(kinds, 0.3, this::slow);
                stay(Math.max(200, timeoutMillis));
            }
            case 7 -> {
                disturb(kinds, 1, Fate::requestLost);
                stay(2 * timeoutMillis);
            }
            case 8 -> {
                store.down();
                stay(timeoutMillis);
                store.up();
            }
            default -> {
                kinds.add(StepKind.DOWNGRADE); // the only step that changes a hold which others share
                if (leaseMillis < timeoutMillis) {
                    kinds.add(StepKind.CLAIM); // a claim may be granted, and the grant end, before the answer comes
                }
                store.disturb((kind, argument) -> cutOff(kinds, kind, argument));
                stay(600);
            }
        }
        store.deliverSignals(random);
    }

    /**
     * The first copy of a step is carried out and its reply lost; for a while its repeats are lost, or the first of them is
     * refused, whatever becomes of other steps. What was done is known to the store alone, perhaps until the caller has
     * given up.
     */
    private Fate cutOff(Set<StepKind> kinds, StepKind kind, Object argument) {
        Repeated step = new Repeated(kind, claimOf(argument));
        long now = System.nanoTime();
        Repeats repeats = cut.get(step);
        if (repeats != null) {
            return now - repeats.lostUntil >= 0
                    ? Fate.answered()
                    : repeats.refused ? Fate.broken(new Defect(), false) : Fate.requestLost();
        }
        if (!kinds.contains(kind)
                || step.claim.equals(NOBODY)
                || random.nextInt(kind == StepKind.DOWNGRADE ? 2 : 3) != 0) {
            return Fate.answered();
        }
        boolean refused = random.nextInt(kind == StepKind.CLAIM ? 4 : 2) == 0;
        cut.put(step, new Repeats(now + cutOffMillis() * 1_000_000, refused));
        return Fate.replyLost();
    }

    /** Sometimes longer than the caller repeats it; at least as long as a first lease, where that is shorter. */
    private long cutOffMillis() {
        long least = leaseMillis < timeoutMillis ? leaseMillis : timeoutMillis / 3;
        long most = timeoutMillis + timeoutMillis / 4;
        return least + random.nextLong(most - least);
    }

    private static ClaimId claimOf(Object argument) {
        if (argument instanceof Claim claim) {
            return claim.id();
        }
        return argument instanceof Grant grant ? grant.claim().id() : NOBODY;
    }

    /** One kind, or several. */
    private Set<StepKind> someKinds() {
        Set<StepKind> kinds = EnumSet.of(KINDS[random.nextInt(KINDS.length)]);
        for (int more = random.nextInt(4); more > 1; more--) {
            kinds.add(KINDS[random.nextInt(KINDS.length)]);
        }
        return random.nextInt(6) == 0 ? EnumSet.allOf(StepKind.class) : kinds;
    }

    private void disturb(Set<StepKind> kinds, double often, Supplier<Fate> fates) {
        store.disturb((kind, argument) ->
                kinds.contains(kind) && random.nextDouble() < often ? fates.get() : Fate.answered());
    }

    private Fate any() {
        return switch (random.nextInt(12)) {
            case 0 -> Fate.broken(new Defect(), random.nextBoolean());
            case 1 -> Fate.broken(new Exhausted(), random.nextBoolean());
            case 2, 3 -> slow();
            case 4, 5, 6, 7 -> Fate.requestLost();
            default -> Fate.replyLost();
        };
    }

    private Fate slow() {
        Duration delay = Duration.ofMillis(random.nextLong(timeoutMillis * 9 / 10));
        Fate fate = random.nextBoolean() ? Fate.replyLost() : Fate.answered();
        return random.nextInt(3) == 0 ? fate.sentAfter(delay) : fate.answeredAfter(delay);
    }

    private Supplier<SignalFate> signals(int weather) {
        return switch (weather) {
            case 0 -> () -> SIGNALS.get(random.nextInt(SIGNALS.size()));
            case 1 -> () -> random.nextInt(3) == 0 ? SignalFate.LOST : SignalFate.DELIVERED;
            default -> () -> SignalFate.DELIVERED;
        };
    }

    /** Lets the phase last, for a random part of that time; now and then, what was kept back comes. */
    private void stay(long atMostMillis) throws InterruptedException {
        long longest = random.nextInt(5) == 0 ? 3 * LONGEST_MILLIS : LONGEST_MILLIS;
        long millis = 1 + random.nextLong(Math.min(atMostMillis, longest));
        long until = System.nanoTime() + millis * 1_000_000;
        while (goesOn.getAsBoolean() && System.nanoTime() < until) {
            Pauses.whileFaultLasts(Duration.ofMillis(Math.min(millis, 1 + random.nextInt(40))));
            if (random.nextInt(4) == 0) {
                store.deliverSignals(random);
            }
            if (random.nextInt(10) == 0 && late.size() < MOST_LATE) {
                late.add(store.sendLate(KINDS[random.nextInt(KINDS.length)]));
            }
        }
        // A step that was cut off stays so.
        store.disturb((kind, argument) -> cutOff(Set.of(), kind, argument));
    }

    /** Lets copies arrive whose senders have given up. */
    private void deliverLate(int except) {
        while (late.size() > except) {
            Chaos.arrive(late.removeFirst());
        }
    }
}
