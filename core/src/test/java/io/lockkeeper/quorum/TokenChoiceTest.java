// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TokenChoiceTest {
    private static Terms terms(Mode mode, int block) {
        return new Terms(mode, 1, 0, Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO, block, false, "", "");
    }

    private static TokenChoice.Offer offer(int member, long token, int block) {
        return new TokenChoice.Offer(member, token, block);
    }

    @Test
    void aWriterTakesTheGreatestAndNoMoreThanItAskedFor() {
        List<TokenChoice.Offer> offers = List.of(offer(0, 5, 64), offer(1, 900, 8), offer(2, 30, 64));
        assertThat(TokenChoice.of(offers, 3, terms(Mode.EXCLUSIVE, 64))).contains(new TokenChoice(900, 8));
        assertThat(TokenChoice.of(offers, 3, terms(Mode.EXCLUSIVE, 2))).contains(new TokenChoice(900, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 6, 7})
    void aReaderFindsAWholeStripeInAnyBlock(int members) {
        for (long token = 1; token < 10_000; token++) {
            for (int member = 0; member < members; member++) {
                Optional<TokenChoice> choice =
                        TokenChoice.of(List.of(offer(member, token, 64)), members, terms(Mode.SHARED, 64));
                assertThat(choice).isPresent();
                assertThat(choice.get().block()).isEqualTo(TokenChoice.STRIPE);
                assertThat(choice.get().token()).isBetween(token, token + 64 - TokenChoice.STRIPE);
            }
        }
    }

    @Test
    void aReaderMayFindNothingWhereBlocksHaveShrunk() {
        List<TokenChoice.Offer> offers = List.of(offer(0, 8, 1), offer(1, 16, 1));
        assertThat(TokenChoice.of(offers, 3, terms(Mode.SHARED, 64)))
                .as("8 is in the stripe of member 1, 16 in that of member 2")
                .isEmpty();
        assertThat(TokenChoice.of(List.of(offer(0, 8, 1), offer(2, 16, 1)), 3, terms(Mode.SHARED, 64)))
                .contains(new TokenChoice(16, 1));
    }

    /** Members draw one after the other, each at its own pace; readers know only the blocks that they were given. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5, 7})
    void readersNeverShareATokenAndNeverTakeOneBelowWhatTheyWereOffered(int members) {
        Random random = new Random(members);
        long[] floors = random.longs(members, 0, 1_000).toArray();
        Map<Long, Integer> taken = new HashMap<>();
        int chosen = 0;
        for (int reader = 0; reader < 20_000; reader++) {
            List<TokenChoice.Offer> offers = new ArrayList<>();
            for (int member = 0; member < members; member++) {
                if (random.nextInt(4) > 0) {
                    int block = random.nextInt(5) == 0 ? 1 : 64;
                    floors[member] += random.nextInt(3) == 0 ? random.nextInt(30) : 0;
                    offers.add(offer(member, floors[member] + 1, block));
                    floors[member] += block;
                }
            }
            if (offers.isEmpty()) {
                continue;
            }
            Optional<TokenChoice> choice = TokenChoice.of(offers, members, terms(Mode.SHARED, 64));
            if (choice.isPresent()) {
                chosen++;
                assertThat(offers).allMatch(each -> each.token() <= choice.get().token());
                for (int i = 0; i < choice.get().block(); i++) {
                    assertThat(taken.put(choice.get().token() + i, reader)).isNull();
                }
            }
        }
        assertThat(chosen).isGreaterThan(10_000);
    }
}
