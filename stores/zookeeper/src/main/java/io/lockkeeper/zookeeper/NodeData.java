// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.Terms;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * What a claim's node says.
 *
 * @param state how far it has come
 * @param lease the hold ends that many ms after this was written, unless it is {@code kept}
 * @param kept whether the hold lasts as long as its session
 * @param lockDelay how long the name stays closed if the session dies, in ms
 * @param recalled negative, or, while the hold is being broken, the lock-delay to keep after it, in ms
 * @param token the first token, where it is not that of the node's own czxid; otherwise 0
 * @param block how many tokens
 * @param since when it was granted, by the leader's clock in ms; 0 when that is when it was created
 * @param client for people
 * @param label for people
 */
record NodeData(
        State state,
        long lease,
        boolean kept,
        long lockDelay,
        long recalled,
        long token,
        int block,
        long since,
        String client,
        String label) {
    /** The format; a newer one is refused. */
    static final String VERSION = "1";

    /** A grant's czxid is multiplied by this to make its first token: frozen forever. */
    static final long TOKENS = 64;

    /** One token of the 64 is never in a block, so that there is always one for a downgrade. */
    static final int LONGEST_BLOCK = 63;

    enum State {
        /** It waits, or is first in line and has not yet written that it holds. */
        QUEUED,
        /** Granted from the queue, not yet confirmed. */
        UNCONFIRMED,
        /** It holds the name. */
        GRANTED
    }

    /** What the node of a new claim says; {@code kept} for one that is granted immediately. */
    static NodeData of(Terms terms, State state, boolean kept) {
        return new NodeData(
                state,
                terms.lease().toMillis(),
                kept,
                millis(terms.lockDelay()),
                -1,
                0,
                Math.max(1, Math.min(terms.block(), LONGEST_BLOCK)),
                0,
                terms.client(),
                terms.label());
    }

    static long millis(Duration d) {
        return (d.toNanos() + 999_999) / 1_000_000;
    }

    boolean isRecalled() {
        return recalled >= 0;
    }

    /** The first token of a node with this czxid. */
    long token(long czxid) {
        return token == 0 ? czxid * TOKENS : token;
    }

    NodeData as(State newState, long newLease, boolean newKept) {
        return new NodeData(newState, newLease, newKept, lockDelay, recalled, token, block, since, client, label);
    }

    NodeData recalled(long delay, long newLease) {
        return new NodeData(
                state, newLease, false, lockDelay, Math.max(recalled, delay), token, block, since, client, label);
    }

    NodeData withTokens(long newToken, int newBlock, long newSince) {
        return new NodeData(state, lease, kept, lockDelay, recalled, newToken, newBlock, newSince, client, label);
    }

    byte[] bytes() {
        return String.join(
                        " ",
                        VERSION,
                        state.name().substring(0, 1),
                        Long.toString(lease),
                        kept ? "k" : "-",
                        Long.toString(lockDelay),
                        Long.toString(recalled),
                        Long.toString(token),
                        Integer.toString(block),
                        Long.toString(since),
                        URLEncoder.encode(client, StandardCharsets.UTF_8) + "|"
                                + URLEncoder.encode(label, StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** What the text of a claim's node says; empty when it is damaged, another's, or of a newer version. */
    static Optional<NodeData> read(String text) {
        String[] parts = text.split(" ", -1);
        if (!parts[0].equals(VERSION) || parts.length != 10) {
            return Optional.empty();
        }
        State state =
                switch (parts[1]) {
                    case "G" -> State.GRANTED;
                    case "U" -> State.UNCONFIRMED;
                    default -> State.QUEUED;
                };
        String[] people = parts[9].split("\\|", -1);
        if (people.length != 2) {
            return Optional.empty();
        }
        try {
            return Optional.of(new NodeData(
                    state,
                    Long.parseLong(parts[2]),
                    parts[3].equals("k"),
                    Long.parseLong(parts[4]),
                    Long.parseLong(parts[5]),
                    Long.parseLong(parts[6]),
                    Integer.parseInt(parts[7]),
                    Long.parseLong(parts[8]),
                    URLDecoder.decode(people[0], StandardCharsets.UTF_8),
                    URLDecoder.decode(people[1], StandardCharsets.UTF_8)));
        } catch (IllegalArgumentException e) { // also thrown for a malformed number
            return Optional.empty();
        }
    }

    /** As {@link #read}, of the node at this path; one that cannot be read is an error. */
    static NodeData parse(String path, String text) {
        return read(text).orElseThrow(() -> Damaged.unreadable(path));
    }
}
