// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.redis;

import io.lockkeeper.benchmarks.race.Contender;
import io.lockkeeper.benchmarks.race.Contender.Skill;
import io.lockkeeper.benchmarks.race.LockkeeperContender;
import io.lockkeeper.benchmarks.race.StoreSetup;
import io.lockkeeper.benchmarks.race.Suite;
import io.lockkeeper.testservers.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import redis.clients.jedis.Jedis;

/** One Redis that keeps nothing on disk. */
public final class RedisSuite implements Suite {
    @Override
    public String name() {
        return "redis";
    }

    @Override
    public List<StoreSetup> stores() {
        return List.of(new Standalone());
    }

    private static final class Standalone implements StoreSetup {
        @Override
        public String id() {
            return "redis";
        }

        @Override
        public List<Contender.Entry> contenders() {
            Set<Skill> all = EnumSet.allOf(Skill.class);
            Set<Skill> locks = EnumSet.of(Skill.LOCK, Skill.KEEP);
            List<Contender.Entry> entries = new ArrayList<>();
            entries.add(Contender.Entry.of("jedis", all, JedisContender::new));
            entries.add(Contender.Entry.of("lettuce", EnumSet.of(Skill.LOCK), LettuceContender::new));
            for (Contender.Entry ours : LockkeeperContender.entries(UnaryOperator.identity())) {
                entries.add(Contender.Entry.of(ours.name(), ours.skills(), ours.opening()));
            }
            entries.add(
                    Contender.Entry.of("redisson", all, url -> new RedissonContender(url, RedissonContender.PLAIN)));
            entries.add(Contender.Entry.of(
                    "redisson-fair", locks, url -> new RedissonContender(url, RedissonContender.FAIR)));
            entries.add(Contender.Entry.of(
                    "redisson-fenced", locks, url -> new RedissonContender(url, RedissonContender.FENCED)));
            entries.add(Contender.Entry.of("spring-spin", locks, url -> new SpringContender(url, false)));
            entries.add(Contender.Entry.of("spring-pubsub", locks, url -> new SpringContender(url, true)));
            return entries;
        }

        @Override
        public Running start(Path folder) {
            return new Server(RedisServer.start("--maxclients", "5000"));
        }
    }

    /** Counts what Redis has read: many commands that come together are one request. */
    private static final class Server implements StoreSetup.Running {
        private final RedisServer server;
        private final Jedis console;

        Server(RedisServer server) {
            this.server = server;
            this.console = new Jedis(server.host(), server.port());
        }

        @Override
        public String url() {
            return "redis://" + server.host() + ":" + server.port();
        }

        @Override
        public OptionalLong requests() {
            return console.info("stats")
                    .lines()
                    .filter(line -> line.startsWith("total_reads_processed:"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                    .findFirst();
        }

        @Override
        public void close() {
            console.close();
            server.close();
        }
    }
}
