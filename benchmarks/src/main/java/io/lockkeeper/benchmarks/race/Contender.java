// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.time.Duration;
import java.util.Set;

/** A way to lock, as one process of an application would use it. Safe for use by several threads. */
public interface Contender extends AutoCloseable {
    /** What some can and others cannot. */
    enum Skill {
        /** {@link #lock}. */
        LOCK,
        /** {@link #read} and {@link #write}. */
        READ_WRITE,
        /** {@link #permit}. */
        PERMITS,
        /** {@link #keep}. */
        KEEP
    }

    /** Makes a contender that uses the store at this URL. */
    interface Opening {
        /** Connects; the store has been set up before. */
        Contender open(String url) throws Exception;
    }

    /**
     * A contender to be made.
     *
     * @param name how it is called in tables
     * @param byDefault whether it runs without being asked for
     */
    record Entry(String name, boolean byDefault, Set<Skill> skills, Opening opening) {
        /** One that runs without being asked for. */
        public static Entry of(String name, Set<Skill> skills, Opening opening) {
            return new Entry(name, true, skills, opening);
        }
    }

    /** What has been acquired. To be released by the thread that acquired it. */
    interface Held {
        /** Gives it back. */
        void release() throws Exception;
    }

    /** Many holds that are kept alive. */
    interface Kept {
        /** How many of them are held at this moment, as far as the contender knows. */
        int alive();

        /** Gives them back. */
        void release() throws Exception;
    }

    /** Waits for a name, and holds it with the contender's usual settings. */
    Held lock(String name) throws Exception;

    /** Waits for a share of a name. */
    default Held read(String name) throws Exception {
        throw new UnsupportedOperationException("no shares");
    }

    /** Waits for the whole of a name that others {@link #read}. */
    default Held write(String name) throws Exception {
        throw new UnsupportedOperationException("no shares");
    }

    /** Waits for one of that many permits. */
    default Held permit(String name, int limit) throws Exception {
        throw new UnsupportedOperationException("no permits");
    }

    /** Takes that many names and keeps them alive with this lease, until they are released; returns when it has them all. */
    default Kept keep(int names, Duration lease) throws Exception {
        throw new UnsupportedOperationException("no leases");
    }
}
