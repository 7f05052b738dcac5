// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.Signals;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Messages that others leave for a session: which of its holds is being broken ({@code R}) or was ended immediately
 * ({@code L}). There is one node per session, so that a client needs one watch and not one per hold; it is written in
 * the transaction that breaks the hold.
 */
final class SessionMailbox {
    /** When the text is longer than this, the mailbox is emptied. */
    private static final int EMPTIED_AT = 4_000;

    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");

    private final ClientState clientState;
    private final AtomicBoolean complained = new AtomicBoolean();
    private final ReentrantLock reading = new ReentrantLock();

    /** What was read last; guarded by this. */
    private Read last = new Read(0, 0, "");

    private volatile boolean due;
    private volatile Runnable notice = () -> {};
    private final Watcher watcher = event -> {
        if (event.getType() == EventType.NodeDataChanged) {
            open();
        }
    };

    /** A mailbox as it was read: every message is one line, and one write. */
    private record Read(long session, int version, String text) {
        /** Whether this is what the mailbox said before, plus as many lines as there were writes. */
        boolean follows(Read before) {
            Read known = before.session == session ? before : new Read(session, 0, "");
            return text.startsWith(known.text)
                    && text.substring(known.text.length()).lines().count() == version - known.version;
        }
    }

    SessionMailbox(ClientState clientState) {
        this.clientState = clientState;
    }

    /** The action that causes a call of {@link #readIfDue} when something has arrived. */
    void onMail(Runnable action) {
        notice = action;
    }

    /** Requests a read in any case: the session is new, or events may have been missed. */
    void open() {
        due = true;
        notice.run();
    }

    /** Reads what has arrived; if another thread is reading, waits for that. Not to be called with the lock of an entry. */
    void readIfDue(Session session) {
        if (!startReading(session)) {
            return; // the other thread goes on
        }
        try {
            if (due) {
                read(session);
            }
        } finally {
            reading.unlock();
        }
    }

    private boolean startReading(Session session) {
        try {
            return reading.tryLock(session.patience(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return reading.tryLock();
        }
    }

    /** Whether something has arrived that has not been read. */
    boolean isDue() {
        return due;
    }

    private void read(Session session) {
        due = false;
        boolean done = false;
        try {
            Reply reply = session.await(session.read(clientState.layout.mailbox(session.id), watcher), "mail");
            if (reply.isOk()) {
                read(session, new Read(session.id, reply.theStat().getVersion(), reply.text()));
            }
            done = true;
        } finally {
            if (!done) {
                due = true;
            }
        }
    }

    /** All lines are read each time: it does no harm to process a message twice. */
    private void read(Session session, Read box) {
        boolean isOurs = true;
        for (String line : box.text.split("\n", -1)) {
            isOurs &= line.isEmpty() || told(line);
        }
        boolean isNew;
        boolean follows;
        synchronized (this) {
            isNew = last.session != box.session || last.version < box.version;
            follows = !isNew || box.follows(last);
            if (isNew) {
                last = box.text.length() > EMPTIED_AT ? new Read(box.session, box.version + 1, "") : box;
            }
        }
        if (isNew && box.text.length() > EMPTIED_AT) {
            session.write(clientState.layout.mailbox(session.id), new byte[0], box.version);
        }
        if (isNew && !(isOurs && follows)) {
            if (!isOurs && !complained.getAndSet(true)) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "text that is not Lockkeeper''s was written to {0}; it is skipped, and not reported again",
                        clientState.layout.mailbox(session.id));
            }
            clientState.tellAll(Signals::missed); // a message about a break may have been overwritten
        }
    }

    /** Processes a line; false when it is not one of ours. */
    private boolean told(String line) {
        boolean recalled = line.startsWith("R ");
        if (!recalled && !line.startsWith("L ")) {
            return false;
        }
        ClaimId id;
        try {
            id = ClaimId.parse(line.substring(2));
        } catch (IllegalArgumentException e) {
            return false;
        }
        told(id, recalled);
        return true;
    }

    private void told(ClaimId id, boolean recalled) {
        Entry entry = clientState.entries.get(id);
        if (entry == null) {
            if (!recalled) {
                clientState.broken(id); // its entry has been forgotten
            }
            return;
        }
        entry.lock.lock();
        try {
            if (entry.state == Entry.State.ENDED) {
                if (!recalled) {
                    clientState.broken(id); // forgotten just now
                }
                return;
            }
            if (recalled) {
                boolean first = !entry.recalled || !entry.toldRecall;
                entry.recalled = true;
                entry.toldRecall = true;
                if (first) {
                    clientState.tell(id.client(), s -> s.recalled(id));
                }
            } else {
                entry.state = Entry.State.GRANTED;
                clientState.lost(entry, Reason.BROKEN);
            }
        } finally {
            entry.lock.unlock();
        }
    }

    /** The operation that leaves a message for the session that owns a hold; null when it has no mailbox any more. */
    @Nullable
    Op word(Session session, long owner, char what, String id) {
        String box = clientState.layout.mailbox(owner);
        Reply reply = session.await(session.read(box, null), "mail");
        if (!reply.isOk()) {
            return null;
        }
        String before = reply.text();
        String separator = before.isEmpty() || before.endsWith("\n") ? "" : "\n"; // it was not us who wrote that
        String text = before + separator + what + " " + id + "\n";
        return Op.setData(
                box, text.getBytes(StandardCharsets.UTF_8), reply.theStat().getVersion());
    }
}
