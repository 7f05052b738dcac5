// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.tck.model.ScriptStep.Ask;
import org.jspecify.annotations.Nullable;

/** A claim as either side knows it, and its grant when it has one that we were told of. */
final class ScriptAttempt {
    final int id;
    final Ask ask;
    Claim ours;
    Claim theirs;

    @Nullable
    Grant ourGrant;

    @Nullable
    Grant theirGrant;

    boolean stood;
    long firstToken;

    ScriptAttempt(int id, Ask ask, Claim ours, Claim theirs) {
        this.id = id;
        this.ask = ask;
        this.ours = ours;
        this.theirs = theirs;
    }

    void stray() {
        ours = ours.asStray();
        theirs = theirs.asStray();
        ourGrant = ourGrant == null ? null : with(ourGrant, ours);
        theirGrant = theirGrant == null ? null : with(theirGrant, theirs);
    }

    private static Grant with(Grant grant, Claim claim) {
        return new Grant(claim, grant.mode(), grant.token(), grant.block());
    }
}
