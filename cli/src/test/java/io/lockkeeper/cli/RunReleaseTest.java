// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import io.lockkeeper.testservers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that the release does not reach when the command has ended, but a little later. */
class RunReleaseTest {
    /** Ends when it may. */
    private static final String COMMAND = "echo in; until test -e go; do sleep 0.05; done; exit 3";

    @TempDir
    Path folder;

    private RedisServer server;
    private Cli cli;

    @BeforeEach
    void setUp() {
        server = RedisServer.start();
        cli = new Cli(folder)
                .without("LOCKKEEPER_HOLDS")
                .with("LOCKKEEPER_STORE", "redis://" + server.address() + "?operationTimeout=300ms");
    }

    @AfterEach
    void tearDown() {
        server.close();
    }

    /** With a lease that is too long for anybody to wait for its end. */
    private Running endWhileTheStoreIsAway() throws Exception {
        Running running = cli.start("run", "x", "--lease", "10m", "--", "sh", "-c", COMMAND)
                .says("in");
        server.pause();
        Files.createFile(folder.resolve("go"));
        Await.until(() -> running.err().contains("the lock x could not be released yet"));
        return running;
    }

    private void assertFree() throws Exception {
        Result next = cli.run("run", "x", "--wait", "0", "--", "true");
        assertThat(next.code()).as(next.err()).isZero();
    }

    @Test
    void theReleaseIsRepeatedUntilTheStoreKnows() throws Exception {
        Running running = endWhileTheStoreIsAway();
        assertThat(running.process().waitFor(3, TimeUnit.SECONDS)).isFalse();
        server.resume();
        Result result = running.await();
        assertThat(result.code()).isEqualTo(3);
        assertThat(result.err())
                .contains("until its lease of 10 min 0 s has ended")
                .hasLineCount(1);
        assertFree();
    }

    @Test
    void aSignalEndsTheWaitForTheRelease() throws Exception {
        Running running = endWhileTheStoreIsAway();
        running.signal("TERM");
        assertThat(running.await().code()).isEqualTo(3);
    }

    @Test
    void aScriptsReleaseWaitsForTheStoreToo() throws Exception {
        String script = """
                eval "$(lockkeeper acquire x --lease 10m)" || exit
                echo in
                until test -e go; do sleep 0.05; done
                lockkeeper release
                """;
        Running running = cli.startShell("sh", script).says("in");
        server.pause();
        Files.createFile(folder.resolve("go"));
        Await.until(() -> running.err().contains("the lock x could not be released yet"));
        server.resume();
        Result result = running.await();
        assertThat(result.code()).as(result.err()).isZero();
        assertFree();
    }
}
