// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.List;

/** A history told step by step, on a clock that stands where it was put. */
final class Scenario {
    static final String LOCK = "lock";

    private long now;
    final History history = new History(() -> now);

    /** It is now so late; going back is fine, since only times count. */
    Scenario at(long nanos) {
        now = nanos;
        return this;
    }

    RecordedClaim exclusive(String client) {
        return history.client(client).acquire(LOCK, HistoryMode.EXCLUSIVE);
    }

    RecordedClaim shared(String client) {
        return history.client(client).acquire(LOCK, HistoryMode.SHARED);
    }

    /** An exclusive hold whose claim took from one time to the other. */
    RecordedClaim exclusive(String client, long invoked, long returned, long token) {
        RecordedClaim claim = at(invoked).exclusive(client);
        at(returned);
        claim.ok(token);
        return claim;
    }

    /** A shared hold whose claim took from one time to the other. */
    RecordedClaim shared(String client, long invoked, long returned, long token) {
        RecordedClaim claim = at(invoked).shared(client);
        at(returned);
        claim.ok(token);
        return claim;
    }

    void release(RecordedClaim claim, long invoked, long returned, Outcome outcome) {
        at(invoked);
        RecordedStep release = claim.release();
        at(returned);
        switch (outcome) {
            case OK -> release.ok();
            case FAIL -> release.fail();
            case INFO -> release.info();
        }
    }

    List<Violation> violations() {
        return HistoryChecker.everyRule().check(history);
    }

    /** The rules that are broken, each as often as it is. */
    List<Rule> broken() {
        return violations().stream().map(Violation::rule).toList();
    }
}
