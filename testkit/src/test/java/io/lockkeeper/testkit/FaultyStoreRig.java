// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Terms;
import java.time.Duration;
import java.util.List;

/** A store that can be made to fail, on virtual time, and claims of it. */
abstract class FaultyStoreRig {
    final LockStore real = new VirtualTime().newStore();
    final FaultyStore store = FaultyStore.on(real);
    private long ids;

    final Claim claim(String client) {
        Terms terms = new Terms(
                Mode.EXCLUSIVE,
                1,
                0,
                Duration.ofSeconds(30),
                Duration.ZERO,
                Duration.ofSeconds(10),
                4,
                true,
                client,
                "");
        return new Claim(
                "x",
                new ClaimId(client, ++ids),
                terms,
                real.time(real.lane("x")).plusMicros(2_000_000),
                false);
    }

    final int holders() {
        return real.inspect("x").map(LockInfo::holders).map(List::size).orElse(0);
    }

    final void assertFails(Runnable step) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(step::run)
                .withMessageContaining("injected")
                .satisfies(e -> assertThat(e.worthRepeating()).isTrue());
    }
}
