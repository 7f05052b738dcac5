// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.zookeeper;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.Contender.Skill;
import io.lockkeeper.benchmarks.race.LockkeeperContender;
import io.lockkeeper.benchmarks.race.StoreSetup;
import io.lockkeeper.testservers.ZooKeeperEnsemble;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How many servers, and who uses them. */
enum Topology implements StoreSetup {
    SINGLE("single"),
    ENSEMBLE("ensemble");

    private static final Pattern RECEIVED = Pattern.compile("Received: (\\d+)");

    /** The test servers do not wait for the disk; these do. */
    private static final List<String> DURABLE = List.of("-Dzookeeper.forceSync=yes");

    private final String id;

    Topology(String id) {
        this.id = id;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public List<Contender.Entry> contenders() {
        EnumSet<Skill> all = EnumSet.allOf(Skill.class);
        List<Contender.Entry> entries = new ArrayList<>();
        entries.add(Contender.Entry.of("raw", all, RawContender::new));
        entries.addAll(LockkeeperContender.entries(addresses -> "zookeeper://" + addresses));
        entries.add(Contender.Entry.of("curator", all, CuratorContender::new));
        entries.add(Contender.Entry.of(
                "curator-semaphore", EnumSet.of(Skill.LOCK, Skill.KEEP), SemaphoreMutexContender::new));
        return entries;
    }

    @Override
    public Running start(Path folder) {
        if (this == SINGLE) {
            ZooKeeperServer server = ZooKeeperServer.start(DURABLE, List.of());
            return new Servers(server.address(), List.of(server), server);
        }
        ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(DURABLE);
        return new Servers(ensemble.addresses(), ensemble.members(), ensemble);
    }

    /** Running servers; their counters have all packets, this object's questions and pings included. */
    private static final class Servers implements Running {
        private final String addresses;
        private final List<ZooKeeperServer> members;
        private final AutoCloseable whole;
        private long own;

        Servers(String addresses, List<ZooKeeperServer> members, AutoCloseable whole) {
            this.addresses = addresses;
            this.members = members;
            this.whole = whole;
        }

        @Override
        public String url() {
            return addresses;
        }

        @Override
        public OptionalLong requests() {
            long received = 0;
            for (ZooKeeperServer member : members) {
                Matcher matcher = RECEIVED.matcher(member.ask("srvr"));
                if (!matcher.find()) {
                    throw new IllegalStateException("the server's count cannot be read");
                }
                received += Long.parseLong(matcher.group(1));
                own++;
            }
            return OptionalLong.of(received - own);
        }

        @Override
        public void close() throws Exception {
            whole.close();
        }
    }
}
