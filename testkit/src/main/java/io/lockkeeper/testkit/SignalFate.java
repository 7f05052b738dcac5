// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

/** What becomes of one signal of a store; see {@link FaultyStore#disturbSignals}. */
public enum SignalFate {
    /** It is delivered at once. */
    DELIVERED,
    /** It is lost. */
    LOST,
    /** It is kept back until {@link FaultyStore#deliverSignals()}. */
    HELD,
    /** It is delivered at once, and a copy of it is kept back. */
    TWICE
}
