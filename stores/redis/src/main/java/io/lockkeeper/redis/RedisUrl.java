// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.LockkeeperException;
import io.lockkeeper.redis.server.Tls;
import io.lockkeeper.spi.StoreUrl;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;

/** A {@code redis…://} URL, parsed. May hold a secret, and is never printed. */
final class RedisUrl {
    /** The parameters of all these URLs. */
    private static final Set<String> COMMON =
            Set.of("operationTimeout", "connectTimeout", "patience", "prefix", "replicas", "allowEviction", "poolSize");

    private static final Set<String> OF_SENTINELS = Set.of("sentinelUser", "sentinelPassword");

    private static final int REDIS_PORT = 6379;
    private static final int SENTINEL_PORT = 26379;

    /** More at a time would only queue in the server, which executes one command after another. */
    private static final int POOL_SIZE = 32;

    private static final int LARGEST_POOL = 1_000;

    final List<HostAndPort> hosts = new ArrayList<>();
    final @Nullable String user;
    final @Nullable String secret;
    final int database;
    final String master;
    final RedisOptions options;
    final Duration operationTimeout;
    final Duration connectTimeout;
    final int poolSize;
    final @Nullable Tls tls;
    final @Nullable String sentinelUser;
    final @Nullable String sentinelPassword;
    final @Nullable String clientName;

    /** Parses it; an {@link IllegalArgumentException} shows no part of it that may be a secret. */
    RedisUrl(StoreUrl url) {
        this(url, known(url.scheme()), authority(url));
    }

    /** The parameters of URLs of this scheme. */
    static Set<String> known(String scheme) {
        Set<String> known = new HashSet<>(COMMON);
        if (isTls(scheme)) {
            known.addAll(Tls.KNOWN);
        }
        if (isSentinel(scheme)) {
            known.addAll(OF_SENTINELS);
        }
        return known;
    }

    private static boolean isTls(String scheme) {
        return scheme.startsWith("rediss") || scheme.equals("redlocks");
    }

    static boolean isSentinel(String scheme) {
        return scheme.endsWith("-sentinel");
    }

    static boolean isCluster(String scheme) {
        return scheme.endsWith("-cluster");
    }

    /** Parses what follows the slashes; the rest is that of {@code url}. */
    RedisUrl(StoreUrl url, Set<String> known, String authority) {
        url.allowOnly(known);
        String scheme = url.scheme();
        String rest = authority;
        int hash = rest.indexOf('#');
        master = hash < 0 ? "" : decode(rest.substring(hash + 1));
        rest = hash < 0 ? rest : rest.substring(0, hash);
        int at = rest.lastIndexOf('@');
        String[] login = at < 0 ? new String[0] : rest.substring(0, at).split(":", 2);
        user = login.length == 2 && !login[0].isEmpty() ? decode(login[0]) : null;
        secret = login.length == 2 ? decode(login[1]) : login.length == 1 ? decode(login[0]) : null;
        rest = rest.substring(at + 1);
        int slash = rest.indexOf('/');
        String path = slash < 0 ? "" : rest.substring(slash + 1);
        rest = slash < 0 ? rest : rest.substring(0, slash);
        boolean isSentinel = isSentinel(scheme);
        boolean isCluster = isCluster(scheme);
        for (String host : rest.split(",", -1)) {
            hosts.add(host(scheme, host, isSentinel ? SENTINEL_PORT : REDIS_PORT));
        }
        if (hosts.size() > 1 && !isSentinel && !isCluster) {
            throw new IllegalArgumentException("a " + scheme
                    + ": URL names one server; several belong to redis-sentinel:, redis-cluster: or redlock:");
        }
        database = database(path, isCluster);
        if (isSentinel == master.isEmpty()) {
            throw new IllegalArgumentException(
                    isSentinel
                            ? "a " + scheme
                                    + ": URL ends with #MASTER, the name by which the Sentinels know the master, before any ?"
                            : "only a redis-sentinel: or rediss-sentinel: URL has a #");
        }
        operationTimeout = positive(url, "operationTimeout", Duration.ofSeconds(1));
        connectTimeout = positive(url, "connectTimeout", Duration.ofSeconds(3));
        options = RedisOptions.defaults()
                .prefix(url.parameter("prefix").orElse("lockkeeper"))
                .replicas(number(url, "replicas", 0, 0, RedisOptions.MOST_REPLICAS))
                .allowEviction(flag(url.parameter("allowEviction").orElse("false")))
                .operationTimeout(operationTimeout);
        poolSize = number(url, "poolSize", POOL_SIZE, 1, LARGEST_POOL);
        tls = isTls(scheme) ? Tls.of(url) : null;
        sentinelUser = url.parameter("sentinelUser").orElse(null);
        sentinelPassword = url.parameter("sentinelPassword").orElse(null);
        if (sentinelUser != null && sentinelPassword == null) {
            throw new IllegalArgumentException("parameter 'sentinelUser' needs parameter 'sentinelPassword'");
        }
        clientName = url.clientName().map(ClientName::encode).orElse(null);
    }

    /** What follows the slashes. */
    static String authority(StoreUrl url) {
        if (!url.rest().startsWith("//")) {
            throw new IllegalArgumentException("a " + url.scheme() + ": URL begins with " + url.scheme() + "://");
        }
        return url.rest().substring(2);
    }

    private static HostAndPort host(String scheme, String text, int defaultPort) {
        int bracket = text.lastIndexOf(']');
        int colon = text.indexOf(':', Math.max(0, bracket));
        String host = colon < 0 ? text : text.substring(0, colon);
        if (host.isEmpty()) {
            throw new IllegalArgumentException("a " + scheme + ": URL names a host: " + scheme + "://HOST[:PORT]");
        }
        if (host.chars().anyMatch(c -> Character.isWhitespace(c) || Character.isISOControl(c))) {
            // Not shown, either: see number().
            throw new IllegalArgumentException(
                    "a host of the " + scheme + ": URL has a blank in it; allowed is HOST[:PORT], without any");
        }
        if (host.startsWith("[") && bracket > 0) {
            host = host.substring(1, bracket);
        }
        int port = colon < 0 ? defaultPort : number(text.substring(colon + 1), "the port");
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("the port is " + port + "; allowed is 1 to 65535");
        }
        return new HostAndPort(host.toLowerCase(Locale.ROOT), port);
    }

    private static int database(String path, boolean isCluster) {
        int database = path.isEmpty() ? 0 : number(path, "the database");
        if (isCluster && database != 0) {
            throw new IllegalArgumentException("the database is " + database + "; a Redis Cluster has only 0");
        }
        return database;
    }

    private static int number(String text, String what) {
        if (!text.matches("\\d{1,9}")) {
            // Not shown: with a secret that has an '@' or '/' in it, what stands here is a piece of the secret.
            throw new IllegalArgumentException(what + " is no number; allowed is a whole number"
                    + " (in a secret, / ? # @ : and % are written as %2F %3F %23 %40 %3A %25)");
        }
        return Integer.parseInt(text);
    }

    /** The value of a parameter that is no secret. */
    private static int number(StoreUrl url, String name, int builtIn, int least, int most) {
        String text = url.parameter(name).orElse(Integer.toString(builtIn));
        int value = text.matches("\\d{1,9}") ? Integer.parseInt(text) : -1;
        if (value < least || value > most) {
            throw new IllegalArgumentException(LockkeeperException.printable(
                    "parameter '" + name + "' is '" + text + "'; allowed is a whole number, " + least + " to " + most));
        }
        return value;
    }

    private static boolean flag(String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(
                    "parameter 'allowEviction' is '" + value + "'; allowed is true or false");
        }
        return value.equals("true");
    }

    private static Duration positive(StoreUrl url, String name, Duration builtIn) {
        Duration value = url.duration(name).orElse(builtIn);
        if (value.isZero()) {
            throw new IllegalArgumentException("parameter '" + name + "' is 0; allowed is 1ms or more");
        }
        return value;
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Its message shows a piece of what may be a secret.
            throw new IllegalArgumentException("a '%' in the URL is not followed by two hexadecimal digits");
        }
    }

    @Override
    public String toString() {
        return "redis://…";
    }
}
