// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import java.util.List;
import java.util.Set;

/** Makes stores from URLs. Found with {@link java.util.ServiceLoader}. */
public interface StoreProvider {
    /** The schemes it knows, in lower case and without the colon. */
    Set<String> schemes();

    /**
     * Opens the store.
     *
     * @throws IllegalArgumentException when the URL is wrong; no I/O has been done then
     */
    LockStore open(StoreUrl url);

    /**
     * The statements that make what the store at this URL needs and would otherwise create on demand, such as tables. No I/O.
     * Built-in: none.
     *
     * @throws IllegalArgumentException when the URL is wrong
     */
    default List<String> ddl(StoreUrl url) {
        return List.of();
    }
}
