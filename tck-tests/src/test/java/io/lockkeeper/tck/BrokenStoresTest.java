// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.tck.BrokenStores.Fault;
import io.lockkeeper.tck.history.HistoryRun;
import io.lockkeeper.tck.model.ModelCheck;
import io.lockkeeper.tck.nemesis.NemesisRest;
import io.lockkeeper.tck.nemesis.NemesisRun;
import io.lockkeeper.tck.support.Seed;
import io.lockkeeper.testkit.FaultyStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract can fail: in every run it detects stores that are broken on purpose, and accepts one that is not. */
class BrokenStoresTest {
    private static final ModelCheck.Effort LITTLE =
            new ModelCheck.Effort(Duration.ofMillis(200), Duration.ofSeconds(1));

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                "LETS_GO_EARLY",
                "NEVER_LETS_GO",
                "ENDLESS_PATIENCE",
                "NO_LOCK_DELAY",
                "KEEPS_SILENT_WAITERS",
                "SKIPS_LIVE_WAITERS"
            })
    @DisplayName("the model finds the fault")
    void theModelFindsTheFault(Fault fault) throws Exception {
        try (ModelCheck check = ModelCheck.still(BrokenStores.connections(fault), Seed.ofThisRun(), LITTLE)) {
            assertThat(check.compare(200, 60)).get().asString().startsWith("the store differs from the model");
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = {"NEVER_LETS_GO", "ENDLESS_PATIENCE", "NO_LOCK_DELAY", "KEEPS_SILENT_WAITERS", "SKIPS_LIVE_WAITERS"
            })
    @DisplayName("the model finds the fault when time passes")
    void theModelFindsTheFaultWhenTimePasses(Fault fault) throws Exception {
        try (ModelCheck check = ModelCheck.pausing(BrokenStores.connections(fault), Seed.ofThisRun(), LITTLE)) {
            assertThat(check.compare(100, 36)).get().asString().startsWith("the store differs from the model");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_REPEATS", "TOKEN_FALLS", "LETS_GO_EARLY", "READERS_BESIDE_WRITERS", "TOO_MANY_PERMITS"})
    @DisplayName("the history shows the fault")
    void theHistoryShowsTheFault(Fault fault) throws Exception {
        Optional<String> found = Optional.empty();
        for (int round = 0; round < 20 && found.isEmpty(); round++) {
            found = play(fault);
        }
        assertThat(found).get().asString().contains("rule");
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_REPEATS", "LETS_GO_EARLY", "READERS_BESIDE_WRITERS", "TOO_MANY_PERMITS"})
    @DisplayName("the nemesis shows the fault in a history")
    void theNemesisShowsTheFaultInAHistory(Fault fault) throws Exception {
        Optional<String> found = Optional.empty();
        for (int round = 0;
                round < 20 && found.filter(what -> what.contains("rule")).isEmpty();
                round++) {
            found = storm(fault);
        }
        assertThat(found).get().asString().contains("rule");
    }

    @Test
    @DisplayName("the nemesis shows what is left in the store")
    void theNemesisShowsWhatIsLeftInTheStore() throws Exception {
        Optional<String> found = Optional.empty();
        for (int round = 0;
                round < 20
                        && found.filter(what -> what.contains("in the store")).isEmpty();
                round++) {
            found = storm(Fault.NEVER_LETS_GO);
        }
        assertThat(found).get().asString().contains("in the store");
    }

    @Test
    @DisplayName("no fault is found where there is none")
    void noFaultIsFoundWhereThereIsNone() throws Exception {
        Supplier<LockStore> connections = BrokenStores.connections(Fault.NONE);
        try (ModelCheck check = ModelCheck.still(connections, Seed.ofThisRun(), ModelCheck.Effort.FULL)) {
            assertThat(check.compare(100, 60)).isEmpty();
        }
        assertThat(play(Fault.NONE)).isEmpty();
    }

    private static Optional<String> play(Fault fault) throws InterruptedException {
        Supplier<LockStore> connections = BrokenStores.connections(fault);
        List<LockStore> stores = List.of(connections.get(), connections.get(), FaultyStore.on(connections.get()));
        long seed = Seed.ofThisRun();
        return new HistoryRun(stores, "broken", seed, 2_000, Duration.ofSeconds(1)).play(3);
    }

    /** With little time to end: what a broken store leaves never ends. */
    private static Optional<String> storm(Fault fault) throws InterruptedException {
        NemesisRun run = new NemesisRun(BrokenStores.connections(fault), "broken", Seed.ofThisRun());
        return run.play(Duration.ofSeconds(1), new NemesisRest(() -> 0, 0, Duration.ofSeconds(3)));
    }
}
