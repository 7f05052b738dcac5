// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Notes the signals that a client gets; unlike a keeper, it asks the store nothing. */
final class Tap implements Signals {
    final Map<ClaimId, Answer.Granted> granted = new ConcurrentHashMap<>();
    final Queue<String> others = new ConcurrentLinkedQueue<>();
    final AtomicInteger missed = new AtomicInteger();

    @Override
    public void granted(ClaimId claim, Answer.Granted grant) {
        granted.put(claim, grant);
    }

    @Override
    public void recalled(ClaimId claim) {
        others.add("recalled " + claim);
    }

    @Override
    public void lost(ClaimId claim, LeaseLost.Reason reason) {
        others.add("lost " + claim);
    }

    @Override
    public void changed(ClaimId claim) {
        others.add("changed " + claim);
    }

    @Override
    public void opened(String latch) {
        others.add("opened " + latch);
    }

    @Override
    public void sessionLost(String why) {
        others.add("sessionLost " + why);
    }

    @Override
    public void missed() {
        missed.incrementAndGet();
    }
}
