// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.Mode;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Terms;
import java.time.Duration;

/** Copies of claims, terms and grants that differ in one thing. */
final class ChangedTerms {
    private ChangedTerms() {}

    static Answer.Granted token(Answer.Granted g, long token) {
        return new Answer.Granted(token, g.block(), g.remaining(), g.confirmed(), g.at());
    }

    static Answer.Granted block(Answer.Granted g, int block) {
        return new Answer.Granted(g.token(), block, g.remaining(), g.confirmed(), g.at());
    }

    static Claim with(Claim claim, Terms terms) {
        return new Claim(claim.name(), claim.id(), terms, claim.deadline(), claim.stray());
    }

    static Terms lease(Terms t, Duration lease) {
        return terms(t, t.mode(), t.limit(), lease, t.lockDelay(), t.patience());
    }

    static Terms patience(Terms t, Duration patience) {
        return terms(t, t.mode(), t.limit(), t.lease(), t.lockDelay(), patience);
    }

    static Terms lockDelay(Terms t, Duration lockDelay) {
        return terms(t, t.mode(), t.limit(), t.lease(), lockDelay, t.patience());
    }

    static Terms terms(Terms t, Mode mode, int limit, Duration lease, Duration lockDelay, Duration patience) {
        return new Terms(
                mode, t.permits(), limit, lease, lockDelay, patience, t.block(), t.queue(), t.client(), t.label());
    }
}
