// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import io.lockkeeper.benchmarks.race.Contender.Skill;
import java.time.Duration;
import java.util.List;

/**
 * What contenders are made to do.
 *
 * @param threads in each process
 * @param work microseconds spent inside each lock. None flatters a contender that hands over inside the process, and hides overlaps
 */
public record Workload(String name, String title, Shape shape, int processes, int threads, int work)
        implements java.io.Serializable {
    /** Permits of {@link Shape#PERMITS}. */
    static final int LIMIT = 8;

    /** Percent of {@link Shape#READ_WRITE}. */
    static final int READS = 90;

    /** Microseconds for the workloads that work inside the lock. */
    private static final int SOME_WORK = 300;

    /** Who wants what. */
    public enum Shape {
        /** Each thread has its own name. */
        OWN_NAMES(Skill.LOCK),
        /** All want the same name. */
        ONE_NAME(Skill.LOCK),
        /** Two processes give a lock to and fro: the time from one's release to the other's acquisition. */
        HAND_OFF(Skill.LOCK),
        /** All want the same name, most of them to read. */
        READ_WRITE(Skill.READ_WRITE),
        /** All want one of a few permits. */
        PERMITS(Skill.PERMITS),
        /** Many names are held, and nothing else happens. */
        IDLE(Skill.KEEP);

        private final Skill skill;

        Shape(Skill skill) {
            this.skill = skill;
        }
    }

    static final List<Workload> ALL = List.of(
            of("one", "1 thread, 1 name", Shape.OWN_NAMES, 1, 1),
            of("own-16", "16 threads, names of their own", Shape.OWN_NAMES, 1, 16),
            of("own-64", "64 threads, names of their own", Shape.OWN_NAMES, 1, 64),
            of("same-8", "8 threads, 1 name", Shape.ONE_NAME, 1, 8),
            of("same-8-work", "8 threads, 1 name", Shape.ONE_NAME, 1, 8),
            of("same-32", "32 threads, 1 name", Shape.ONE_NAME, 1, 32),
            of("same-32-work", "32 threads, 1 name", Shape.ONE_NAME, 1, 32),
            of("read-write", "16 threads, 1 name, 90 % reads", Shape.READ_WRITE, 1, 16),
            of("read-write-work", "16 threads, 1 name, 90 % reads", Shape.READ_WRITE, 1, 16),
            of("semaphore", "32 threads, 8 permits", Shape.PERMITS, 1, 32),
            of("semaphore-work", "32 threads, 8 permits", Shape.PERMITS, 1, 32),
            of("processes", "4 processes × 4 threads, 1 name", Shape.ONE_NAME, 4, 4),
            of("processes-work", "4 processes × 4 threads, 1 name", Shape.ONE_NAME, 4, 4),
            of("semaphore-processes", "4 processes × 8 threads, 8 permits", Shape.PERMITS, 4, 8),
            of("semaphore-processes-work", "4 processes × 8 threads, 8 permits", Shape.PERMITS, 4, 8),
            of("hand-off", "release to acquisition between 2 processes", Shape.HAND_OFF, 2, 1),
            of("idle", "idle holds", Shape.IDLE, 1, 1));

    private static Workload of(String name, String title, Shape shape, int processes, int threads) {
        boolean works = name.endsWith("-work");
        return new Workload(
                name,
                works ? title + ", " + SOME_WORK + " µs inside" : title,
                shape,
                processes,
                threads,
                works ? SOME_WORK : 0);
    }

    static Workload named(String name) {
        return ALL.stream()
                .filter(w -> w.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no workload '" + name + "'; there are "
                        + ALL.stream().map(Workload::name).toList()));
    }

    boolean suits(Contender.Entry contender) {
        return contender.skills().contains(shape.skill);
    }

    /** A hand-off takes 55 ms and more, so a usual slice would see few of them. */
    Duration lengthOf(Duration slice) {
        return shape == Shape.HAND_OFF ? slice.multipliedBy(3) : slice;
    }

    /** What makes processes warm for this. Twenty hand-offs a second would not: there, they race for the name before. */
    Workload asWarmUp() {
        return shape == Shape.HAND_OFF ? new Workload(name, title, Shape.ONE_NAME, processes, 2, 0) : this;
    }

    /**
     * Whether a lock that does not lock shows. More than a few threads are never inside at a time if they do nothing there, unless
     * there are as many processors: permits need some work.
     */
    boolean showsOverlaps() {
        return switch (shape) {
            case ONE_NAME, READ_WRITE -> true;
            case PERMITS -> work > 0;
            case OWN_NAMES, HAND_OFF, IDLE -> false;
        };
    }
}
