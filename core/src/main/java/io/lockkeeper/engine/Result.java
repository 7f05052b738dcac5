// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

/** What a waiter is answered, once. */
sealed interface Result {
    /** It has got possession, which it must accept or give back. */
    record Acquired(Possession possession) implements Result {}

    /** The lock is taken. */
    record NotAcquired() implements Result {}

    /** It could not be found out whether the lock is taken, or the keeper was closed. */
    record Failed(Throwable cause) implements Result {}

    /** It has left: nobody wants to know. */
    record Left() implements Result {}

    Result NOT_ACQUIRED = new NotAcquired();
    Result LEFT = new Left();
}
