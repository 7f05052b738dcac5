// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Await;
import io.lockkeeper.cli.Cli.Result;
import io.lockkeeper.cli.Cli.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a lost lock means for the waiters. */
class RunLossTest {
    @TempDir
    Path folder;

    private Cli cli;

    @BeforeEach
    void setUp() {
        cli = new Cli(folder);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--shared ", "--permits 1/1 "})
    void aBrokenLockOpensWhenTheCommandHasStopped(String mode) throws Exception {
        Path hold = Files.writeString(folder.resolve("hold"), "#!/bin/sh\necho in\nexec sleep 600\n");
        assertThat(hold.toFile().setExecutable(true)).isTrue();
        // With a lease that is too long for anybody to wait for its end.
        Running holder =
                cli.start(("run x --lease 1h " + mode + "-- ./hold").split(" ")).says("in");
        assertThat(cli.run("break", "x", "--yes").code()).isZero();
        assertThat(holder.await().code()).isEqualTo(76);
        Result next = cli.run(("run x --wait 30s " + (mode.startsWith("--p") ? mode : "") + "-- echo mine").split(" "));
        assertThat(next.code()).as(next.err()).isZero();
        assertThat(next.out()).isEqualTo("mine\n");
    }

    @Test
    void theNextBeginsOnlyWhenACommandThatDoesNotWantToStopIsGone() throws Exception {
        String stubborn = "trap 'echo asked' TERM; echo $$ >child; echo in; while :; do sleep 0.05; done";
        Running holder = cli.start("run", "x", "--", "sh", "-c", stubborn).says("in");
        // A process that has ended may stand in the table until its parent has looked.
        String look = "grep -E '^State:.[^Z]' /proc/$(cat child)/status 2>/dev/null; echo mine";
        Running waiter = cli.start("run", "x", "--", "sh", "-c", look);
        Await.until(() -> cli.run("inspect", "--json", "x").out().contains("\"waiters\":1"));
        assertThat(cli.run("break", "x", "--yes").code()).isZero();
        assertThat(waiter.await().out()).isEqualTo("mine\n");
        Result result = holder.await();
        assertThat(result.code()).isEqualTo(76);
        assertThat(result.out()).isEqualTo("in\nasked\n");
    }

    @ParameterizedTest
    @CsvSource({"0,100", "90,60", "300,200", "2000,1700"})
    void theKillComesBeforeTheTimeIsOver(long remaining, long grace) {
        assertThat(Run.grace(Duration.ofMillis(remaining))).isEqualTo(Duration.ofMillis(grace));
    }
}
