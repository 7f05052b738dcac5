// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

/** A write with a fencing token that is older than one already seen was refused; nothing has been written. */
public final class StaleTokenException extends LockkeeperException {
    private static final long serialVersionUID = 1L;

    private final long token;
    private final long seen;

    /** Refuses {@code token} for {@code resource}, which has already seen {@code seen}. */
    public StaleTokenException(String resource, long token, long seen) {
        super("token " + token + " is stale for '" + resource + "', which has seen token " + seen);
        this.token = token;
        this.seen = seen;
    }

    /** The token that was refused. */
    public long token() {
        return token;
    }

    /** The token that the resource had seen before. */
    public long seen() {
        return seen;
    }
}
