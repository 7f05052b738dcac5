// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * A recording of what clients asked of locks and what they were answered.
 *
 * <p>Call {@link RecordedClient#acquire acquire}, {@link RecordedClaim#release release} and the like just
 * <em>before</em> the real operation, and {@code ok}, {@code fail} or {@code info} just <em>after</em> it. A late
 * recording of an answer or an early one of an invocation only widens the interval in which the operation took place,
 * so that pauses of the recording thread hide violations but never invent one.
 *
 * <p>All clients must be recorded on one clock: one process, or one collector on one machine. Every method of this
 * class and of the recorders it hands out may be called by any thread at any time; none blocks.
 */
public final class History {
    private final LongSupplier ticker;
    private final long origin;
    private final Consumer<Event> log;
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final AtomicLong operations = new AtomicLong();
    private final ConcurrentMap<LimitOf, Long> limits = new ConcurrentHashMap<>();

    private record LimitOf(Event.Limit limit, String name) {}

    /** A history on {@link System#nanoTime()}. */
    public History() {
        this(System::nanoTime);
    }

    /**
     * A history on your own clock.
     *
     * @param ticker nanoseconds since any moment, never going back, the same for all threads
     */
    public History(LongSupplier ticker) {
        this(Objects.requireNonNull(ticker, "ticker"), ticker.getAsLong(), event -> {});
    }

    /** A history that begins at {@code origin}, and passes each event to {@code log} before anything else. */
    History(LongSupplier ticker, long origin, Consumer<Event> log) {
        this.ticker = ticker;
        this.origin = origin;
        this.log = log;
    }

    /** The time on the clock: the scale on which deadlines are given to the recorders. */
    public long now() {
        return ticker.getAsLong();
    }

    /** The recorder for one client; asking again gives an equal one. Two claims of one client exclude each other. */
    public RecordedClient client(String client) {
        return new RecordedClient(this, client);
    }

    /** The recorder for a guarded storage. */
    public RecordedStorage storage(String storage) {
        return new RecordedStorage(this, storage);
    }

    /**
     * Declares that a name is a semaphore; to be called before its permits are claimed.
     *
     * @throws IllegalArgumentException if permits is less than 1
     * @throws IllegalStateException if it was declared with another limit
     */
    public void declareSemaphore(String name, int permits) {
        declare(Event.Limit.PERMITS, name, permits, 1);
    }

    /**
     * Declares that a name is a latch; to be called before it is counted down or awaited. A latch that is set again is
     * another latch: give it another name.
     *
     * @throws IllegalArgumentException if count is negative
     * @throws IllegalStateException if it was declared with another count
     */
    public void declareLatch(String name, long count) {
        declare(Event.Limit.COUNT, name, count, 0);
    }

    /**
     * Declares how deep holds of a name may be re-entered; the first acquisition counts as 1. Without it there is no
     * limit.
     *
     * @throws IllegalArgumentException if depth is less than 1
     * @throws IllegalStateException if it was declared with another depth
     */
    public void declareDepthLimit(String name, int depth) {
        declare(Event.Limit.DEPTH, name, depth, 1);
    }

    /** Records that it is now this late, so that answers that are still missing are seen to be overdue. */
    public void look() {
        add(new Event.Looked(elapsed()));
    }

    /** What has been recorded so far, in the order of recording. */
    public List<Event> events() {
        return List.copyOf(events);
    }

    /** One line for each event, in order of time. */
    @Override
    public String toString() {
        return events().stream()
                .sorted(Comparator.comparingLong(Event::at))
                .map(event -> Nanos.show(event.at()) + "  " + event)
                .collect(Collectors.joining("\n"));
    }

    private void declare(Event.Limit limit, String name, long value, long least) {
        Objects.requireNonNull(name, "name");
        if (value < least) {
            throw new IllegalArgumentException(limit + " of \"" + name + "\" is " + value + ", less than " + least);
        }
        Long before = limits.putIfAbsent(new LimitOf(limit, name), value);
        if (before == null) {
            add(new Event.Declared(elapsed(), limit, name, value));
        } else if (before != value) {
            throw new IllegalStateException(
                    limit + " of \"" + name + "\" is " + before + " already, cannot become " + value);
        }
    }

    boolean isDeclared(Event.Limit limit, String name) {
        return limits.containsKey(new LimitOf(limit, name));
    }

    /** Time since the history began. */
    long elapsed() {
        return sinceOrigin(now());
    }

    /** Puts a time of the clock on the scale of the events. */
    long sinceOrigin(long nanos) {
        return nanos - origin;
    }

    long nextOperation() {
        return operations.incrementAndGet();
    }

    void add(Event event) {
        log.accept(event);
        events.add(event);
    }
}
