// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.List;

/** The stores that are measured together, such as all databases. Made again in each JVM that takes part. */
public interface Suite {
    /** As it is called on the command line. */
    String name();

    /** The stores, in the order in which they are measured. */
    List<StoreSetup> stores();

    /** One of the stores. */
    default StoreSetup store(String name) {
        return stores().stream()
                .filter(s -> s.id().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no store '" + name + "'; there are "
                        + stores().stream().map(StoreSetup::id).toList()));
    }
}
