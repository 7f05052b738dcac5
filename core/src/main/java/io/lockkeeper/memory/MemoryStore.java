// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.memory;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.model.Command;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import io.lockkeeper.spi.Ticker;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** One client's view of a {@link MemoryCore}: each step is a command to the model. */
public final class MemoryStore implements LockStore {
    private static final Guarantees GUARANTEES = new Promises(
            EnumSet.of(
                    Guarantee.FENCED,
                    Guarantee.FAIR,
                    Guarantee.LOCK_DELAY,
                    Guarantee.SHARED,
                    Guarantee.PERMITS,
                    Guarantee.LATCH,
                    Guarantee.PUSH,
                    Guarantee.RAISES_TOKENS),
            Duration.ofMillis(100));

    private final MemoryCore core;
    private final Runnable onClose;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** A store on this core. */
    public MemoryStore(MemoryCore core) {
        this(core, () -> {});
    }

    MemoryStore(MemoryCore core, Runnable onClose) {
        this.core = core;
        this.onClose = onClose;
    }

    /** What this store shares with others. */
    public MemoryCore core() {
        return core;
    }

    @Override
    public String id() {
        return core.id();
    }

    @Override
    public Guarantees guarantees() {
        return GUARANTEES;
    }

    @Override
    public StoreTime time(Object lane) {
        return core.time();
    }

    @Override
    public Answer claim(Claim claim) {
        return core.apply(new Command.Claim(claim));
    }

    @Override
    public Renewal renew(Renewals batch) {
        return core.apply(new Command.Renew(batch));
    }

    @Override
    public boolean release(Grant grant) {
        return core.apply(new Command.Release(grant));
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        return core.apply(new Command.Downgrade(grant));
    }

    @Override
    public void withdraw(Claim claim) {
        core.apply(new Command.Withdraw(claim));
    }

    @Override
    public LatchState latch(LatchStep step) {
        return core.apply(new Command.Latch(step));
    }

    @Override
    public Optional<LockInfo> inspect(String name) {
        return core.apply(new Command.Inspect(name));
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return core.apply(new Command.ListNames(prefix, limit));
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return core.apply(new Command.Check(sequencer));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return core.apply(new Command.Break(name, token, lockDelay, now));
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        return core.listen(client, signals);
    }

    @Override
    public Object lane(String name) {
        return core;
    }

    @Override
    public Ticker ticker() {
        return core.ticker();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            onClose.run();
        }
    }
}
