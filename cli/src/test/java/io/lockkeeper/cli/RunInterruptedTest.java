// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals, and kills, at all instants. */
class RunInterruptedTest {
    /** From before Java has begun until the command runs. */
    private static final List<Integer> INSTANTS = List.of(5, 60, 120, 180, 240, 300, 360, 420, 500, 600, 800, 1200);

    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void setUp() {
        cli = new Cli(folder);
    }

    @Test
    void aSignalAtAnyInstantEndsItAndLeavesNothing() throws Exception {
        for (int millis : INSTANTS) {
            Running running = cli.start("run", "x", "--", "sh", "-c", "echo $$ >child; exec sleep 600");
            assertThat(running.process().waitFor(millis, TimeUnit.MILLISECONDS)).isFalse();
            running.signal("TERM");
            Result result = running.await();
            assertThat(result.code())
                    .as("after %d ms: %s", millis, result.err())
                    .isEqualTo(143);
            assertThat(result.err()).isEmpty();
            assertThat(cli.run("inspect", "x").code()).as("after %d ms", millis).isEqualTo(1);
            Path child = folder.resolve("child");
            if (Files.exists(child) && !Files.readString(child).isBlank()) {
                long pid = Long.parseLong(Files.readString(child).strip());
                assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
            }
        }
    }

    @Test
    void aKillAtAnyInstantLeavesAStoreThatWorks() throws Exception {
        long last = 0;
        for (int millis : INSTANTS) {
            Running running = cli.start("run", "x", "--lease", "1s", "--", "true");
            running.process().waitFor(millis, TimeUnit.MILLISECONDS);
            running.process().destroyForcibly();
            running.process().waitFor();
            Result next = cli.run("run", "x", "--wait", "30s", "--", "sh", "-c", "echo $LOCKKEEPER_TOKEN");
            assertThat(next.code()).as("after %d ms: %s", millis, next.err()).isZero();
            long token = Long.parseLong(next.out().strip());
            assertThat(token).isGreaterThan(last);
            last = token;
        }
    }

    @Test
    void aSignalEndsTheWaitForAStoreThatDoesNotAnswer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            String url = "jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/none?operationTimeout=20s";
            Running running = cli.start("run", "x", "--store", url, "--", "echo", "never");
            try (Socket accepted = silent.accept()) {
                assertThat(accepted.getInputStream().read()).isNotNegative(); // it has begun to talk
                running.signal("INT");
                Result result = running.await();
                assertThat(result.code()).as(result.err()).isEqualTo(130);
                assertThat(result.out()).isEmpty();
            }
        }
    }

    @Test
    void anImpatientUserLeavesTheQueueAllTheSame() throws Exception {
        Running holder = cli.start("run", "x", "--", "sh", "-c", "echo in; exec sleep 600")
                .says("in");
        Running waiter = cli.start("run", "x", "--", "echo", "never");
        Await.until(() -> cli.run("inspect", "--json", "x").out().contains("\"waiters\":1"));
        // Several in one go: some arrive while it leaves.
        String all =
                "for i in 1 2 3 4 5 6 7 8 9; do kill -INT " + waiter.process().pid() + " 2>/dev/null; done; true";
        assertThat(new ProcessBuilder("/bin/sh", "-c", all).start().waitFor()).isZero();
        Result result = waiter.await();
        assertThat(result.code()).as(result.err()).isEqualTo(130);
        assertThat(result.err()).isEmpty();
        assertThat(cli.run("inspect", "--json", "x").out()).contains("\"waiters\":0");
        holder.signal("TERM");
        holder.await();
    }
}
