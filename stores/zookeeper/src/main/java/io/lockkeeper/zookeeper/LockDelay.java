// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;

/**
 * How a name stays closed after a holder that vanished. A confirmed hold that asks for a lock-delay has a <em>marker</em> next to
 * its node, created and removed with it in one transaction. The marker does not go with the session: one without its node closes
 * the name. It is <em>armed</em> ({@code A}) until a client finds it in that state and starts the time ({@code C}).
 */
final class LockDelay {
    private final NameNodes nameNodes;

    LockDelay(NameNodes nameNodes) {
        this.nameNodes = nameNodes;
    }

    /** How long the name stays closed after a hold that ends by itself, in ms. */
    static long after(NodeData data) {
        if (data.isRecalled()) {
            return data.recalled();
        }
        return data.state() == NodeData.State.GRANTED ? data.lockDelay() : 0;
    }

    static byte[] armed(long delay) {
        return ("A " + delay).getBytes(StandardCharsets.UTF_8);
    }

    static byte[] closed(long delay) {
        return ("C " + delay).getBytes(StandardCharsets.UTF_8);
    }

    static Op arm(Session session, String marker, long delay) {
        return Op.create(marker, armed(delay), session.acl(), CreateMode.PERSISTENT);
    }

    /** For how many nanoseconds the name stays closed; starts the time of markers whose holders vanished unnoticed. */
    long closedFor(Session session, String parent, Listing listing) {
        long longest = 0;
        for (String orphan : listing.orphans()) {
            longest = Math.max(longest, closedFor(session, parent + "/" + orphan));
        }
        return longest;
    }

    private long closedFor(Session session, String marker) {
        for (; ; ) {
            Reply reply = session.await(session.read(marker, null), "lock-delay");
            if (!reply.isOk()) {
                return 0;
            }
            String text = reply.text();
            if (!text.matches("[AC] \\d{1,18}")) {
                throw Damaged.unreadable(marker);
            }
            long delay = Long.parseLong(text.substring(2));
            int version = reply.theStat().getVersion();
            if (text.startsWith("C")) {
                long left = nameNodes.left(session, marker, reply.theStat(), delay);
                if (left <= 0) {
                    session.delete(marker, version);
                    session.delete(Layout.parent(marker), -1); // if it is empty now
                }
                return left;
            }
            session.await(session.write(marker, closed(delay), version), "lock-delay");
        }
    }
}
