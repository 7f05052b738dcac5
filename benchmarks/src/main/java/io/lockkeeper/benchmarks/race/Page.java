// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A page of memory that all processes of a race share, and the judge of exclusion: a thread that holds a name says so in the name's slot
 * of the page, and sees which others are there. Nothing in it depends on the store that is measured.
 *
 * <p>An exclusive holder writes its number over a zero and back; finding any other value is an overlap. Meanwhile it adds one to a
 * plain number, in two steps, so that overlaps that the first check did not meet show as lost additions. Readers and permits are
 * counted in and out.
 */
public final class Page {
    /** One for each of the most names that a workload uses. */
    static final int SLOTS = 64;

    /** A cache line each. */
    private static final int SLOT_BYTES = 64;

    private static final int OWNER = 0;
    private static final int INSIDE = 8;
    private static final int ADDITIONS = 16;
    /** Words for {@link HandOff}. */
    static final int GIVER = 24;

    static final int GIVEN_AT = 32;
    static final int WAITING = 40; // and 48: two processes

    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final MappedByteBuffer bytes;

    private Page(MappedByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Maps a file, which is created if need be. */
    public static Page map(Path file) {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new Page(channel.map(FileChannel.MapMode.READ_WRITE, 0, SLOTS * SLOT_BYTES));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Empties it; nobody may be using it. */
    void clear() {
        for (int at = 0; at < SLOTS * SLOT_BYTES; at += 8) {
            WORD.setVolatile(bytes, at, 0L);
        }
    }

    /** How many additions the plain numbers have seen. */
    long additions() {
        long sum = 0;
        for (int slot = 0; slot < SLOTS; slot++) {
            sum += get(slot, ADDITIONS);
        }
        return sum;
    }

    long get(int slot, int word) {
        return (long) WORD.getVolatile(bytes, slot * SLOT_BYTES + word);
    }

    void set(int slot, int word, long value) {
        WORD.setVolatile(bytes, slot * SLOT_BYTES + word, value);
    }

    private long add(int slot, int word, long delta) {
        return (long) WORD.getAndAdd(bytes, slot * SLOT_BYTES + word, delta) + delta;
    }

    private boolean change(int slot, int word, long from, long to) {
        return WORD.compareAndSet(bytes, slot * SLOT_BYTES + word, from, to);
    }

    /**
     * Does some work as the only one in a slot.
     *
     * @param me a number of this thread among those of all processes, not 0
     * @return how many times another holder was seen
     */
    int alone(int slot, long me, Work work) {
        boolean mine = change(slot, OWNER, 0, me);
        int seen = mine ? 0 : 1;
        seen += get(slot, INSIDE) == 0 ? 0 : 1;
        long before = get(slot, ADDITIONS);
        work.run();
        set(slot, ADDITIONS, before + 1);
        seen += get(slot, INSIDE) == 0 ? 0 : 1;
        if (mine && !change(slot, OWNER, me, 0)) {
            seen++;
        }
        return seen;
    }

    /** Does some work as one of many readers; how many times a writer was seen. */
    int shared(int slot, Work work) {
        add(slot, INSIDE, 1);
        int seen = get(slot, OWNER) == 0 ? 0 : 1;
        work.run();
        seen += get(slot, OWNER) == 0 ? 0 : 1;
        add(slot, INSIDE, -1);
        return seen;
    }

    /** Does some work as one of that many; 1 if there were more. */
    int among(int slot, int limit, Work work) {
        int seen = add(slot, INSIDE, 1) > limit ? 1 : 0;
        work.run();
        add(slot, INSIDE, -1);
        return seen;
    }

    /** What is done inside a lock. */
    interface Work {
        void run();
    }
}
