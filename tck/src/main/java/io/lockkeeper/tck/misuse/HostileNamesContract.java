// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.misuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.DistributedLatch;
import io.lockkeeper.DistributedLock;
import io.lockkeeper.DistributedSemaphore;
import io.lockkeeper.Guarantee;
import io.lockkeeper.Lease;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.Sequencer;
import io.lockkeeper.tck.support.ApiContract;
import io.lockkeeper.testkit.FaultyStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two names that differ in anything are two names, whatever characters they have: hazards H10 to H16. */
public abstract class HostileNamesContract extends ApiContract {
    /** Endings that some encoding, collation, pattern or path might take for each other or for something special. */
    static Stream<Arguments> pairs() {
        return Stream.concat(pairsByCharacters(), pairsBySyntax());
    }

    /** Characters that some software treats as the same, or cannot store. */
    private static Stream<Arguments> pairsByCharacters() {
        return Stream.of(
                pair("NFC and NFD", "\u00e9", "e\u0301"),
                pair("compatibility forms", "\ufb01", "fi"),
                pair("emoji of one block", "\ud83d\ude00", "\ud83d\ude01"),
                pair("an emoji and a question mark", "\ud83d\ude00", "?"),
                pair("zero-width joiner", "a\u200db", "ab"),
                pair("right-to-left mark", "a\u200f", "a"),
                pair("byte order mark", "\ufeffa", "a"),
                pair("NUL inside", "a\u0000b", "a"),
                pair("NUL at the end", "a\u0000", "a"),
                pair("CR LF and LF", "a\r\nb", "a\nb"),
                pair("a command after a line", "a\r\nFLUSHALL\r\n", "a"),
                pair("tab and blank", "a\tb", "a b"),
                pair("case", "A", "a"),
                pair("case outside of ASCII", "\u00c4", "\u00e4"),
                pair("Turkish i", "\u0130", "i"),
                pair("sharp s", "stra\u00dfe", "strasse"),
                pair("accent", "\u00e4", "a"),
                pair("one trailing blank", "a ", "a"),
                pair("trailing blanks", "a  ", "a "),
                pair("trailing no-break space", "a\u00a0", "a "),
                pair("leading blank", " a", "a"));
    }

    /** Characters that mean something to a store: in patterns, paths, statements and encodings. */
    private static Stream<Arguments> pairsBySyntax() {
        return Stream.of(
                pair("star", "a*", "ab"),
                pair("question mark", "a?", "ab"),
                pair("brackets", "[ab]", "a"),
                pair("backslash", "a\\", "a"),
                pair("escaped star", "\\*", "*"),
                pair("hash tag", "{a}b", "{a}c"),
                pair("hash tag and its inside", "{a}", "a"),
                pair("empty hash tag", "{}a", "{}b"),
                pair("lone braces", "}{", "{}"),
                pair("slash", "a/b", "a"),
                pair("slash at the end", "a/", "a"),
                pair("two slashes", "a//b", "a/b"),
                pair("dots", "a/../b", "b"),
                pair("dot", "a/./b", "a/b"),
                pair("only dots", "..", "."),
                pair("up to the root", "/../../zookeeper", "zookeeper"),
                pair("prefix", "a", "ab"),
                pair("prefix with a number", "a", "a/1"),
                pair("numbers", "1", "01"),
                pair("percent", "a%", "ab"),
                pair("percent-encoded", "a%20b", "a b"),
                pair("percent of percent", "%25", "%"),
                pair("plus", "a+b", "a b"),
                pair("underscore", "a_", "ab"),
                pair("quote", "a'b", "a''b"),
                pair("statement", "'; DROP TABLE lockkeeper_lock; --", "';"),
                pair("double quote and backtick", "a\"", "a`"),
                pair("colon", "a:b", "a"),
                pair("inner separators", "a:1", "a;1"),
                pair("JSON", "{\"a\":1}", "{\"a\":2}"));
    }

    private static Arguments pair(String what, String one, String two) {
        return Arguments.of(what, one, two);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pairs")
    void twoNamesAreTwoLocks(String what, String one, String two) throws Exception {
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        String first = name(one);
        String second = name(two);
        DistributedLock mine = keeper.lock(first);
        assertThat(mine.name()).isEqualTo(first);
        assertThat(mine).isNotEqualTo(keeper.lock(second));
        try (Lease lease = mine.acquire()) {
            assertThat(isFree(other.lock(second))).as("the other name is free").isTrue();
            assertThat(isTaken(other.lock(first))).as("this one is taken").isTrue();
            assertThat(other.inspector().inspect(second)).isEmpty();
            LockInfo info = other.inspector().inspect(first).orElseThrow();
            assertThat(info.name()).isEqualTo(first);
            assertThat(info.holders()).hasSize(1);
            try (Lease both = other.lock(second).acquire()) {
                assertThat(both.isValid()).isTrue();
                assertThat(listed(other, first)).contains(first);
                assertThat(listed(other, name(""))).containsExactlyInAnyOrder(first, second);
            }
            Sequencer sequencer = Sequencer.parse(lease.sequencer().toString());
            assertThat(sequencer).isEqualTo(lease.sequencer());
            assertThat(other.inspector().check(sequencer)).isTrue();
            assertThat(other.inspector().check(new Sequencer(second, sequencer.mode(), sequencer.token())))
                    .isFalse();
        }
        assertThat(listed(other, name(""))).isEmpty();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pairs")
    void theQueueOfANameIsItsOwn(String what, String one, String two) throws Exception { // H15
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        Lease first = keeper.lock(name(one)).acquire();
        Lease second = keeper.lock(name(two)).acquire();
        Future<Lease> waiting = other.lock(name(one)).acquireAsync();
        awaitQueued(keeper, name(one), 1);
        assertThat(keeper.inspector().inspect(name(two)).orElseThrow().waiters())
                .isZero();
        assertThat(second.release()).isTrue();
        assertThat(isFree(keeper.lock(name(two)))).isTrue();
        assertThat(waiting).isNotDone();
        assertThat(first.release()).isTrue();
        Lease handed = get(waiting);
        assertThat(handed.name()).isEqualTo(name(one));
        assertThat(handed.release()).isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pairs")
    void listingByPrefixIsLiteral(String what, String one, String two) throws Exception { // H13, H16
        Lockkeeper keeper = keeper();
        String first = name(one);
        String second = name(two) + "\u00e9x";
        try (Lease a = keeper.lock(first).acquire();
                Lease b = keeper.lock(second).acquire()) {
            assertThat(a.isValid() && b.isValid()).isTrue();
            for (String prefix : List.of(name(""), first, second, name(two), first + "x")) {
                assertThat(listed(keeper, prefix))
                        .as("the prefix " + prefix)
                        .containsExactlyInAnyOrderElementsOf(Stream.of(first, second)
                                .filter(n -> n.startsWith(prefix))
                                .toList());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pairs")
    void twoNamesAreTwoSemaphoresAndTwoLatches(String what, String one, String two) throws Exception {
        Lockkeeper keeper = keeper();
        if (keeper.guarantees().has(Guarantee.PERMITS)) {
            DistributedSemaphore first = keeper.semaphore(name(one), 2);
            DistributedSemaphore second = keeper.semaphore(name(two), 3);
            try (Lease lease = first.acquire(2)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(first.availablePermits()).isZero();
                assertThat(second.availablePermits()).isEqualTo(3);
                assertThat(second.tryAcquire(3).orElseThrow().release()).isTrue();
            }
        }
        if (keeper.guarantees().has(Guarantee.LATCH)) {
            DistributedLatch first = keeper.latch(name(one));
            DistributedLatch second = keeper.latch(name(two));
            assertThat(first.trySetCount(2)).isTrue();
            assertThat(second.count()).isZero();
            assertThat(second.trySetCount(1)).isTrue();
            second.countDown();
            assertThat(second.await(Duration.ZERO)).isTrue();
            assertThat(first.count()).isEqualTo(2);
            first.countDown();
            first.countDown();
            assertThat(first.await(Duration.ZERO)).isTrue();
        }
    }

    @Test
    void blanksAndControlCharactersAreNames() throws Exception { // H10
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        for (String blank : List.of(" ", "  ", "\t", "\n", "\u0000", "\u00a0", "\u3000", "/", ".", "..", "*", "%")) {
            try (Lease lease = keeper.lock(blank).acquire()) {
                assertThat(lease.name()).isEqualTo(blank);
                assertThat(isTaken(other.lock(blank))).isTrue();
                assertThat(other.inspector().inspect(blank).orElseThrow().name())
                        .isEqualTo(blank);
            }
        }
    }

    @Test
    void aNameHasUpTo512Bytes() throws Exception { // H10
        Lockkeeper keeper = keeper();
        Lockkeeper other = keeper();
        for (String filling : List.of("x", "/", "%", "\u00e9", "\u20ac", "\ud83d\ude00", "\u0000")) {
            String name = fill(name(), filling);
            assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSize(512);
            String almost = name.substring(0, name.length() - 1) + "y";
            try (Lease lease = keeper.lock(name).acquire()) {
                assertThat(isTaken(other.lock(name))).isTrue();
                assertThat(isFree(other.lock(almost)))
                        .as("a difference at the end counts")
                        .isTrue();
                assertThat(listed(other, name)).containsExactly(name);
                assertThat(other.inspector().check(lease.sequencer())).isTrue();
            }
        }
    }

    /** Exactly 512 bytes: this filling, and x where it does not fit; the last is one that can be left out. */
    private static String fill(String name, String filling) {
        int size = filling.getBytes(StandardCharsets.UTF_8).length;
        StringBuilder out = new StringBuilder(name);
        int left = 511 - name.getBytes(StandardCharsets.UTF_8).length;
        for (; left >= size; left -= size) {
            out.append(filling);
        }
        return out + "x".repeat(left + 1);
    }

    @Test
    void badNamesAreRefusedBeforeAnyStep() {
        FaultyStore store = faulty();
        Lockkeeper keeper = keeper(store);
        List<String> bad = List.of(
                "", // H10
                "x".repeat(513),
                "\u00e9".repeat(257),
                "\ud83d\ude00".repeat(128) + "x",
                "x".repeat(1_000_000),
                "\ud83d", // H11: a lone surrogate would turn into a question mark
                "\ude00",
                "a\ud83db",
                "\ude00\ud83d",
                "a".repeat(100) + "\ud83d");
        for (String name : bad) {
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.lock(name));
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.readWriteLock(name));
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.semaphore(name, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.latch(name));
            assertThatIllegalArgumentException().isThrownBy(() -> keeper.election(name));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> keeper.inspector().inspect(name));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> keeper.inspector().breakHold(name, 1, Duration.ZERO));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keeper.lock("x".repeat(1_000_000)))
                .withMessageContaining("512")
                .withMessageContaining("1000000")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
        assertThat(store.count()).isZero();
    }

    @Test
    void aPrefixThatIsNoNameFindsNothingOrAll() throws Exception {
        Lockkeeper keeper = keeper();
        try (Lease lease = keeper.lock(name()).acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(listed(keeper, "")).contains(name());
            assertThat(listed(keeper, name() + "x".repeat(1000))).isEmpty();
            assertThat(listed(keeper, name() + "\ud83d")).isEmpty();
        }
    }

    @Test
    void aPrefixOfCharactersOfTwoHalvesIsLiteral() throws Exception {
        Lockkeeper keeper = keeper();
        try (Lease lease = keeper.lock(name("\ud83d\ude00")).acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(listed(keeper, name("\ud83d\ude00"))).containsExactly(name("\ud83d\ude00"));
            assertThat(listed(keeper, name("\ud83d\ude01"))).isEmpty();
        }
    }

    private static List<String> listed(Lockkeeper keeper, String prefix) {
        return keeper.inspector().list(prefix, 10_000).stream()
                .map(LockInfo::name)
                .toList();
    }
}
