// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.quorum;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a majority of members sees. What only a few have (an attempt under way, a leftover) is not in force. */
final class MajorityView {
    private final Ensemble all;

    MajorityView(Ensemble all) {
        this.all = all;
    }

    Optional<LockInfo> inspect(String name) {
        Round<Optional<LockInfo>> seen =
                all.askEveryone("who holds '" + name + "'", member -> member.step(store -> store.inspect(name)));
        List<LockInfo> infos = new ArrayList<>();
        seen.forEach(one -> one.ifPresent(infos::add));
        return merge(name, infos);
    }

    /**
     * The first names in order. A member lists its own first ones; what it has beyond them is not known, so only names up to
     * the nearest end of a list can be judged, and more is asked for until that is enough.
     */
    List<LockInfo> list(String prefix, int limit) {
        for (int most = limit; ; most *= 2) {
            int atMost = most;
            Round<List<LockInfo>> seen =
                    all.askEveryone("what is held", member -> member.step(store -> store.list(prefix, atMost)));
            Map<String, List<LockInfo>> byName = new TreeMap<>();
            List<String> ends = new ArrayList<>();
            seen.forEach(list -> {
                list.forEach(info -> byName.computeIfAbsent(info.name(), n -> new ArrayList<>())
                        .add(info));
                if (list.size() == atMost) {
                    ends.add(list.get(atMost - 1).name());
                }
            });
            Optional<String> end = ends.stream().min(String::compareTo);
            List<LockInfo> merged = byName.entrySet().stream()
                    .filter(entry -> end.isEmpty() || entry.getKey().compareTo(end.get()) <= 0)
                    .flatMap(entry -> merge(entry.getKey(), entry.getValue()).stream())
                    .limit(limit)
                    .toList();
            if (merged.size() == limit || end.isEmpty()) {
                return merged;
            }
        }
    }

    private Optional<LockInfo> merge(String name, List<LockInfo> infos) {
        Map<Long, List<LockInfo.Hold>> byToken = new TreeMap<>();
        Map<Long, Mode> modes = new TreeMap<>();
        List<Duration> closed = new ArrayList<>();
        for (LockInfo info : infos) {
            closed.add(info.closedFor());
            for (LockInfo.Hold hold : info.holders()) {
                byToken.computeIfAbsent(hold.token(), t -> new ArrayList<>()).add(hold);
                modes.merge(hold.token(), info.mode(), (a, b) -> a == Mode.SHARED ? a : b);
            }
        }
        List<LockInfo.Hold> holders = new ArrayList<>();
        Mode mode = Mode.EXCLUSIVE;
        for (Map.Entry<Long, List<LockInfo.Hold>> entry : byToken.entrySet()) {
            List<LockInfo.Hold> same = entry.getValue();
            if (same.size() >= all.majority()) {
                LockInfo.Hold one = same.get(0);
                Duration left = heldByMajority(
                        same.stream().map(LockInfo.Hold::expiresIn).toList());
                holders.add(
                        new LockInfo.Hold(one.client(), one.label(), one.token(), one.permits(), one.since(), left));
                mode = modes.getOrDefault(entry.getKey(), mode);
            }
        }
        Duration closedFor = heldByMajority(closed);
        return holders.isEmpty() && closedFor.isZero()
                ? Optional.empty()
                : Optional.of(new LockInfo(name, mode, 0, holders, 0, closedFor));
    }

    /** How long a majority keeps to it; nothing when fewer have said anything. */
    private Duration heldByMajority(List<Duration> each) {
        return each.size() < all.majority()
                ? Duration.ZERO
                : each.stream().sorted().toList().get(each.size() - all.majority());
    }
}
