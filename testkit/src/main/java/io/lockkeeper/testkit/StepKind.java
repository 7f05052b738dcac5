// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

/** The steps of a {@link io.lockkeeper.spi.LockStore}. */
public enum StepKind {
    /** {@link io.lockkeeper.spi.LockStore#id}. */
    ID,
    /** {@link io.lockkeeper.spi.LockStore#time}. */
    TIME,
    /** {@link io.lockkeeper.spi.LockStore#claim}. */
    CLAIM,
    /** {@link io.lockkeeper.spi.LockStore#renew}. */
    RENEW,
    /** {@link io.lockkeeper.spi.LockStore#release}. */
    RELEASE,
    /** {@link io.lockkeeper.spi.LockStore#downgrade}. */
    DOWNGRADE,
    /** {@link io.lockkeeper.spi.LockStore#withdraw}. */
    WITHDRAW,
    /** {@link io.lockkeeper.spi.LockStore#latch}. */
    LATCH,
    /** {@link io.lockkeeper.spi.LockStore#inspect}. */
    INSPECT,
    /** {@link io.lockkeeper.spi.LockStore#list}. */
    LIST,
    /** {@link io.lockkeeper.spi.LockStore#check}. */
    CHECK,
    /** {@link io.lockkeeper.spi.LockStore#breakHold}. */
    BREAK
}
