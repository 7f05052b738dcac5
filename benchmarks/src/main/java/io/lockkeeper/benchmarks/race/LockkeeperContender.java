// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Lockkeeper, made from a URL, with all that is built in. */
public final class LockkeeperContender implements Contender {
    private static final Set<Skill> SKILLS = EnumSet.allOf(Skill.class);

    private final Lockkeeper keeper;

    private LockkeeperContender(Lockkeeper keeper) {
        this.keeper = keeper;
    }

    /** As most people would use it, and, on request, first come first served among threads, too. */
    public static List<Entry> entries(UnaryOperator<String> url) {
        return List.of(
                Entry.of("lockkeeper", SKILLS, u -> new LockkeeperContender(Lockkeeper.connect(url.apply(u)))),
                new Entry(
                        "lockkeeper-fair",
                        false,
                        SKILLS,
                        u -> new LockkeeperContender(Lockkeeper.builder(url.apply(u))
                                .defaults(LockOptions.defaults().fair(true))
                                .build())));
    }

    @Override
    public Held lock(String name) throws InterruptedException {
        return keeper.lock(name).acquire()::release;
    }

    @Override
    public Held read(String name) throws InterruptedException {
        return keeper.readWriteLock(name).readLock().acquire()::release;
    }

    @Override
    public Held write(String name) throws InterruptedException {
        return keeper.readWriteLock(name).writeLock().acquire()::release;
    }

    @Override
    public Held permit(String name, int limit) throws InterruptedException {
        return keeper.semaphore(name, limit).acquire()::release;
    }

    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        LockOptions options = LockOptions.defaults().lease(lease);
        Lease[] leases = new Lease[names];
        Parallel.each(names, i -> leases[i] = keeper.lock("idle-" + i, options).acquire());
        return new Kept() {
            @Override
            public int alive() {
                return (int) List.of(leases).stream().filter(Lease::isValid).count();
            }

            @Override
            public void release() throws Exception {
                Parallel.each(names, i -> leases[i].release());
            }
        };
    }

    @Override
    public void close() {
        keeper.close();
    }
}
