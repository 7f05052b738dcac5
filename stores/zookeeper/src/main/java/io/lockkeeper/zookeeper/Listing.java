// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.Mode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The claims of a name, in order. Places decide: those in front that do not conflict hold the name, from the moment when
 * no conflicting one is before them.
 *
 * @param nodes the claims, first come, first served
 * @param orphans markers of holders that have gone without a release: the name is closed
 * @param changed the transaction in which a claim last came or went; 0 if the name has no node
 */
record Listing(List<ClaimNode> nodes, List<String> orphans, long changed) {
    /** Of a name that nobody uses. */
    static final Listing EMPTY = new Listing(List.of(), List.of(), 0);

    /** How the name of a lock-delay's marker begins; the claim's id follows. */
    static final String MARKER = "d_";

    /**
     * Puts children in order.
     *
     * @param changed the transaction in which they last changed
     * @param czxids asks for the czxids of nodes whose sequence numbers say nothing, by their names; a node that has
     *     gone meanwhile is left out
     */
    static Listing of(Collection<String> children, long changed, Function<List<ClaimNode>, Map<String, Long>> czxids) {
        List<ClaimNode> nodes = new ArrayList<>(children.size());
        List<ClaimNode> unclear = new ArrayList<>(0);
        List<String> markers = new ArrayList<>(0);
        Set<String> ids = new HashSet<>();
        for (String child : children) {
            if (child.startsWith(MARKER)) {
                markers.add(child);
            } else {
                ClaimNode.parse(child).ifPresent(node -> {
                    ids.add(node.id());
                    (node.isPastCounting() ? unclear : nodes).add(node);
                });
            }
        }
        nodes.sort(Comparator.comparing(ClaimNode::sequence));
        if (!unclear.isEmpty()) {
            Map<String, Long> known = czxids.apply(unclear);
            unclear.removeIf(node -> node.place() == 0 && !known.containsKey(node.name()));
            unclear.sort(Comparator.comparingLong(
                    node -> node.place() != 0 ? node.place() : known.getOrDefault(node.name(), 0L)));
            nodes.addAll(unclear);
        }
        markers.removeIf(marker -> ids.contains(marker.substring(MARKER.length())));
        return new Listing(List.copyOf(nodes), List.copyOf(markers), changed);
    }

    int indexOf(String id) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).id().equals(id)) {
                return i;
            }
        }
        return -1;
    }

    /** The place of this very node; another one of the same claim may be left over from an earlier session. */
    int indexOf(ClaimNode node) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).name().equals(node.name())) {
                return i;
            }
        }
        return -1;
    }

    /** How many at the front hold the name, or could were it not closed. */
    int front() {
        int count = 0;
        long permits = 0;
        for (ClaimNode node : nodes) {
            permits += node.permits();
            boolean isInFront =
                    switch (node.mode()) {
                        case EXCLUSIVE -> count == 0;
                        case SHARED -> nodes.get(0).mode() == Mode.SHARED;
                        case PERMITS -> permits <= node.limit();
                    };
            if (!isInFront) {
                break;
            }
            count++;
        }
        return count;
    }

    private long permits(int count) {
        long permits = 0;
        for (ClaimNode node : nodes.subList(0, count)) {
            permits += node.permits();
        }
        return permits;
    }

    /** Whether no claim before this place (which may be the end) conflicts with this one. */
    boolean isOpenTo(ClaimNode claim, int index) {
        return switch (claim.mode()) {
            case EXCLUSIVE -> index == 0;
            case SHARED -> nodes.subList(0, index).stream().allMatch(other -> other.mode() == Mode.SHARED);
            case PERMITS -> permits(index) + claim.permits() <= claim.limit();
        };
    }

    /**
     * What a claim at this place, which is not granted, has to wait for: the nearest one that conflicts, or any holder
     * of permits.
     */
    List<ClaimNode> awaitedBy(ClaimNode claim, int index) {
        if (index == 0) {
            return List.of();
        }
        switch (claim.mode()) {
            case SHARED -> {
                for (int i = index - 1; i >= 0; i--) {
                    if (nodes.get(i).mode() != Mode.SHARED) {
                        return List.of(nodes.get(i));
                    }
                }
                return List.of();
            }
            case PERMITS -> {
                return front() >= index ? nodes.subList(0, index) : List.of(nodes.get(index - 1));
            }
            default -> {
                return List.of(nodes.get(index - 1));
            }
        }
    }

    /** Whether the end of {@code awaited}, the only one awaited, grants the claim at this place at that very moment. */
    boolean isNextAfter(ClaimNode awaited, ClaimNode claim, int index) {
        int at = nodes.indexOf(awaited);
        return at == 0
                && orphans.isEmpty()
                && switch (claim.mode()) {
                    case EXCLUSIVE -> index == 1;
                    case SHARED -> nodes.subList(1, index).stream().allMatch(other -> other.mode() == Mode.SHARED);
                    case PERMITS -> false;
                };
    }
}
