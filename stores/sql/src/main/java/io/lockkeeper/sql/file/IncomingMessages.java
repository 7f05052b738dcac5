// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Messages that are being received, each on its own connection. A Lockkeeper client that sends one connects, writes a
 * line and closes, so that mostly all of it is there when the connection is accepted. Others may send too much, or
 * nothing: no connection stays open for long, few do at a time, and none uses more memory than the longest line needs.
 *
 * <p>Used by one thread.
 */
public final class IncomingMessages {
    /** More than the name of a latch takes, each of whose 512 bytes may be encoded as three. */
    private static final int LONGEST_LINE = 4096;

    /** A sender writes its message immediately; the poll finds what one that was stopped in between had to say. */
    private static final long PATIENCE_NANOS = 1_000_000_000;

    /** Unfinished ones, of all clients: more are only seen under an attack. */
    private static final int MOST_OPEN = 64;

    private final Selector selector;
    private final Receiver receiver;
    private final Queue<PartialMessage> open = new ArrayDeque<>(); // oldest first

    /** The receiver of messages. */
    public interface Receiver {
        /** A whole message for this client, which anybody may have sent. */
        void received(String client, String line);

        /** A message for this client was too long, or did not come to an end. */
        void unreadable(String client, String why);
    }

    /** A message that is not complete yet. */
    private static final class PartialMessage {
        private final String client;
        private final SocketChannel channel;
        private final ByteBuffer bytes = ByteBuffer.allocate(LONGEST_LINE);
        private final long since = System.nanoTime();

        PartialMessage(String client, SocketChannel channel) {
            this.client = client;
            this.channel = channel;
        }
    }

    IncomingMessages(Selector selector, Receiver receiver) {
        this.selector = selector;
        this.receiver = receiver;
    }

    /** A process has connected to this client's mailbox. */
    void accept(String client, SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        PartialMessage message = new PartialMessage(client, channel);
        if (isWhole(message)) {
            return;
        }
        if (open.size() >= MOST_OPEN) {
            end(open.remove(), "there are too many that have not ended");
        }
        channel.register(selector, SelectionKey.OP_READ, message);
        open.add(message);
    }

    /** There is more of it. */
    void read(SelectionKey key) {
        PartialMessage message = (PartialMessage) key.attachment();
        if (isWhole(message)) {
            open.remove(message);
        }
    }

    /** Closes those that should have been complete by now. */
    void closeLate() {
        long now = System.nanoTime();
        for (PartialMessage oldest = open.peek();
                oldest != null && now - oldest.since >= PATIENCE_NANOS;
                oldest = open.peek()) {
            open.remove();
            end(oldest, "it did not come to an end");
        }
    }

    /** Reads what is there; a message that is complete is handed on, and its connection closed. */
    private boolean isWhole(PartialMessage message) {
        try {
            int n = 1;
            while (n > 0) {
                n = message.channel.read(message.bytes);
            }
            if (n < 0) {
                close(message);
                receiver.received(
                        message.client,
                        StandardCharsets.UTF_8.decode(message.bytes.flip()).toString());
                return true;
            }
        } catch (IOException e) {
            close(message); // a message was lost: the poll finds what it said
            return true;
        }
        if (!message.bytes.hasRemaining()) {
            end(message, "it is longer than " + LONGEST_LINE + " bytes");
            return true;
        }
        return false;
    }

    private void end(PartialMessage message, String why) {
        close(message);
        receiver.unreadable(message.client, why);
    }

    private static void close(PartialMessage message) {
        try {
            message.channel.close();
        } catch (IOException e) {
            // It is gone all the same.
        }
    }
}
