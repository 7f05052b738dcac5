// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.model;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A command to the {@link Model}: the steps of {@link io.lockkeeper.spi.LockStore} as values.
 *
 * @param <R> its answer
 */
public sealed interface Command<R> {
    /** Carries it out; only the model calls this. */
    R on(Model model);

    /** {@link io.lockkeeper.spi.LockStore#claim}. */
    record Claim(io.lockkeeper.spi.Claim claim) implements Command<Answer> {
        @Override
        public Answer on(Model model) {
            return model.claim(claim);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#renew}. */
    record Renew(Renewals batch) implements Command<Renewal> {
        @Override
        public Renewal on(Model model) {
            return model.renew(batch);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#release}. */
    record Release(Grant grant) implements Command<Boolean> {
        @Override
        public Boolean on(Model model) {
            return model.release(grant.claim());
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#downgrade}. */
    record Downgrade(Grant grant) implements Command<Optional<Grant>> {
        @Override
        public Optional<Grant> on(Model model) {
            return model.downgrade(grant);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#withdraw}. */
    record Withdraw(io.lockkeeper.spi.Claim claim) implements Command<Boolean> {
        @Override
        public Boolean on(Model model) {
            return model.withdraw(claim);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#latch}. */
    record Latch(LatchStep step) implements Command<LatchState> {
        @Override
        public LatchState on(Model model) {
            return model.latch(step);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#inspect}. */
    record Inspect(String name) implements Command<Optional<LockInfo>> {
        @Override
        public Optional<LockInfo> on(Model model) {
            return model.inspect(name);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#list}. */
    record ListNames(String prefix, int limit) implements Command<List<LockInfo>> {
        @Override
        public List<LockInfo> on(Model model) {
            return model.list(prefix, limit);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#check}. */
    record Check(Sequencer sequencer) implements Command<Boolean> {
        @Override
        public Boolean on(Model model) {
            return model.check(sequencer);
        }
    }

    /** {@link io.lockkeeper.spi.LockStore#breakHold}. */
    record Break(String name, long token, Duration lockDelay, boolean now) implements Command<Boolean> {
        @Override
        public Boolean on(Model model) {
            return model.breakHold(name, token, lockDelay, now);
        }
    }
}
