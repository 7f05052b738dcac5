// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.Contender;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The floor: creating an ephemeral node takes a name, deleting it gives it back, and an attempt that fails is repeated 0.5 to 1.5 ms
 * later. No queue, no token, no notification of a loss. Shares and permits are counted in a node that is written if no other client has done so meanwhile.
 */
final class RawContender implements Contender {
    private static final String ROOT = "/raw";

    private final CuratorFramework curator;
    private final ZooKeeper zk;
    private final Set<String> known = ConcurrentHashMap.newKeySet();

    RawContender(String addresses) throws Exception {
        curator = Clients.open(addresses);
        zk = curator.getZookeeperClient().getZooKeeper();
        make(ROOT);
    }

    private void make(String path) throws Exception {
        try {
            zk.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // another process was first
        }
    }

    @Override
    public Held lock(String name) throws Exception {
        String path = ROOT + "/" + name;
        for (; ; ) {
            try {
                zk.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                return () -> zk.delete(path, -1);
            } catch (KeeperException.NodeExistsException e) {
                rest();
            }
        }
    }

    @Override
    public Held read(String name) throws Exception {
        return count(name, text -> text.equals("w") ? "" : plus(text, 1), text -> plus(text, -1));
    }

    @Override
    public Held write(String name) throws Exception {
        return count(name, text -> text.isEmpty() || text.equals("0") ? "w" : "", text -> "0");
    }

    @Override
    public Held permit(String name, int limit) throws Exception {
        return count(
                name,
                text -> plus(text, 0).equals(Integer.toString(limit)) ? "" : plus(text, 1),
                text -> plus(text, -1));
    }

    private static String plus(String text, int more) {
        return Integer.toString((text.isEmpty() ? 0 : Integer.parseInt(text)) + more);
    }

    /** Changes a counter; {@code take} answers nothing while it may not be taken. */
    private Held count(String name, UnaryOperator<String> take, UnaryOperator<String> giveBack) throws Exception {
        String path = ROOT + "/n-" + name;
        if (!known.contains(path)) {
            make(path);
            known.add(path);
        }
        while (!change(path, take)) {
            rest();
        }
        return () -> {
            while (!change(path, giveBack)) {
                Thread.onSpinWait();
            }
        };
    }

    private boolean change(String path, UnaryOperator<String> to) throws Exception {
        Stat stat = new Stat();
        byte @Nullable [] data = zk.getData(path, false, stat);
        String text = to.apply(data == null ? "" : new String(data, StandardCharsets.UTF_8));
        if (text.isEmpty()) {
            return false;
        }
        try {
            zk.setData(path, text.getBytes(StandardCharsets.UTF_8), stat.getVersion());
            return true;
        } catch (KeeperException.BadVersionException e) {
            return false;
        }
    }

    private static void rest() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(500_000, 1_500_000));
    }

    @Override
    public Kept keep(int names, Duration lease) throws Exception {
        Held[] held = new Held[names];
        for (int i = 0; i < names; i++) {
            held[i] = lock("idle-" + i);
        }
        return Clients.kept(curator, held);
    }

    @Override
    public void close() {
        curator.close();
    }
}
