// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli.Running;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** As many commands at once as a careless crontab starts; in the larger tiers. */
class RunCrowdTest {
    private static final int MANY = 100;

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> larger() {
        boolean isLarge = !System.getProperty("lockkeeper.tier", "check").equals("check");
        return isLarge ? Stream.of(DynamicTest.dynamicTest("all are served", this::allAreServed)) : Stream.empty();
    }

    private void allAreServed() throws Exception {
        Cli cli = new Cli(folder);
        Path count = Files.createFile(folder.resolve("count"));
        // Not atomic: only the lock keeps two of them from reading the same number.
        String script =
                "n=$(wc -c <" + count + "); printf x >>" + count + "; test $(wc -c <" + count + ") = $((n + 1))";
        List<Running> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            all.add(cli.start("run", "x", "--wait", "10m", "--", "sh", "-c", script));
        }
        for (Running running : all) {
            assertThat(running.process().waitFor(10, TimeUnit.MINUTES)).isTrue();
            assertThat(running.process().exitValue()).as(running.err()).isZero();
        }
        assertThat(Files.size(count)).isEqualTo(MANY);
    }
}
