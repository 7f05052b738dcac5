// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;

/** The first few names after a given one, in order, out of all that are added. */
final class FirstNames {
    private static final byte[] NO_BOUND = {};

    private final TreeSet<String> names = new TreeSet<>();
    private final String after;
    private final int most;

    /** @param after the empty string for none */
    FirstNames(String after, int most) {
        this.after = after;
        this.most = most;
    }

    void add(String name) {
        if (name.compareTo(after) > 0 && names.add(name) && names.size() > most) {
            names.pollLast();
        }
    }

    boolean isFull() {
        return names.size() == most;
    }

    String last() {
        return names.last();
    }

    List<String> inOrder() {
        return List.copyOf(names);
    }

    /**
     * What a server need not send any name after, in UTF-8; empty when there is no such name yet. Servers compare bytes. That is
     * the order of names here, too, as long as one of the two has no character from the surrogates on.
     */
    byte[] bound() {
        return isFull() && last().chars().allMatch(c -> c < Character.MIN_SURROGATE)
                ? last().getBytes(StandardCharsets.UTF_8)
                : NO_BOUND;
    }
}
