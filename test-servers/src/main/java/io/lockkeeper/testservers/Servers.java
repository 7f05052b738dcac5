// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import java.util.function.Consumer;

/** Decides what a missing server means: a failure, unless the system property {@code lockkeeper.allowSkips} is {@code true}. */
public final class Servers {
    private Servers() {}

    /** Whether a test may be skipped because its server is missing. */
    public static boolean skipsAllowed() {
        return Boolean.getBoolean("lockkeeper.allowSkips");
    }

    /**
     * Finds or fetches a server before a test needs it.
     *
     * <pre>{@code
     * @BeforeAll
     * static void server() {
     *     Servers.require(ServerKind.REDIS, Assumptions::abort);
     *     redis = RedisServer.start();
     * }
     * }</pre>
     *
     * @param skip called with the reason if the server is missing and skips are allowed; it should throw what the test
     *     framework takes for a skip
     * @throws MissingServerException if the server is missing and skips are not allowed, or {@code skip} returned
     */
    public static void require(ServerKind kind, Consumer<String> skip) {
        try {
            Binaries.of(kind);
        } catch (MissingServerException e) {
            if (skipsAllowed()) {
                skip.accept(String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }
}
