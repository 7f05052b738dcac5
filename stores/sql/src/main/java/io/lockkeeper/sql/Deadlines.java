// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.LinkedHashMap;
import java.util.Map;

/** Words, each with a time until which it counts, as the text of one column: {@code word=time word=time}. */
final class Deadlines {
    private final Map<String, Long> all = new LinkedHashMap<>();

    /** Reads the text, leaving out what no longer counts. */
    static Deadlines parse(String text, long now) {
        Deadlines deadlines = new Deadlines();
        for (String entry : text.split(" ")) {
            int equals = entry.indexOf('=');
            if (equals > 0) {
                long until = Long.parseLong(entry, equals + 1, entry.length(), 10);
                if (until >= now) {
                    deadlines.all.put(entry.substring(0, equals), until);
                }
            }
        }
        return deadlines;
    }

    boolean contains(String word) {
        return all.containsKey(word);
    }

    void put(String word, long until) {
        all.put(word, until);
    }

    /** The last of the times; 0 when there are none. */
    long last() {
        return all.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    Iterable<String> words() {
        return all.keySet();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        all.forEach((word, until) ->
                text.append(text.isEmpty() ? "" : " ").append(word).append('=').append(until));
        return text.toString();
    }
}
