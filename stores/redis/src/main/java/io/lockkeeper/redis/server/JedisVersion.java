// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;

/**
 * The Jedis on the class path, which is the application's choice: frameworks pin versions. One outside the tested range is
 * rejected when a store is opened, rather than with a {@link NoSuchMethodError} in the middle of a step.
 */
public final class JedisVersion {
    private static final int OLDEST = 6;
    private static final int NEWEST = 8;
    private static final String UNKNOWN = "of unknown version";

    private static final String TEXT = read();

    /** Not in Jedis 6. */
    private static final @Nullable MethodHandle FORCE_DISCONNECT = method("forceDisconnect", void.class);

    /** Not public before Jedis 8. */
    private static final @Nullable MethodHandle GET_ADDRESS = method("getHostAndPort", HostAndPort.class);

    private JedisVersion() {}

    /** As the jar states it. */
    public static String text() {
        return TEXT;
    }

    /**
     * Rejects a Jedis outside the tested range. A jar that does not state its version, such as one that has been repackaged, is
     * accepted.
     *
     * @throws StoreUnavailableException which repeating does not help
     */
    public static void check() {
        check(TEXT);
    }

    public static void check(String version) {
        String major = version.split("\\.", 2)[0];
        if (!version.equals(UNKNOWN)
                && (!major.matches("\\d{1,9}")
                        || Integer.parseInt(major) < OLDEST
                        || Integer.parseInt(major) > NEWEST)) {
            throw StoreUnavailableException.lasting(
                    "Jedis " + version + " is on the class path; Lockkeeper works with Jedis " + OLDEST + ".0 to "
                            + NEWEST + ".x. Set the version of redis.clients:jedis in your build",
                    null);
        }
    }

    /** Closes the socket of a connection that another thread may be reading from. */
    public static void cut(Connection connection) {
        try {
            if (FORCE_DISCONNECT != null) {
                FORCE_DISCONNECT.invoke(connection);
            } else {
                connection.disconnect();
            }
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            connection.setBroken(); // it is gone already
        }
    }

    /** {@code host:port} that a connection is to; empty if it does not say. */
    static String address(Connection connection) {
        try {
            return GET_ADDRESS == null ? "" : String.valueOf((Object) GET_ADDRESS.invoke(connection));
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            return ""; // the user's socket factory knows no address
        }
    }

    private static @Nullable MethodHandle method(String name, Class<?> result) {
        try {
            return MethodHandles.publicLookup().findVirtual(Connection.class, name, MethodType.methodType(result));
        } catch (NoSuchMethodException | IllegalAccessException e) {
            return null;
        }
    }

    private static String read() {
        try (InputStream in = Connection.class.getResourceAsStream("pom.properties")) {
            Properties properties = new Properties();
            if (in != null) {
                properties.load(in);
            }
            return properties.getProperty("version", UNKNOWN);
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
