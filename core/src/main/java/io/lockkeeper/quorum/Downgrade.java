// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.Mode;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.Grant;
import java.util.Optional;

/**
 * Turns an exclusive hold into a shared one at all members that hold it. They take the next token of the block. One that is
 * used up has one more, which was written back with it: otherwise each member would draw another.
 */
final class Downgrade {
    private final Ensemble all;

    Downgrade(Ensemble all) {
        this.all = all;
    }

    Optional<Grant> run(QuorumHold quorumHold, Grant grant) {
        String name = quorumHold.claim().name();
        int block = Math.max(2, grant.block());
        Round<Optional<Grant>> answers = all.askEveryone("a downgrade of '" + name + "'", member -> {
            Grant own = all.grantAt(member, quorumHold);
            return own == null
                    ? Optional.empty()
                    : member.step(
                            store -> store.downgrade(new Grant(own.claim(), Mode.EXCLUSIVE, grant.token(), block)));
        });
        int done = answers.count(Optional::isPresent);
        if (done >= all.majority()) {
            Grant result = grant;
            for (Member member : all.members()) {
                Optional<Grant> one = answers.answer(member.number());
                if (one != null && one.isPresent()) {
                    result = new Grant(
                            grant.claim(),
                            Mode.SHARED,
                            one.get().token(),
                            one.get().block());
                }
            }
            quorumHold.downgraded(result);
            return Optional.of(result);
        }
        if (quorumHold.end() > all.now() && answers.answered() < all.size()) {
            throw new StoreUnavailableException(
                    "only " + done + " of " + all.size() + " members have let readers in to '" + name + "': "
                            + answers.describe(),
                    null);
        }
        return Optional.empty();
    }
}
