// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.rules;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.Guarantee;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.tck.support.Contract;
import io.lockkeeper.tck.support.Promise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Every call that waits and can be interrupted. */
enum InterruptibleWait {
    ACQUIRE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.lock(name).acquire();
        }
    },
    TRY_ACQUIRE_FOR_A_WHILE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.lock(name).tryAcquire(Contract.LONG);
        }
    },
    LOCK_INTERRUPTIBLY {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.lock(name).lockInterruptibly();
        }
    },
    TRY_LOCK_FOR_A_WHILE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            boolean unused = keeper.lock(name).tryLock(30, TimeUnit.SECONDS);
        }
    },
    TRY_CALL {
        @Override
        void in(Lockkeeper keeper, String name) throws Exception {
            keeper.lock(name).tryCall(Contract.LONG, lease -> "done");
        }
    },
    FIXED_LEASE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.lock(name, LockOptions.defaults().fixedLease(Duration.ofMinutes(1)))
                    .acquire();
        }
    },
    SEMAPHORE_ACQUIRE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.semaphore(name, 1).acquire();
        }
    },
    SEMAPHORE_TRY_ACQUIRE_FOR_A_WHILE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.semaphore(name, 1).tryAcquire(1, Contract.LONG);
        }
    },
    LATCH_AWAIT {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.latch(name).await();
        }
    },
    LATCH_AWAIT_FOR_A_WHILE {
        @Override
        void in(Lockkeeper keeper, String name) throws InterruptedException {
            keeper.latch(name).await(Contract.LONG);
        }
    };

    /** Waits for this name. */
    abstract void in(Lockkeeper keeper, String name) throws Exception;

    boolean isLatch() {
        return name().startsWith("LATCH");
    }

    boolean isSemaphore() {
        return name().startsWith("SEMAPHORE");
    }

    /** Ends the test if the store does not offer this. */
    void assumeOffered(Lockkeeper keeper, String name) {
        Guarantee needed = isLatch() ? Guarantee.LATCH : isSemaphore() ? Guarantee.PERMITS : Guarantee.FENCED;
        if (needed != Guarantee.FENCED && !keeper.guarantees().has(needed)) {
            assertThatThrownBy(() -> in(keeper, name)).isInstanceOf(UnsupportedOperationException.class);
            Promise.needed(keeper.guarantees(), needed);
        }
    }
}
