// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Ticker;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The claims that a member could not be told to withdraw. Each ends there by itself with its lease, so telling the member only
 * frees the name sooner. That is why they are bounded: one whose lease has ended is forgotten, and of too many the one that
 * ends soonest. A member that is down for a day costs no more than one that is down for a minute.
 */
final class Leftovers {
    /** A busy client leaves that many in about a second, and the member is sent as many in about that time. */
    static final int MOST = 500;

    private final Ticker ticker;
    private final Map<ClaimId, Leftover> byId = new HashMap<>();
    private final TreeSet<Leftover> byEnd =
            new TreeSet<>(Comparator.comparingLong(Leftover::until).thenComparingLong(Leftover::order));
    private long count;

    /**
     * @param claim what is to be withdrawn
     * @param until when it has ended by itself
     * @param order tells two apart that end at the same moment
     */
    private record Leftover(Claim claim, long until, long order) {}

    Leftovers(Ticker ticker) {
        this.ticker = ticker;
    }

    synchronized void add(Claim claim) {
        remove(claim.id());
        long until = ticker.nanos() + claim.terms().lease().toNanos();
        Leftover added = new Leftover(claim.asStray(), until, ++count);
        byId.put(claim.id(), added);
        byEnd.add(added);
        forgetEnded();
        while (byEnd.size() > MOST) {
            remove(byEnd.first().claim.id());
        }
    }

    /** Those that have not ended by themselves. */
    synchronized List<Claim> current() {
        forgetEnded();
        return byEnd.stream().map(Leftover::claim).toList();
    }

    synchronized void remove(ClaimId id) {
        Leftover removed = byId.remove(id);
        if (removed != null) {
            byEnd.remove(removed);
        }
    }

    synchronized boolean isEmpty() {
        return byEnd.isEmpty();
    }

    private void forgetEnded() {
        long now = ticker.nanos();
        while (!byEnd.isEmpty() && byEnd.first().until <= now) {
            remove(byEnd.first().claim.id());
        }
    }
}
