// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import io.lockkeeper.testservers.LocalServer;
import io.lockkeeper.testservers.PostgresServer;
import io.lockkeeper.testservers.RedisServer;
import io.lockkeeper.testservers.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line on servers: it is given a URL, and everything else is as with a file. */
class StoresTest {
    @TempDir
    Path folder;

    @Test
    void redlock() throws Exception {
        List<RedisServer> servers = List.of(RedisServer.start(), RedisServer.start(), RedisServer.start());
        // A hundred processes of another test may start just then: members are waited for.
        String url = servers.stream()
                .map(LocalServer::address)
                .collect(Collectors.joining(",", "redlock://", "?operationTimeout=5s"));
        check(servers, url);
    }

    @Test
    void zooKeeper() throws Exception {
        ZooKeeperServer server = ZooKeeperServer.start();
        check(List.of(server), "zookeeper://" + server.address() + "/app?session=6s");
    }

    @Test
    @Tag("full")
    void redis() throws Exception {
        RedisServer server = RedisServer.start();
        check(List.of(server), "redis://" + server.address());
    }

    @Test
    @Tag("full")
    void postgreSql() throws Exception {
        PostgresServer server = PostgresServer.start();
        check(List.of(server), server.jdbcUrl());
    }

    private void check(List<? extends LocalServer> servers, String url) throws Exception {
        try {
            Cli cli = new Cli(folder).with("LOCKKEEPER_STORE", url);
            theHolderIsShownAndTheOthersWait(cli);
            theCommandEndsWithItsStore(cli, servers);
        } finally {
            servers.forEach(LocalServer::close);
        }
    }

    private static void theHolderIsShownAndTheOthersWait(Cli cli) throws Exception {
        Running holder = cli.start(
                "run", "nightly", "--label", "first", "--", "sh", "-c", "echo $LOCKKEEPER_TOKEN; exec sleep 600");
        holder.says("\n");
        long token = Long.parseLong(holder.out().strip());
        assertThat(cli.run("run", "nightly", "--wait", "0", "--", "true").code())
                .isEqualTo(75);
        assertThat(cli.run("inspect", "nightly").out()).contains("first", Long.toString(token));
        assertThat(cli.run("ls").out()).contains("nightly").contains("first");
        Running waiter = cli.start("run", "nightly", "--", "sh", "-c", "echo $LOCKKEEPER_TOKEN");
        holder.signal("TERM");
        assertThat(holder.await().code()).isEqualTo(143);
        Result next = waiter.await();
        assertThat(next.code()).as(next.err()).isZero();
        assertThat(Long.parseLong(next.out().strip())).isGreaterThan(token);
        assertThat(cli.run("inspect", "nightly").code()).isEqualTo(1);
    }

    private void theCommandEndsWithItsStore(Cli cli, List<? extends LocalServer> servers) throws Exception {
        Running holder = cli.start(
                        "run", "nightly", "--lease", "6s", "--", "sh", "-c", "echo $$ >child; echo in; exec sleep 600")
                .says("in");
        long child = Long.parseLong(Files.readString(folder.resolve("child")).strip());
        servers.forEach(LocalServer::kill);
        assertThat(holder.await().code()).isEqualTo(76);
        assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
        Result refused = cli.run("run", "nightly", "--wait", "1s", "--", "echo", "never");
        assertThat(refused.code()).as(refused.err()).isEqualTo(69);
        assertThat(refused.out()).isEmpty();
    }
}
