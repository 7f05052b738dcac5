// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

/**
 * The tests of a group run one after the other, and groups run in parallel where JUnit is configured to do so:
 * most of the time they wait for leases to end. Some groups run alone.
 */
public final class OneAfterTheOther implements ResourceLocksProvider {
    /** A group that counts what is in the store, or depends on when the store removes what has ended. */
    public interface Alone {}

    @Override
    public Set<Lock> provideForClass(Class<?> group) {
        ResourceAccessMode mode =
                Alone.class.isAssignableFrom(group) ? ResourceAccessMode.READ_WRITE : ResourceAccessMode.READ;
        return Set.of(new Lock(group.getName()), new Lock("what is in the store", mode));
    }

    @Override
    public Set<Lock> provideForNestedClass(List<Class<?>> enclosing, Class<?> group) {
        return provideForClass(group);
    }
}
