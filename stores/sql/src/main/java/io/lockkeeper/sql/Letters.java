// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Messages that are being received, each on a connection of its own. A sender of ours connects, writes a line and closes, so that
 * mostly all of it is there when the connection is accepted. Others may send too much, or nothing: no connection stays open for long,
 * few do at a time, and none uses more memory than the longest line needs.
 *
 * <p>Used by one thread.
 */
final class Letters {
    /** More than the name of a latch takes, each of whose 512 bytes may be encoded as three. */
    private static final int LONGEST_LINE = 4096;

    /** Who wants to say something does so at once; one that was stopped in between is found out by the poll. */
    private static final long PATIENCE_NANOS = 1_000_000_000;

    /** Unfinished ones, of all clients: more are only seen when somebody does mischief. */
    private static final int MOST_OPEN = 64;

    private final Selector selector;
    private final Receiver receiver;
    private final Queue<Letter> open = new ArrayDeque<>(); // oldest first

    /** Who reads them. */
    interface Receiver {
        /** A whole message for this client, which anybody may have sent. */
        void received(String client, String line);

        /** A message for this client was too long, or did not come to an end. */
        void unreadable(String client, String why);
    }

    /** One that is not complete yet. */
    private static final class Letter {
        private final String client;
        private final SocketChannel channel;
        private final ByteBuffer bytes = ByteBuffer.allocate(LONGEST_LINE);
        private final long since = System.nanoTime();

        Letter(String client, SocketChannel channel) {
            this.client = client;
            this.channel = channel;
        }
    }

    Letters(Selector selector, Receiver receiver) {
        this.selector = selector;
        this.receiver = receiver;
    }

    /** Somebody has connected to this client's box. */
    void accept(String client, SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        Letter letter = new Letter(client, channel);
        if (isWhole(letter)) {
            return;
        }
        if (open.size() >= MOST_OPEN) {
            end(open.remove(), "there are too many that have not ended");
        }
        channel.register(selector, SelectionKey.OP_READ, letter);
        open.add(letter);
    }

    /** There is more of it. */
    void read(SelectionKey key) {
        Letter letter = (Letter) key.attachment();
        if (isWhole(letter)) {
            open.remove(letter);
        }
    }

    /** Closes those that should have been complete by now. */
    void closeLate() {
        long now = System.nanoTime();
        for (Letter oldest = open.peek();
                oldest != null && now - oldest.since >= PATIENCE_NANOS;
                oldest = open.peek()) {
            open.remove();
            end(oldest, "it did not come to an end");
        }
    }

    /** Reads what is there; a message that is complete is handed on, and its connection closed. */
    private boolean isWhole(Letter letter) {
        try {
            int n = 1;
            while (n > 0) {
                n = letter.channel.read(letter.bytes);
            }
            if (n < 0) {
                close(letter);
                receiver.received(
                        letter.client,
                        StandardCharsets.UTF_8.decode(letter.bytes.flip()).toString());
                return true;
            }
        } catch (IOException e) {
            close(letter); // a message was lost: the poll finds what it said
            return true;
        }
        if (!letter.bytes.hasRemaining()) {
            end(letter, "it is longer than " + LONGEST_LINE + " bytes");
            return true;
        }
        return false;
    }

    private void end(Letter letter, String why) {
        close(letter);
        receiver.unreadable(letter.client, why);
    }

    private static void close(Letter letter) {
        try {
            letter.channel.close();
        } catch (IOException e) {
            // It is gone all the same.
        }
    }
}
