// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** A history put together: from events to operations, from operations to holds. */
final class Timeline {
    /**
     * That an operation has to be answered, or granted, by a deadline.
     *
     * @param watchedUntil how long somebody waited for the answer, if it did not come
     */
    record Due(Operation operation, long deadline, boolean granted, long watchedUntil) {}

    private final Map<Long, Operation> operations = new LinkedHashMap<>();
    private final Map<String, List<Hold>> holds = new LinkedHashMap<>();
    private final Map<String, List<Operation>> writes = new LinkedHashMap<>();
    private final Map<Event.Limit, Map<String, Long>> limits = new HashMap<>();
    private final List<Due> dues = new ArrayList<>();

    Timeline(List<Event> events) {
        Recorded recorded = new Recorded(events);
        recorded.invoked.forEach(invoked -> operations.put(invoked.operation(), recorded.operation(invoked)));
        Map<Long, List<Operation>> steps = new HashMap<>();
        for (Operation operation : operations.values()) {
            target(operation.call()).ifPresent(hold -> listAt(steps, hold).add(operation));
        }
        for (Operation operation : operations.values()) {
            List<Operation> done = steps.getOrDefault(operation.id(), List.of());
            if (operation.call() instanceof Call.Acquire acquire) {
                addHold(recorded, operation, acquire.mode(), acquire.permits(), done);
            } else if (operation.call() instanceof Call.Downgrade) {
                addHold(recorded, operation, HistoryMode.SHARED, 1, done);
            }
        }
        for (Event.Written written : recorded.written) {
            listAt(writes, written.storage()).add(recorded.operation(written));
        }
        for (Event.Declared declared : recorded.declared) {
            limits.computeIfAbsent(declared.limit(), limit -> new HashMap<>()).put(declared.name(), declared.value());
        }
        long end = events.stream().mapToLong(Event::at).max().orElse(0);
        for (Event.Due due : recorded.due) {
            Operation operation = operations.get(due.operation());
            if (operation != null) {
                long watchedUntil = recorded.abandoned.getOrDefault(due.operation(), end);
                dues.add(new Due(operation, due.deadline(), due.granted(), watchedUntil));
            }
        }
    }

    /** All but writes, in order of recording. */
    Iterable<Operation> operations() {
        return operations.values();
    }

    /** Claims by name, also those that were not granted. */
    Map<String, List<Hold>> holds() {
        return holds;
    }

    /** Writes by storage, in its order. */
    Map<String, List<Operation>> writes() {
        return writes;
    }

    List<Due> dues() {
        return dues;
    }

    OptionalLong limit(Event.Limit limit, String name) {
        Long value = limits.getOrDefault(limit, Map.of()).get(name);
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    Map<String, Long> limits(Event.Limit limit) {
        return limits.getOrDefault(limit, Map.of());
    }

    private void addHold(Recorded recorded, Operation claim, HistoryMode mode, int permits, List<Operation> steps) {
        Hold hold = new Hold(
                claim,
                mode,
                permits,
                steps.stream()
                        .filter(step -> step.call() instanceof Call.Reenter)
                        .toList(),
                steps.stream()
                        .filter(step -> step.call() instanceof Call.Release)
                        .toList(),
                steps.stream()
                        .filter(step -> step.call() instanceof Call.Downgrade)
                        .toList(),
                recorded.validUntil(claim.id()),
                recorded.losses.getOrDefault(claim.id(), List.of()));
        listAt(holds, claim.name()).add(hold);
    }

    private static OptionalLong target(Call call) {
        if (call instanceof Call.Release release) {
            return release.hold();
        } else if (call instanceof Call.Reenter reenter) {
            return OptionalLong.of(reenter.hold());
        } else if (call instanceof Call.Downgrade downgrade) {
            return OptionalLong.of(downgrade.hold());
        }
        return OptionalLong.empty();
    }

    private static <K, V> List<V> listAt(Map<K, List<V>> lists, K key) {
        return lists.computeIfAbsent(key, k -> new ArrayList<>());
    }

    /** Events by kind and operation. */
    private static final class Recorded {
        final List<Event.Invoked> invoked = new ArrayList<>();
        final Map<Long, Event.Returned> returned = new HashMap<>();
        final Map<Long, Event.Granted> granted = new HashMap<>();
        final Map<Long, List<Event.Extended>> extended = new HashMap<>();
        final Map<Long, List<Long>> losses = new HashMap<>();
        final List<Event.Due> due = new ArrayList<>();
        final Map<Long, Long> abandoned = new HashMap<>();
        final List<Event.Written> written = new ArrayList<>();
        final List<Event.Declared> declared = new ArrayList<>();

        Recorded(List<Event> events) {
            events.forEach(this::sort);
        }

        private void sort(Event event) {
            if (event instanceof Event.Invoked e) {
                invoked.add(e);
            } else if (event instanceof Event.Returned e) {
                returned.put(e.operation(), e);
            } else if (event instanceof Event.Granted e) {
                granted.put(e.operation(), e);
            } else if (event instanceof Event.Extended e) {
                listAt(extended, e.operation()).add(e);
            } else if (event instanceof Event.Lost e) {
                listAt(losses, e.operation()).add(e.at());
            } else if (event instanceof Event.Due e) {
                due.add(e);
            } else if (event instanceof Event.Abandoned e) {
                abandoned.put(e.operation(), e.at());
            } else if (event instanceof Event.Written e) {
                written.add(e);
            } else if (event instanceof Event.Declared e) {
                declared.add(e);
            }
        }

        Operation operation(Event.Invoked call) {
            Event.Returned answer = returned.get(call.operation());
            Event.Granted grant = granted.get(call.operation());
            return new Operation(
                    call.operation(),
                    call.client(),
                    call.name(),
                    call.call(),
                    call.at(),
                    answer == null ? Outcome.INFO : answer.outcome(),
                    answer == null ? Nanos.NEVER : answer.at(),
                    grant == null ? OptionalLong.empty() : grant.token());
        }

        Operation operation(Event.Written write) {
            return new Operation(
                    write.operation(),
                    "storage",
                    write.storage(),
                    new Call.Write(write.mode()),
                    write.at(),
                    write.accepted() ? Outcome.OK : Outcome.FAIL,
                    write.at(),
                    OptionalLong.of(write.token()));
        }

        /**
         * Extensions count as long as each was recorded before the former end: where there may have been a gap, nothing
         * is promised behind it.
         */
        long validUntil(long claim) {
            Event.Granted grant = granted.get(claim);
            if (grant == null || grant.validUntil().isEmpty()) {
                return Nanos.NEVER;
            }
            long until = grant.validUntil().getAsLong();
            List<Event.Extended> extensions = new ArrayList<>(extended.getOrDefault(claim, List.of()));
            extensions.sort(Comparator.comparingLong(Event.Extended::at));
            for (Event.Extended extension : extensions) {
                if (extension.at() > until) {
                    break;
                }
                until = extension.validUntil();
            }
            return until;
        }
    }
}
