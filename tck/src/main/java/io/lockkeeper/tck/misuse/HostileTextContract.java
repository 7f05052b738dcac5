// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Fence;
import io.lockkeeper.Guarantee;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockInfo;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.tck.support.FaultContract;
import io.lockkeeper.tck.support.Warnings;
import io.lockkeeper.testkit.FaultyStore;
import io.lockkeeper.testkit.StepKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * H77: names, labels and clients' names may be anything, and others choose them. Every text for people has
 * them escaped: they cannot start a new line in a log, nor send commands to a terminal.
 */
@SuppressWarnings("LockNotBeforeTry")
public abstract class HostileTextContract extends FaultContract {
    /** Ends lines (also in Unicode's ways), colours a terminal, rings, deletes, and turns the reading direction round. */
    private static final String HOSTILE =
            "a\nb\rc\u001b[31md\u0085e\u2028f\u2029g\u202eh\u2066i\u0007j\bk\u007fl\u009bm\u200fn"
                    + "\n2026-01-01 00:00:00 ERROR all locks are lost";

    private final Map<String, String> offending = new TreeMap<>();

    private String hostileName() {
        return name(HOSTILE);
    }

    private String hostileClient() {
        return "client of " + HOSTILE;
    }

    private static LockOptions labelled(LockOptions options) {
        return options.label("label " + HOSTILE);
    }

    private Lockkeeper hostileKeeper(FaultyStore store) {
        return keeper(store, b -> b.clientName(hostileClient()).operationTimeout(Duration.ofMillis(200)));
    }

    /** Control characters, line and paragraph separators, and what changes the reading direction. */
    private static boolean isRaw(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default ->
                (c >= 0x202a && c <= 0x202e)
                        || (c >= 0x2066 && c <= 0x2069)
                        || c == 0x200e
                        || c == 0x200f
                        || c == 0x061c;
        };
    }

    private void see(String where, Object shown) {
        String text = String.valueOf(shown);
        if (text.chars().anyMatch(HostileTextContract::isRaw)) {
            StringBuilder readable = new StringBuilder();
            text.chars().forEach(c -> readable.append(isRaw(c) ? String.format(Locale.ROOT, "<%04x>", c) : (char) c));
            offending.put(where, readable.toString());
        }
    }

    /** Looks at an exception and its causes; it must be thrown. */
    private void seeFailure(String where, ThrowingCallable call) {
        Throwable failure = catchThrowable(call);
        assertThat(failure).as(where).isNotNull();
        seeFailure(where, failure);
    }

    private void seeFailure(String where, Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            see(where + ": " + each.getClass().getSimpleName(), each);
        }
    }

    /** All that was seen in a test, so that one run says all there is to mend. */
    @AfterEach
    void nothingRawWasShown() {
        assertThat(offending).isEmpty();
    }

    // ---- Handles ----

    @Test
    void handlesAreShownEscaped() throws Exception {
        Lockkeeper keeper = hostileKeeper(faulty());
        DistributedLock lock = keeper.lock(hostileName(), labelled(longLease()));
        Lease lease = hold(lock);
        assertThat(lease.name()).as("the name itself is as it was given").isEqualTo(hostileName());
        see("keeper", keeper);
        see("options", labelled(longLease()));
        see("lock", lock);
        see("lease", lease);
        see("sequencer", lease.sequencer());
        assertThat(Sequencer.parse(lease.sequencer().toString()).name()).isEqualTo(hostileName());
        see("election", closing(keeper.election(hostileName())));
        DistributedLock all = DistributedLock.all(keeper.lock(name("1" + HOSTILE)), keeper.lock(name("2" + HOSTILE)));
        see("lock of several", all);
        try (Lease both = all.acquire()) {
            see("lease of several", both);
        }
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            DistributedReadWriteLock both = keeper.readWriteLock(hostileName());
            see("read-write lock", both);
            see("read lock", both.readLock());
        }
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            see("semaphore", keeper.semaphore(hostileName(), 2));
        }
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            see("latch", keeper.latch(hostileName()));
        }
        assertThat(lease.release()).isTrue();
        see("released lease", lease);
    }

    @Test
    void threadsAreNamedEscaped() throws Exception {
        Lockkeeper keeper = hostileKeeper(faulty());
        CompletableFuture<String> completing = keeper.lock(hostileName(), kept())
                .acquireAsync()
                .thenApply(lease -> {
                    String thread = Thread.currentThread().getName();
                    lease.close();
                    return thread;
                });
        see("completing thread", get(completing));
        Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(thread -> thread.contains("client of"))
                .forEach(thread -> see("thread", thread));
    }

    // ---- What is reported ----

    @Test
    void inspectionIsShownEscaped() throws Exception {
        Lockkeeper keeper = hostileKeeper(faulty());
        hold(keeper.lock(hostileName(), labelled(longLease())));
        LockInfo info = keeper().inspector().inspect(hostileName()).orElseThrow();
        LockInfo.Hold holder = info.holders().get(0);
        assertThat(info.name()).isEqualTo(hostileName());
        assertThat(holder.client()).isEqualTo(hostileClient());
        assertThat(holder.label()).isEqualTo(labelled(longLease()).label());
        see("info", info);
        see("holder", holder);
    }

    @Test
    void lossIsShownEscaped() throws Exception {
        List<Object> told = new CopyOnWriteArrayList<>();
        Lockkeeper keeper = keeper(store(), b -> b.clientName(hostileClient()).listener(new KeeperListener() {
            @Override
            public void lost(LeaseLost loss) {
                told.add(loss);
            }

            @Override
            public void acquired(Lease lease, Duration waited) {
                told.add(lease.toString());
            }
        }));
        Lease lease = hold(keeper.lock(hostileName(), labelled(fixed(200))));
        LeaseLost loss = get(lossOf(lease));
        assertThat(loss.name()).isEqualTo(hostileName());
        see("loss", loss);
        see("lost lease", lease);
        await("it is notified", () -> told.contains(loss));
        told.forEach(event -> see("event", event));
        seeFailure("ensureValid", lease::ensureValid);
        seeFailure("close", lease::close);
    }

    @Test
    void logsAreWrittenEscaped() throws Exception {
        Warnings warnings = closing(new Warnings());
        Lockkeeper keeper = hostileKeeper(faulty());
        hold(keeper.lock(hostileName(), labelled(fixed(200))));
        await("a loss that nobody listens to is logged", () -> !logged(warnings).isEmpty());
        Thread thread =
                new Thread(() -> keeper.lock(name("owner" + HOSTILE), kept()).lock(), "owner " + HOSTILE);
        thread.start();
        thread.join();
        await("a hold that nobody can release is logged", () -> logged(warnings).stream()
                .anyMatch(record -> record.message().contains(name("owner"))));
        for (Warnings.Logged record : logged(warnings)) {
            see("log", record.message());
            seeFailure("logged exception", record.thrown() == null ? new Throwable() : record.thrown());
        }
    }

    private List<Warnings.Logged> logged(Warnings warnings) {
        return warnings.of(name("")); // as far as names begin in the same way
    }

    // ---- What is thrown ----

    @Test
    void misuseIsReportedEscaped() throws Exception {
        Lockkeeper keeper = hostileKeeper(faulty());
        DistributedLock lock =
                keeper.lock(hostileName(), labelled(LockOptions.defaults().lease(Duration.ofSeconds(6))));
        seeFailure("unlock of what is not held", lock::unlock);
        seeFailure("lease of what is not held", lock::lease);
        lock.lock();
        seeFailure("acquire of what this thread locked", lock::acquire);
        Lease lease = lock.lease();
        seeFailure("renew of what is kept alive", () -> lease.renew(Duration.ofSeconds(10)));
        Lockkeeper other = hostileKeeper(faulty());
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            seeFailure(
                    "conflicting use", () -> other.semaphore(hostileName(), 2).tryAcquire());
            seeFailure(
                    "conflicting look", () -> other.semaphore(hostileName(), 2).availablePermits());
        }
        assertThat(other.inspector().breakHoldNow(hostileName(), lease.token(), Duration.ZERO))
                .isTrue();
        await("the holder knows", () -> !lease.isValid());
        seeFailure("lock of what was lost", lock::lock);
        seeFailure("unlock of what was lost", lock::unlock);
        seeFailure("the same lock twice", () -> DistributedLock.all(lock, lock));
        seeFailure("a name that is too long", () -> keeper.lock(HOSTILE + "x".repeat(600)));
        seeFailure("a lone surrogate", () -> keeper.lock(HOSTILE + "\ud83d"));
        seeFailure("no sequencer", () -> Sequencer.parse(HOSTILE));
        seeFailure("no mode", () -> Sequencer.parse("lk1:" + HOSTILE + ":1:x"));
        seeFailure("no token", () -> Sequencer.parse("lk1:X:" + HOSTILE + ":x"));
        seeFailure("a label that is too long", () -> LockOptions.defaults().label(HOSTILE.repeat(20)));
        seeFailure("no URL", () -> Lockkeeper.connect(HOSTILE + ":x"));
        seeFailure("no option", () -> Lockkeeper.connect("memory:x?" + HOSTILE + "=1"));
        Fence.Marks marks = Fence.Marks.NONE.enter(new Sequencer(hostileName(), Mode.EXCLUSIVE, 2));
        seeFailure("a stale token", () -> marks.enter(new Sequencer(hostileName(), Mode.EXCLUSIVE, 1)));
        seeFailure("permits at a fence", () -> marks.enter(new Sequencer(hostileName(), Mode.PERMITS, 3)));
        if (keeper.guarantees().has(Guarantee.SHARED)) {
            DistributedReadWriteLock both = keeper.readWriteLock(name("rw" + HOSTILE));
            both.readLock().lock();
            seeFailure("upgrade", both.writeLock()::lock);
            seeFailure("unlock of the other mode", both.writeLock()::unlock);
            both.readLock().unlock();
        }
    }

    @Test
    void outagesAreReportedEscaped() throws Exception {
        Lockkeeper holder = keeper();
        hold(holder.lock(hostileName(), longLease()));
        FaultyStore store = faulty();
        closing(store::up);
        Lockkeeper keeper = keeper(store, b -> b.clientName(hostileClient())
                .operationTimeout(Duration.ofMillis(100))
                .patience(LONG));
        Future<Lease> waiting =
                keeper.lock(hostileName(), labelled(longLease())).acquireAsync();
        if (holder.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(holder, hostileName(), 1);
            store.fail(StepKind.RENEW, StoreUnavailableException.lasting("the password was changed", null));
            await("its refresh fails", () -> {
                store.up(); // a reconnect; again, as its claim may not have been answered yet
                return waiting.isDone();
            });
            seeFailure("a queued claim", () -> get(waiting));
        }
        Lease lease = hold(keeper.lock(name("mine" + HOSTILE), longLease()));
        store.down();
        seeFailure("a claim", () -> keeper.lock(name("new" + HOSTILE)).tryAcquire());
        seeFailure("a release", lease::release);
        seeFailure("inspection", () -> keeper.inspector().inspect(hostileName()));
    }

    @Test
    void closedKeepersAreReportedEscaped() throws Exception {
        Lockkeeper holder = keeper();
        Lease held = hold(holder.lock(hostileName(), longLease()));
        Lockkeeper keeper = hostileKeeper(faulty());
        Future<Lease> future = keeper.lock(hostileName()).acquireAsync();
        if (holder.guarantees().has(Guarantee.FAIR)) {
            awaitWaiters(holder, hostileName(), 1);
        }
        Lease lease = hold(keeper.lock(name("mine" + HOSTILE), longLease()));
        keeper.close();
        List<ThrowingCallable> calls = new ArrayList<>();
        calls.add(() -> get(future));
        calls.add(keeper.lock(hostileName())::acquire);
        calls.add(lease::ensureValid);
        calls.add(lease::close);
        for (ThrowingCallable call : calls) {
            seeFailure("closed", call);
        }
        see("closed keeper", keeper);
        assertThat(held.release()).isTrue();
    }
}
