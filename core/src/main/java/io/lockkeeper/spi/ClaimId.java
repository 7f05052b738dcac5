// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

/**
 * The unguessable, unique id of a claim: a random prefix for the client, and a number.
 *
 * @param client the client's random prefix; letters, digits and {@code -} only, the same for all claims of one client
 * @param number counts the client's claims
 */
public record ClaimId(String client, long number) {
    /** Reads what {@link #toString()} wrote. */
    public static ClaimId parse(String s) {
        int dot = s.lastIndexOf('.');
        if (dot <= 0) {
            throw new IllegalArgumentException("'" + s + "' is no claim id (CLIENT.NUMBER)");
        }
        return new ClaimId(s.substring(0, dot), Long.parseLong(s, dot + 1, s.length(), 36));
    }

    /** {@code client.number}, the number in base 36. */
    @Override
    public String toString() {
        return client + '.' + Long.toString(number, 36);
    }
}
