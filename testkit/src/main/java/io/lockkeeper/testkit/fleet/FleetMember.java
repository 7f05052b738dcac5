// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

import io.lockkeeper.Guarantees;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testkit.history.History;
import io.lockkeeper.testkit.history.HistoryLog;
import io.lockkeeper.testkit.history.HistoryMode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One process of a fleet. A {@link MemberProcess} starts it, and tells it on its standard input what to do, one line each: its
 * plan; {@code hold} and {@code write} for the control; {@code stop}, or nothing more, to end.
 */
public final class FleetMember implements Load {
    static final int PERMITS = 3;
    private static final Duration PATIENT = Duration.ofSeconds(30);

    /** So that a few processors are not kept busy by those who wait for nothing: microseconds between two operations. */
    private static final int LONGEST_REST = 10_000;

    private final Lockkeeper keeper;
    private final History history;
    private final SharedStorage fenced;
    private final SharedStorage unfenced;
    private final Queue<String> complaints = new ConcurrentLinkedQueue<>();
    private final Random random;
    private final boolean isExclusive;
    private volatile boolean stopped;
    private @Nullable Lease control;

    private FleetMember(Lockkeeper keeper, Path folder, int number, int start, Random random, boolean isExclusive) {
        this.keeper = keeper;
        this.isExclusive = isExclusive;
        this.history = HistoryLog.recording(MemberProcess.log(folder, number, start));
        this.fenced = new SharedStorage(folder.resolve("fenced"), true);
        this.unfenced = new SharedStorage(folder.resolve("unfenced"), false);
        this.random = random;
        history.declareSemaphore(semaphore(), PERMITS);
    }

    /** Carries out its orders. */
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        System.setOut(System.err); // whatever else is printed is no answer
        String[] plan = Objects.requireNonNull(in.readLine(), "no plan").split(" ");
        Path folder = Path.of(URLDecoder.decode(plan[1], StandardCharsets.UTF_8));
        int number = Integer.parseInt(plan[2]);
        int start = Integer.parseInt(plan[3]);
        Random random = new Random(Long.parseLong(plan[4]));
        String url = URLDecoder.decode(plan[0], StandardCharsets.UTF_8);
        try (Lockkeeper keeper = Fleet.untilUp(() -> Lockkeeper.connect(url))) {
            FleetMember member = new FleetMember(keeper, folder, number, start, random, Boolean.parseBoolean(plan[6]));
            List<Thread> users = member.start(number + "-" + start, Integer.parseInt(plan[5]));
            out.println("ready");
            member.obey(in, out);
            member.stopped = true;
            for (Thread user : users) {
                user.join(2 * PATIENT.toMillis());
                if (user.isAlive()) {
                    member.complain(user.getName() + " has not ended");
                }
            }
            member.history.look();
            member.complaints.forEach(c -> out.println("complaint " + c.replaceAll("\\R", " ")));
            out.println("ended");
            out.flush();
        }
    }

    private List<Thread> start(String name, int threads) {
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            String user = "member" + name + ".thread" + i;
            RandomUser use = new RandomUser(this, keeper, user, new Random(random.nextLong()), true);
            Thread thread = new Thread(
                    () -> {
                        try {
                            use.call();
                        } catch (Throwable e) {
                            complain(user + " ended with " + e);
                        }
                    },
                    user);
            thread.setDaemon(true);
            thread.start();
            users.add(thread);
        }
        return users;
    }

    private void obey(BufferedReader in, PrintStream out) throws IOException {
        for (String line = in.readLine(); line != null && !line.equals("stop"); line = in.readLine()) {
            try {
                out.println(line.equals("hold") ? hold() : writeLate());
            } catch (Exception e) {
                complain("the control failed: " + e);
                out.println("failed");
            }
            out.flush();
        }
    }

    /** Holds the control's lock, and writes under it, as all do; the store may not have recovered yet. */
    private String hold() throws InterruptedException {
        LockOptions options = LockOptions.defaults().lease(shortLease());
        Lease held = Fleet.untilUp(
                        () -> keeper.lock(lock() + "-control", options).tryAcquire(PATIENT))
                .orElseThrow(() -> new IllegalStateException("the control's lock was never free"));
        control = held;
        return write(held);
    }

    private Duration shortLease() {
        Duration shortest = guarantees().shortestLease();
        Duration second = Duration.ofSeconds(1);
        return shortest.compareTo(second) < 0 ? second : shortest;
    }

    /** Writes as one who was stopped after a look at the lease and before the write. */
    private String writeLate() {
        return write(Objects.requireNonNull(control, "nothing is held"));
    }

    private String write(Lease lease) {
        unfenced.write(lease.name(), HistoryMode.EXCLUSIVE, lease.token());
        return fenced.write(lease.name(), HistoryMode.EXCLUSIVE, lease.token()) ? "written" : "refused";
    }

    // ---- The load ----

    @Override
    public boolean next() {
        try {
            TimeUnit.MICROSECONDS.sleep(random.nextInt(LONGEST_REST));
        } catch (InterruptedException e) {
            return false;
        }
        return !stopped;
    }

    @Override
    public boolean write(String lock, HistoryMode mode, long token) {
        return fenced.write(lock, mode, token);
    }

    @Override
    public void complain(String what) {
        complaints.add(what);
    }

    @Override
    public History history() {
        return history;
    }

    @Override
    public boolean isExclusive() {
        return isExclusive;
    }

    @Override
    public Guarantees guarantees() {
        return keeper.guarantees();
    }

    @Override
    public String lock() {
        return Fleet.LOCK;
    }

    @Override
    public String readWriteLock() {
        return Fleet.READ_WRITE_LOCK;
    }

    @Override
    public String semaphore() {
        return Fleet.SEMAPHORE;
    }

    @Override
    public int permits() {
        return PERMITS;
    }

    @Override
    public Duration patient() {
        return PATIENT;
    }
}
