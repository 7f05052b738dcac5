// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.EnumSet;

/** Locks nothing: the control, which the {@link Page} must catch wherever threads could meet. */
final class NoLock implements Contender {
    static final Entry ENTRY = new Entry("no-lock", false, EnumSet.allOf(Skill.class), url -> new NoLock());

    @Override
    public Held lock(String name) {
        return () -> {};
    }

    @Override
    public Held read(String name) {
        return () -> {};
    }

    @Override
    public Held write(String name) {
        return () -> {};
    }

    @Override
    public Held permit(String name, int limit) {
        return () -> {};
    }

    @Override
    public void close() {}
}
