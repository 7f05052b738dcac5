// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.spi.ClaimId;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Word that others leave for a session: which of its holds is being broken ({@code R}) or was ended at once ({@code L}). One
 * node a session, so that a client needs one watch and not one a hold; it is written in the transaction that breaks the hold.
 */
final class Mail {
    /** When more than this has come, the box is emptied. */
    private static final int EMPTIED_AT = 4_000;

    private final Desk desk;
    private volatile boolean due;
    private volatile Runnable notice = () -> {};
    private final Watcher watcher = event -> {
        if (event.getType() == EventType.NodeDataChanged) {
            open();
        }
    };

    Mail(Desk desk) {
        this.desk = desk;
    }

    /** Who is to call {@link #readIfDue} when something has come. */
    void onMail(Runnable action) {
        notice = action;
    }

    /** To be read in any case: the session is new, or events may have been missed. */
    void open() {
        due = true;
        notice.run();
    }

    void readIfDue(Session session) {
        if (!due) {
            return;
        }
        due = false;
        Reply reply;
        try {
            reply = session.await(session.read(desk.layout.mailbox(session.id), watcher), "mail");
        } catch (StoreUnavailableException e) {
            due = true;
            throw e;
        }
        if (!reply.isOk()) {
            return;
        }
        String text = reply.text();
        for (String line : text.split("\n")) {
            if (line.length() > 2) {
                told(ClaimId.parse(line.substring(2)), line.charAt(0) == 'R');
            }
        }
        if (text.length() > EMPTIED_AT) {
            session.write(
                    desk.layout.mailbox(session.id),
                    new byte[0],
                    reply.theStat().getVersion());
        }
    }

    private void told(ClaimId id, boolean recalled) {
        Entry entry = desk.entries.get(id);
        if (entry == null) {
            return;
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.ENDED) {
                return;
            }
            if (recalled) {
                boolean first = !entry.recalled || !entry.toldRecall;
                entry.recalled = true;
                entry.toldRecall = true;
                if (first) {
                    desk.tell(id.client(), s -> s.recalled(id));
                }
            } else {
                entry.state = Entry.State.GRANTED;
                desk.lost(entry, Reason.BROKEN);
            }
        } finally {
            entry.lock.unlock();
        }
    }

    /** Leaves word for the session that owns a hold; null when it has no box any more. */
    @Nullable
    Op word(Session session, long owner, char what, String id) {
        String box = desk.layout.mailbox(owner);
        Reply reply = session.await(session.read(box, null), "mail");
        if (!reply.isOk()) {
            return null;
        }
        String text = reply.text() + what + " " + id + "\n";
        return Op.setData(
                box, text.getBytes(StandardCharsets.UTF_8), reply.theStat().getVersion());
    }
}
