// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.support;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.Lease;
import io.lockkeeper.LeaseLost;
import io.lockkeeper.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the events of a keeper, in order. It refers to no lease, so that it keeps none reachable. */
public final class Recorder implements KeeperListener {
    /** One event. */
    public record Event(String what, String name, long token, Duration time) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();

    /** All events so far. */
    public List<Event> events() {
        return List.copyOf(events);
    }

    /** The kinds of all events so far. */
    public List<String> kinds() {
        return events.stream().map(Event::what).toList();
    }

    public boolean has(String what) {
        return kinds().contains(what);
    }

    /** The first event of this kind. */
    public Event first(String what) {
        return events.stream().filter(e -> e.what().equals(what)).findFirst().orElseThrow();
    }

    @Override
    public void acquired(Lease lease, Duration waited) {
        events.add(new Event("acquired", lease.name(), lease.token(), waited));
    }

    @Override
    public void notAcquired(String name, Duration waited) {
        events.add(new Event("notAcquired", name, 0, waited));
    }

    @Override
    public void released(String name, long token, Duration held) {
        events.add(new Event("released", name, token, held));
    }

    @Override
    public void atRisk(String name, long token, Duration remaining) {
        events.add(new Event("atRisk", name, token, remaining));
    }

    @Override
    public void lost(LeaseLost loss) {
        events.add(new Event("lost " + loss.reason(), loss.name(), loss.token(), loss.remaining()));
    }

    @Override
    public void storeDown(StoreUnavailableException cause) {
        events.add(new Event("storeDown", "", 0, Duration.ZERO));
    }

    @Override
    public void storeUp() {
        events.add(new Event("storeUp", "", 0, Duration.ZERO));
    }
}
