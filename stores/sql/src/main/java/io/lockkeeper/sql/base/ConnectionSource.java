// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.base;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Where connections come from. */
public interface ConnectionSource {
    /** One of a pool. */
    Connection pooled() throws SQLException;

    /** One to keep. */
    Connection kept() throws SQLException;

    /** Whether the application uses it, too: it may be exhausted, and gets connections back as they were. */
    default boolean isShared() {
        return false;
    }

    /** Whether a server has few connections for all its clients: those that are not needed are closed. */
    default boolean isSparing() {
        return false;
    }

    /** Closes those of the pool that are not needed: all that are not in use, or those that were needed for a moment only. */
    default void rest(boolean all) {}

    /** A connection is not to be used again: cuts it off, so that the pool that it goes back to finds it broken. */
    default void discard(Connection connection) {
        try {
            connection.setAutoCommit(true); // should the driver not be able to cut it off
        } catch (SQLException e) {
            // It is in no transaction, or broken.
        }
        try {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException | AbstractMethodError e) {
            // It is broken already, or the driver cannot.
        }
    }

    /** Held during a step, where all steps in this process must take turns; otherwise null. */
    default @Nullable ReentrantLock turn() {
        return null;
    }

    /**
     * A connection that no step uses just now, for a renewal that would otherwise need one to keep; null when there is none, or
     * none is wanted.
     */
    default @Nullable Connection spare() throws SQLException {
        return null;
    }

    /** Whether threads wait in line for a connection, so that it matters how often they do. */
    default boolean hasLine() {
        return false;
    }

    /** Makes several steps in a row, with one place in that line. */
    default <T> T together(Supplier<T> steps) throws SQLException {
        return steps.get();
    }

    /** Makes steps that end something, so that others can be granted it: they do not wait with all the processes that want to write. */
    default <T> T ahead(Supplier<T> steps) throws SQLException {
        return steps.get();
    }

    /** The clock of the database in µs since 1970, where it is this machine's, so that no server need be asked. */
    default OptionalLong clock() {
        return OptionalLong.empty();
    }

    /**
     * Whether commits on it need not wait for the disk, where that is a matter of the connection and costs no round
     * trip.
     */
    default void lazy(Connection connection, boolean lazy) throws SQLException {}
}
