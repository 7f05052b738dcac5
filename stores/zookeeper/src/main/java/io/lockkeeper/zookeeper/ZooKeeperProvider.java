// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.StoreProvider;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.spi.Ticker;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Opens {@code zookeeper://[USER:SECRET@]HOST[:PORT],…[/CHROOT]}. Whoever has authenticated, by these credentials (digest) or as
 * ZooKeeper's own settings have it (SASL, TLS), owns the nodes that it makes, unless {@code acl=world} asks otherwise.
 */
public final class ZooKeeperProvider implements StoreProvider {
    private static final Set<String> PARAMETERS =
            Set.of("operationTimeout", "connectTimeout", "patience", "prefix", "session", "acl");
    private static final Duration SHORTEST_SESSION = Duration.ofSeconds(1);
    private static final Duration LONGEST_SESSION = Duration.ofHours(24);
    private static final int PORT = 2181;

    /** For {@link java.util.ServiceLoader}. */
    public ZooKeeperProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public LockStore open(StoreUrl url) {
        url.allowOnly(PARAMETERS);
        Address address = Address.parse(url.rest());
        Duration timeout = url.duration("operationTimeout").orElse(Duration.ofSeconds(1));
        Duration connect = url.duration("connectTimeout").orElse(Duration.ofSeconds(3));
        Duration session = url.duration("session").orElse(Duration.ofSeconds(10));
        if (session.compareTo(SHORTEST_SESSION) < 0 || session.compareTo(LONGEST_SESSION) > 0) {
            throw new IllegalArgumentException(
                    "session is " + session + "; allowed is " + SHORTEST_SESSION + " to " + LONGEST_SESSION);
        }
        String prefix = url.parameter("prefix").orElse("lockkeeper");
        if (!prefix.matches("[A-Za-z0-9_-]{1,100}") || prefix.equals("zookeeper")) {
            throw new IllegalArgumentException(
                    "prefix is '" + prefix + "'; allowed are letters, digits, - and _, but not 'zookeeper'");
        }
        List<ACL> acl = acl(url.parameter("acl").orElse(""));

        long notBefore = Ticker.SYSTEM.nanos();
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(address.servers)
                .sessionTimeoutMs((int) session.toMillis())
                .connectionTimeoutMs((int) connect.toMillis())
                .ensembleTracker(false)
                .retryPolicy(new RetryForever(200));
        if (!address.auth.isEmpty()) {
            builder.authorization("digest", address.auth.getBytes(StandardCharsets.UTF_8));
        }
        CuratorFramework curator = builder.build();
        curator.start();
        return new ZooKeeperStore(
                curator, address.chroot + "/" + prefix, acl, timeout, notBefore, last -> close(curator, last));
    }

    /** Returns when the session has ended: the client goes on to sleep a tenth of a second for its socket's sake. */
    private static void close(CuratorFramework curator, @Nullable Session session) {
        Thread closing = new Thread(curator::close, "lockkeeper-zookeeper-close");
        closing.setDaemon(true);
        closing.start();
        boolean interrupted = false;
        while (closing.isAlive() && (session == null || session.zk.getState().isAlive())) {
            try {
                closing.join(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<ACL> acl(String which) {
        return switch (which) {
            case "" -> List.of();
            case "creator" -> ZooDefs.Ids.CREATOR_ALL_ACL;
            case "world" -> ZooDefs.Ids.OPEN_ACL_UNSAFE;
            default -> throw new IllegalArgumentException("acl is '" + which + "'; allowed are creator and world");
        };
    }

    private record Address(String auth, String servers, String chroot) {
        private static final String FORM =
                "a zookeeper: URL has the form zookeeper://[USER:SECRET@]HOST[:PORT],…[/CHROOT]";

        static Address parse(String rest) {
            if (!rest.startsWith("//")) {
                throw new IllegalArgumentException(FORM);
            }
            String text = rest.substring(2);
            int at = text.lastIndexOf('@');
            String auth = at < 0 ? "" : decode(text.substring(0, at));
            if (at >= 0 && auth.indexOf(':') <= 0) {
                throw new IllegalArgumentException(FORM);
            }
            text = text.substring(at + 1);
            int slash = text.indexOf('/');
            String hosts = slash < 0 ? text : text.substring(0, slash);
            String chroot = slash < 0 ? "" : text.substring(slash).replaceAll("/+$", "");
            if (hosts.isEmpty() || !chroot.matches("(/[A-Za-z0-9_.-]+)*") || chroot.matches(".*/\\.{1,2}(/.*)?")) {
                throw new IllegalArgumentException(FORM);
            }
            String servers = Arrays.stream(hosts.split(",", -1))
                    .map(host -> {
                        if (!host.matches("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(:\\d{1,5})?")) {
                            throw new IllegalArgumentException(FORM);
                        }
                        return host.matches(".*:\\d+") ? host : host + ":" + PORT;
                    })
                    .collect(Collectors.joining(","));
            return new Address(auth, servers, chroot);
        }

        private static String decode(String s) {
            try {
                return URLDecoder.decode(s.replace("+", "%2B"), StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("the credentials have a '%' without two hexadecimal digits");
            }
        }

        @Override
        public String toString() {
            return "zookeeper:…";
        }
    }
}
