// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HistoryLogTest {
    @TempDir
    Path folder;

    private History record(Path file, String client) {
        History history = HistoryLog.recording(file);
        history.declareSemaphore("s", 3);
        history.declareLatch("l", 1);
        history.declareDepthLimit("a b\n%+", 2);
        RecordedClaim claim = history.client(client).acquire("a b\n%+", HistoryMode.EXCLUSIVE);
        claim.answeredBy(history.now() + 1_000_000_000);
        claim.ok(7, history.now() + 1_000_000);
        claim.extended(history.now() + 2_000_000);
        claim.reenter().ok(7);
        claim.downgrade().ok(8);
        claim.lost();
        claim.release().fail();
        history.client(client).acquirePermits("s", 2).ok();
        history.client(client).release("x").info();
        history.client(client).countDown("l").ok();
        history.client(client).await("l").ok();
        history.storage("").accepted(HistoryMode.SHARED, 9);
        history.look();
        return history;
    }

    @Test
    void aHistoryIsReadAsItWasRecorded() {
        Path file = folder.resolve("one");
        History recorded = record(file, "c ü");
        History read = HistoryLog.merged(List.of(file));
        long first = recorded.events().stream().mapToLong(Event::at).min().orElseThrow();
        assertThat(read.events()).hasSameSizeAs(recorded.events());
        for (int i = 0; i < read.events().size(); i++) {
            Event was = recorded.events().get(i);
            Event is = read.events().get(i);
            assertThat(is.at()).isEqualTo(was.at() - first);
            assertThat(is).isInstanceOf(was.getClass());
        }
        assertThat(read.toString().lines())
                .hasSameSizeAs(recorded.toString().lines().toList());
        assertThat(HistoryChecker.everyRule().check(read).toString())
                .isEqualTo(HistoryChecker.everyRule()
                        .check(HistoryLog.merged(List.of(file)))
                        .toString());
    }

    @Test
    void operationsOfSeveralProcessesStayApart() {
        Path one = folder.resolve("one");
        Path two = folder.resolve("two");
        HistoryLog.recording(one)
                .client("a")
                .acquire("x", HistoryMode.EXCLUSIVE)
                .ok(1);
        HistoryLog.recording(two)
                .client("b")
                .acquire("x", HistoryMode.EXCLUSIVE)
                .ok(2);
        History merged = HistoryLog.merged(List.of(one, two));
        assertThat(HistoryChecker.everyRule().check(merged))
                .as("both hold it")
                .anyMatch(v -> v.rule() == Rule.EXCLUSION);
    }

    @Test
    void theLastLineOfAKilledProcessIsLeftOut() throws Exception {
        Path file = folder.resolve("killed");
        HistoryLog.recording(file)
                .client("a")
                .acquire("x", HistoryMode.EXCLUSIVE)
                .ok(1);
        int events = HistoryLog.merged(List.of(file)).events().size();
        Files.writeString(file, "returned 12", StandardOpenOption.APPEND);
        assertThat(HistoryLog.merged(List.of(file)).events()).hasSize(events);
        Files.writeString(file, "\n", StandardOpenOption.APPEND);
        assertThatIllegalArgumentException().isThrownBy(() -> HistoryLog.merged(List.of(file)));
    }

    /** Found by a fleet that ran for longer than the slack: what a killed process had asked for counted as never answered. */
    @Test
    void nobodyWaitsForTheAnswersOfAProcessThatWasKilled() {
        Path killed = folder.resolve("killed");
        Path other = folder.resolve("other");
        History early = HistoryLog.recording(killed);
        early.client("a").acquire("x", HistoryMode.EXCLUSIVE).answeredBy(early.now() + 1_000_000);
        long killedAt = System.nanoTime();
        HistoryLog.written(other, 1, "s", HistoryMode.EXCLUSIVE, 1, true);
        History late = HistoryLog.recording(other);
        do {
            late.look();
        } while (System.nanoTime() < killedAt + 10_000_000);
        HistoryChecker checker = HistoryChecker.everyRule().slack(Duration.ZERO);
        List<Path> both = List.of(killed, other);
        assertThat(checker.check(HistoryLog.merged(both)))
                .as("it lives, and was not answered")
                .extracting(Violation::rule)
                .containsExactly(Rule.LIVENESS);
        assertThat(checker.check(HistoryLog.merged(both, Map.of(killed, killedAt))))
                .isEmpty();
        assertThat(checker.check(HistoryLog.merged(both, Map.of(killed, killedAt + 10_000_000))))
                .as("it was killed when the answer was overdue")
                .extracting(Violation::rule)
                .containsExactly(Rule.LIVENESS);
    }

    @Test
    void writesComeInTheOrderOfTheStorage() {
        Path file = folder.resolve("storage");
        HistoryLog.written(file, 1, "s", HistoryMode.EXCLUSIVE, 34, true);
        HistoryLog.written(file, 2, "s", HistoryMode.EXCLUSIVE, 33, true);
        assertThat(HistoryChecker.everyRule().check(HistoryLog.merged(List.of(file))))
                .extracting(Violation::rule)
                .containsExactly(Rule.GUARD);
    }

    @Test
    void aFreeLockThatIsGrantedLateShows() {
        long[] now = new long[1];
        History history = new History(() -> now[0]);
        RecordedClaim first = history.client("a").acquire("x", HistoryMode.EXCLUSIVE);
        first.ok(1, 100);
        now[0] = 10;
        RecordedClaim second = history.client("b").acquire("x", HistoryMode.EXCLUSIVE);
        now[0] = 20;
        first.release().ok();
        now[0] = 50;
        second.ok(2, 100);
        assertThat(Handovers.longestIdle(history, "x")).isEqualTo(Duration.ofNanos(30));
        assertThat(Handovers.grants(history)).isEqualTo(2);
    }
}
