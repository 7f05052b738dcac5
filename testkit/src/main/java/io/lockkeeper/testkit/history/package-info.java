// SPDX-License-Identifier: Apache-2.0
/**
 * Record what many clients did with locks, then ask whether any correct lock could have answered like that.
 *
 * <p>A {@link io.lockkeeper.testkit.history.History} is recorded while a test runs: every operation with the time at
 * which it was invoked and the time at which it returned, on one monotonic clock. Afterwards a
 * {@link io.lockkeeper.testkit.history.HistoryChecker} looks for contradictions and names each as a
 * {@link io.lockkeeper.testkit.history.Violation}. Nothing here depends on Lockkeeper: any lock can be judged.
 *
 * <pre>{@code
 * History history = new History(System::nanoTime);
 * RecordedClaim claim = history.client("c1").acquire("orders", HistoryMode.EXCLUSIVE);
 * Lease lease = lock.acquire();
 * long now = history.now(); // before asking what remains, so that the deadline is not later than the truth
 * claim.ok(lease.token(), now + lease.remaining().toNanos());
 * RecordedStep release = claim.release();
 * release.okOrFail(lease.release());
 * HistoryChecker.everyRule().assertLegal(history);
 * }</pre>
 */
@NullMarked
package io.lockkeeper.testkit.history;

import org.jspecify.annotations.NullMarked;
