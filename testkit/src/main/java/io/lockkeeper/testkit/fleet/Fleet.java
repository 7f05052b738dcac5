// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.testkit.history.Handovers;
import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryChecker;
import io.lockkeeper.testkit.history.HistoryLog;
import io.lockkeeper.testkit.history.Rule;
import io.lockkeeper.testkit.history.Violation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Several processes with several threads each use the same few locks on one store, in every way, while clients are
 * killed ({@code kill -9}) and paused ({@code SIGSTOP}) and the store suffers the faults of the plan. Afterwards everything must
 * be free again, and the history of all of them must be one that correct locks could have had. As a control, a paused holder
 * writes late on purpose: the fence must reject it, and a storage without a fence must be seen to have been damaged.
 *
 * <p>It ends by itself, and leaves no process; logs stay in the folder of the plan.
 */
public final class Fleet implements AutoCloseable {
    static final String LOCK = "fleet-lock";
    static final String READ_WRITE_LOCK = "fleet-read-write";
    static final String SEMAPHORE = "fleet-semaphore";

    /** For everything to be free again after the last fault, and for waits that were due while a process was paused. */
    private static final Duration RECOVERY = Duration.ofSeconds(60);

    private final FleetPlan plan;
    private final Random random;
    private final List<MemberProcess> members = new ArrayList<>();
    private final Map<String, Integer> faults = new TreeMap<>();
    private final List<String> complaints = new ArrayList<>();

    /** When members were killed, by their logs. */
    private final Map<Path, Long> killed = new HashMap<>();

    private int starts;

    private Fleet(FleetPlan plan) {
        this.plan = plan;
        this.random = new Random(plan.seed());
    }

    /**
     * Carries out the plan.
     *
     * @throws IllegalStateException if a member does not start or does not answer
     */
    public static FleetReport run(FleetPlan plan) throws Exception {
        try (Fleet fleet = new Fleet(plan)) {
            return fleet.run();
        }
    }

    private FleetReport run() throws Exception {
        for (int i = 0; i < plan.members(); i++) {
            members.add(start(i));
        }
        for (MemberProcess member : members) {
            awaitAnswer(member, "ready");
        }
        storm();
        control();
        Guarantees guarantees = takeEverything();
        for (MemberProcess member : members) {
            member.send("stop");
        }
        for (MemberProcess member : members) {
            awaitAnswer(member, "ended");
        }
        return report(guarantees);
    }

    private MemberProcess start(int number) throws IOException {
        return new MemberProcess(plan, number, starts++, random.nextLong());
    }

    /** Waits for one of these answers; what a member complains about is recorded. */
    private String awaitAnswer(MemberProcess member, String... expected) throws InterruptedException {
        for (; ; ) {
            String answer = member.answer();
            if (answer.startsWith("complaint ")) {
                complaints.add(answer);
            } else if (List.of(expected).contains(answer)) {
                return answer;
            }
        }
    }

    // ---- Faults ----

    private void storm() throws Exception {
        long end = System.nanoTime() + plan.storm().toNanos();
        while (System.nanoTime() < end) {
            rest(100, 600);
            int dice = random.nextInt(2 + 2 * plan.faults().size());
            if (dice == 0) {
                kill(random.nextInt(members.size()));
            } else if (dice == 1) {
                pause(members.get(random.nextInt(members.size())));
            } else {
                inflict(plan.faults().get(random.nextInt(plan.faults().size())));
            }
        }
    }

    private void inflict(FleetFault fault) throws Exception {
        note(fault.name());
        try {
            fault.inflict();
            rest(50, 1_500);
        } finally {
            fault.heal();
        }
    }

    private void kill(int number) throws Exception {
        note("client killed");
        MemberProcess member = members.get(number);
        killed.put(member.log(), System.nanoTime());
        member.kill();
        rest(0, 300);
        members.set(number, start(number));
    }

    private void pause(MemberProcess member) throws Exception {
        note("client paused");
        pauseWell(member);
        rest(100, 3_000);
        member.resume();
    }

    private void pauseWell(MemberProcess member) throws IOException, InterruptedException {
        member.pause();
        while (!plan.letsOthersIn().getAsBoolean()) {
            member.resume();
            rest(1, 10);
            member.pause();
        }
    }

    private void note(String fault) {
        faults.merge(fault, 1, Integer::sum);
    }

    private void rest(int least, int most) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(least + random.nextInt(most - least));
    }

    // ---- The control ----

    /** A holder is paused until its lease is over and another has the lock; then it writes. */
    private void control() throws Exception {
        MemberProcess late = members.get(0);
        MemberProcess next = members.get(1);
        ask(late, "hold", "written");
        pauseWell(late);
        try {
            ask(next, "hold", "written");
        } finally {
            late.resume();
        }
        ask(late, "write", "refused");
    }

    private void ask(MemberProcess member, String command, String expected) throws IOException, InterruptedException {
        member.send(command);
        String answer = awaitAnswer(member, "written", "refused", "failed");
        if (!answer.equals(expected)) {
            complaints.add("the control's " + command + " was " + answer + ", not " + expected);
        }
    }

    // ---- The end ----

    /** Nothing may be left. */
    private Guarantees takeEverything() throws InterruptedException {
        try (Lockkeeper keeper = untilUp(() -> Lockkeeper.connect(plan.url()))) {
            LockOptions options = RandomUser.keptAlive(keeper.guarantees());
            give(untilUp(() -> keeper.lock(LOCK, options).tryAcquire(RECOVERY)), LOCK);
            if (keeper.guarantees().has(Guarantee.SHARED)) {
                give(untilUp(() -> keeper.lock(READ_WRITE_LOCK, options).tryAcquire(RECOVERY)), READ_WRITE_LOCK);
            }
            if (keeper.guarantees().has(Guarantee.PERMITS)) {
                int all = FleetMember.PERMITS;
                give(untilUp(() -> keeper.semaphore(SEMAPHORE, all, options).tryAcquire(all, RECOVERY)), SEMAPHORE);
            }
            return keeper.guarantees();
        }
    }

    /** A step that the store may not be there for just now. */
    interface Step<T> {
        T make() throws InterruptedException;
    }

    /** Repeats a step until the store is there for it; it has a while to recover. */
    static <T> T untilUp(Step<T> step) throws InterruptedException {
        long deadline = System.nanoTime() + RECOVERY.toNanos();
        for (; ; ) {
            try {
                return step.make();
            } catch (StoreUnavailableException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    private void give(Optional<Lease> all, String name) {
        if (all.isEmpty()) {
            complaints.add(name + " was never free again");
        } else if (!all.get().release()) {
            complaints.add(name + " was lost in the end");
        }
    }

    private FleetReport report(Guarantees guarantees) {
        List<Path> logs = new ArrayList<>(new SharedStorage(plan.folder().resolve("fenced"), true).logs());
        try (Stream<Path> files = Files.list(plan.folder())) {
            files.filter(f -> f.toString().endsWith(".log")).forEach(logs::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        History history = HistoryLog.merged(logs, killed);
        HistoryChecker checker = HistoryChecker.everyRule().slack(RECOVERY);
        if (!plan.isExclusive()) {
            checker = checker.overlapping();
        }
        if (!guarantees.has(Guarantee.FENCED)) {
            checker = checker.without(Rule.FENCE, Rule.GUARD);
        }
        List<Violation> control = HistoryChecker.everyRule()
                .check(HistoryLog.merged(new SharedStorage(plan.folder().resolve("unfenced"), false).logs()));
        return new FleetReport(
                Handovers.grants(history),
                faults,
                checker.check(history),
                complaints,
                Handovers.longestIdle(history, LOCK),
                control.stream().anyMatch(v -> v.rule() == Rule.GUARD));
    }

    /** Ends all processes. */
    @Override
    public void close() throws InterruptedException {
        for (MemberProcess member : members) {
            member.kill();
        }
    }
}
