// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

/**
 * The tests of a group run one after the other, and groups beside each other where JUnit is told to run in parallel: most
 * of their time they wait for leases to end.
 */
final class OneAfterTheOther implements ResourceLocksProvider {
    @Override
    public Set<Lock> provideForClass(Class<?> group) {
        return Set.of(new Lock(group.getName()));
    }

    @Override
    public Set<Lock> provideForNestedClass(List<Class<?>> enclosing, Class<?> group) {
        return Set.of(new Lock(group.getName()));
    }
}
