// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.primitives;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedLock;
import io.lockkeeper.KeeperListener;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.ApiContract;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;

/** What the groups about several locks as one share. */
abstract class AbstractMultiLockContract extends ApiContract {
    /**
     * Locks named a, b and so on, which is the order in which they are taken. A loss is noticed soon even if the store does not
     * push signals, and on a busy machine no hold is lost by itself.
     */
    final DistributedLock[] locks(Lockkeeper keeper, String names) {
        LockOptions options = LockOptions.defaults().lease(longer(Duration.ofMillis(2_500), keeper));
        return names.chars()
                .mapToObj(c -> keeper.lock(name(Character.toString(c)), options))
                .toArray(DistributedLock[]::new);
    }

    final DistributedLock all(Lockkeeper keeper, String names) {
        return DistributedLock.all(locks(keeper, names));
    }

    /** A keeper that records the losses it reports. */
    final Lockkeeper keeper(Queue<LeaseLost> losses) {
        KeeperListener listener = new KeeperListener() {
            @Override
            public void lost(LeaseLost loss) {
                losses.add(loss);
            }
        };
        return closing(Lockkeeper.builder(store()).listener(listener).build());
    }

    /** Breaks the hold of a by the client that waits for b, and waits until that client knows; returns the token. */
    final long breakWhileWaiting(Lockkeeper other, Queue<LeaseLost> losses) throws Exception {
        await("a is held", () -> other.lock(name("a")).isLocked());
        awaitQueued(other, name("b"), 1);
        Set<Long> broken = new HashSet<>();
        await("the loss is reported", () -> {
            Optional<LeaseLost> told =
                    losses.stream().filter(l -> broken.contains(l.token())).findFirst();
            if (told.isEmpty()) { // a store without a queue may show a hold that is not reported yet, and never will be
                other.inspector().inspect(name("a")).stream()
                        .flatMap(info -> info.holders().stream())
                        .filter(hold -> other.inspector().breakHoldNow(name("a"), hold.token(), Duration.ZERO))
                        .forEach(hold -> broken.add(hold.token()));
            }
            return told.isPresent();
        });
        long token = losses.stream()
                .filter(l -> broken.contains(l.token()))
                .findFirst()
                .orElseThrow()
                .token();
        assertThat(isFree(other.lock(name("a"))))
                .as("it is not taken again before b is free")
                .isTrue();
        return token;
    }
}
