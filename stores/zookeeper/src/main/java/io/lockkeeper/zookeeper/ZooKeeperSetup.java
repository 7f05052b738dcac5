// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Ranges;
import io.lockkeeper.spi.StoreUrl;
import io.lockkeeper.spi.Ticker;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * What {@link ZooKeeperProvider} does with Curator: in a separate class, so that the provider can be loaded where there
 * is none.
 */
final class ZooKeeperSetup {
    private static final Set<String> PARAMETERS =
            Set.of("operationTimeout", "connectTimeout", "patience", "prefix", "session", "acl");
    private static final Duration SHORTEST_SESSION = Duration.ofSeconds(1);
    private static final Duration LONGEST_SESSION = Duration.ofHours(24);
    private static final int PORT = 2181;
    private static final int LARGEST_PORT = 65_535;

    private ZooKeeperSetup() {}

    static LockStore open(StoreUrl url) {
        url.allowOnly(PARAMETERS);
        Address address = Address.parse(url.rest());
        Duration timeout = url.duration("operationTimeout").orElse(Duration.ofSeconds(1));
        Duration connect = url.duration("connectTimeout").orElse(Duration.ofSeconds(3));
        Duration session = url.duration("session").orElse(Duration.ofSeconds(10));
        Ranges.check("connectTimeout", connect, Duration.ofMillis(10), Duration.ofMinutes(1));
        Ranges.check("session", session, SHORTEST_SESSION, LONGEST_SESSION);
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
                .zookeeperFactory((servers, sessionMillis, watcher, readOnly) -> new ZooKeeper(
                        servers, sessionMillis, watcher, readOnly, new TimedHosts(servers, sessionMillis, (int)
                                Math.max(1, connect.toMillis()))))
                .ensembleTracker(false)
                .retryPolicy(new RetryForever(200));
        if (!address.auth.isEmpty()) {
            builder.authorization("digest", address.auth.getBytes(StandardCharsets.UTF_8));
        }
        CuratorFramework curator = builder.build();
        try {
            curator.start();
        } catch (Throwable e) { // there may be no thread for it
            curator.close();
            throw e;
        }
        return new ZooKeeperStore(
                curator, address.chroot + "/" + prefix, acl, timeout, notBefore, last -> close(curator, last, timeout));
    }

    /**
     * Returns when the session has ended: the client then sleeps a tenth of a second for its socket's sake. If the server does
     * not answer, the client waits for two thirds of a session before it gives up; we do not.
     */
    private static void close(CuratorFramework curator, @Nullable Session session, Duration timeout) {
        long deadline = Ticker.SYSTEM.nanos() + timeout.toNanos();
        Thread closing = new Thread(curator::close, "lockkeeper-zookeeper-close");
        closing.setDaemon(true);
        try {
            closing.start();
        } catch (OutOfMemoryError e) { // no thread can be started: then on this one, which takes a little longer
            curator.close();
            return;
        }
        boolean interrupted = false;
        while (closing.isAlive()
                && (session == null || session.zk.getState().isAlive())
                && Ticker.SYSTEM.nanos() < deadline) {
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
                throw refused("it does not begin with zookeeper://");
            }
            String text = rest.substring(2);
            int at = text.lastIndexOf('@');
            String auth = at < 0 ? "" : decode(text.substring(0, at));
            if (at >= 0 && auth.indexOf(':') <= 0) {
                throw refused("the credentials before the @ are not USER:SECRET");
            }
            text = text.substring(at + 1);
            int slash = text.indexOf('/');
            String chroot = slash < 0 ? "" : text.substring(slash).replaceAll("/+$", "");
            if (!chroot.matches("(/[A-Za-z0-9_.-]+)*") || chroot.matches(".*/\\.{1,2}(/.*)?")) {
                throw refused("the chroot is not made of /NAME, with letters, digits and _ . - in the names");
            }
            List<String> servers = new ArrayList<>();
            for (String host : (slash < 0 ? text : text.substring(0, slash)).split(",", -1)) {
                servers.add(server(host, servers.size() + 1));
            }
            return new Address(auth, String.join(",", servers), chroot);
        }

        private static String server(String text, int number) {
            int colon = text.indexOf(':', text.lastIndexOf(']') + 1);
            String host = colon < 0 ? text : text.substring(0, colon);
            String port = colon < 0 ? Integer.toString(PORT) : text.substring(colon + 1);
            if (host.isEmpty()) {
                throw refused("host " + number + " is empty");
            }
            if (!host.matches("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]")) {
                throw refused("host " + number + " is neither a name, of letters, digits and . _ -, nor an address");
            }
            if (!port.matches("\\d{1,9}")) {
                throw refused("the port of host " + number + " is no number");
            }
            int value = Integer.parseInt(port);
            if (value < 1 || value > LARGEST_PORT) {
                throw refused("the port of host " + number + " is " + value + "; allowed is 1 to " + LARGEST_PORT);
            }
            return host + ":" + value;
        }

        /** Says which part is wrong, and does not show it: with a secret that is not encoded, it may be a piece of that. */
        private static IllegalArgumentException refused(String why) {
            return new IllegalArgumentException(why + " (" + FORM + ")");
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
