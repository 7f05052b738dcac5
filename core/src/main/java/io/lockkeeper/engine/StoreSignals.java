// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Ticker;
import org.jspecify.annotations.Nullable;

/**
 * What the store signals, passed to the claim, hold or latch that it concerns. A signal may be late, repeated, or about a claim
 * that has ended here long ago: then it changes nothing.
 */
final class StoreSignals implements Signals {
    private final Claims claims;
    private final Renewer renewer;
    private final Latches latches;
    private final Timer timer;
    private final Ticker ticker;

    StoreSignals(Claims claims, Renewer renewer, Latches latches, Timer timer, Ticker ticker) {
        this.claims = claims;
        this.renewer = renewer;
        this.latches = latches;
        this.timer = timer;
        this.ticker = ticker;
    }

    @Override
    public void granted(ClaimId id, Answer.Granted grant) {
        OpenClaim c = claims.find(id);
        if (c != null) {
            c.queue.pending().granted(c, grant, c.startOf(grant, ticker.nanos()));
        }
    }

    @Override
    public void recalled(ClaimId id) {
        Hold hold = held(id);
        if (hold != null) {
            hold.recall();
        }
    }

    @Override
    public void lost(ClaimId id, Reason reason) {
        Hold hold = held(id);
        if (hold != null) {
            hold.lose(reason);
        }
    }

    private @Nullable Hold held(ClaimId id) {
        OpenClaim c = claims.find(id);
        if (c == null) {
            return null;
        }
        c.doubt(ticker.nanos());
        return c.hold;
    }

    @Override
    public void changed(ClaimId id) {
        OpenClaim c = claims.find(id);
        if (c == null) {
            return;
        }
        c.doubt(ticker.nanos());
        Hold hold = c.hold;
        if (hold == null) {
            c.queue.pending().changed(c);
        } else {
            hold.validity.ask(ticker.nanos());
            timer.wakeBy(0);
        }
    }

    @Override
    public void opened(String latch) {
        latches.look(latch);
    }

    @Override
    public void sessionLost(String why) {
        for (OpenClaim c : claims.all()) {
            Hold hold = c.hold;
            if (hold != null) {
                hold.lose(Reason.SESSION_LOST);
            } else {
                c.queue.pending().evicted(c);
            }
        }
        latches.lookAll();
    }

    @Override
    public void missed() {
        renewer.askAboutAll();
        latches.lookAll();
    }
}
