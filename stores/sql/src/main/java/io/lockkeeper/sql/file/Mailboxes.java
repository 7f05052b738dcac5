// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * UNIX sockets in a folder, one per client, each named after it and as open to others as the file of locks is. Sending
 * is to connect, write a line and close, and never blocks. The socket of a process that was killed refuses to be
 * connected to, and the process that finds that removes it.
 */
public final class Mailboxes implements AutoCloseable {
    private static final int BACKLOG = 64;

    /** How many connections to accept before other boxes have their turn. */
    private static final int AT_ONCE = 2 * BACKLOG;

    /** How soon a box that is gone is made again, and a change of the file's mode is followed. */
    private static final int LOOK_MILLIS = 1_000;

    /** The name of the folder is that of the file and this. */
    private static final String SUFFIX = ".wake";

    /** How long to wait after a connection could not be accepted, as when there are no more descriptors. */
    private static final int RETRY_MILLIS = 100;

    /** Left by a process that was killed, if nobody answers; younger ones are left alone. */
    private static final Duration OLD = Duration.ofHours(1);

    private final Path folder;
    private final Path file;
    private final Selector selector;
    private final IncomingMessages incoming;
    private final Map<String, ServerSocketChannel> boxes = new HashMap<>();
    private boolean accepts = true;

    /** Serves nobody yet; the folder is that of {@link #folderOf}. */
    public Mailboxes(Path folder, IncomingMessages.Receiver receiver) throws IOException {
        this.folder = folder;
        this.file = fileOf(folder);
        boolean made = false;
        try {
            Files.createDirectory(folder, FileModes.OWNER_ONLY_FOLDER);
            made = true;
        } catch (FileAlreadyExistsException e) {
            // It usually is there.
        }
        share(folder);
        if (!isSafe(folder)) {
            if (made) {
                Files.delete(folder); // the file's owner may make one that all trust
            }
            throw new IOException("strangers can write to " + folder + ", or have made it");
        }
        if (!made) {
            sweep();
        }
        this.selector = Selector.open();
        this.incoming = new IncomingMessages(selector, receiver);
    }

    /** Where the sockets of the processes that use a file are. */
    public static Path folderOf(Path file) {
        return file.resolveSibling(file.getFileName() + SUFFIX);
    }

    private static Path fileOf(Path folder) {
        String name = folder.getFileName().toString();
        return folder.resolveSibling(name.substring(0, name.length() - SUFFIX.length()));
    }

    /** Whether what is in the folder can be trusted as what is in the file can. */
    public static boolean isSafe(Path folder) {
        return FileModes.isSafe(folder, fileOf(folder));
    }

    /** Opens a path to those to whom the file is open, if it is ours. */
    private void share(Path path) {
        try {
            FileModes.share(path, file);
        } catch (IOException e) {
            // It belongs to another user, whose process does that.
        }
    }

    /** Sends a line to a client, if it listens. */
    public static void send(Path folder, String client, String line) {
        if (!isSafe(folder)) {
            return; // there is nobody, or nobody to be trusted
        }
        boolean interrupted = Thread.interrupted(); // it would close the channel under us
        try {
            send(folder.resolve(client), line);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void send(Path socket, String line) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false); // a client that stands still may have no room for more
            if (channel.connect(UnixDomainSocketAddress.of(socket))) {
                channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            }
        } catch (ConnectException e) {
            remove(socket);
        } catch (IOException | UnsupportedOperationException e) {
            // It has no socket, and finds out for itself.
        }
    }

    /** Opens boxes for these clients, closes those of others; answers whether one was opened. */
    public boolean serve(Set<String> clients) throws IOException {
        boolean opened = false;
        share(folder);
        boxes.keySet().removeIf(this::isGone); // somebody has tidied up
        boxes.keySet().forEach(client -> share(folder.resolve(client)));
        for (String client : clients) {
            if (!boxes.containsKey(client)) {
                boxes.put(client, open(client));
                opened = true;
            }
        }
        for (Iterator<Map.Entry<String, ServerSocketChannel>> i =
                        boxes.entrySet().iterator();
                i.hasNext(); ) {
            Map.Entry<String, ServerSocketChannel> box = i.next();
            if (!clients.contains(box.getKey())) {
                i.remove();
                shut(box.getKey(), box.getValue());
            }
        }
        return opened;
    }

    private boolean isGone(String client) {
        if (Files.exists(folder.resolve(client), LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        shut(client, Objects.requireNonNull(boxes.get(client)));
        return true;
    }

    private ServerSocketChannel open(String client) throws IOException {
        ServerSocketChannel box = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        // Between bind and listen a socket refuses, and would be removed: it gets its name when it is ready.
        Path unready = folder.resolve("." + client);
        try {
            box.bind(UnixDomainSocketAddress.of(unready), BACKLOG);
            box.configureBlocking(false);
            box.register(selector, SelectionKey.OP_ACCEPT, client);
            FileModes.share(unready, file);
            Files.move(unready, folder.resolve(client));
            return box;
        } catch (IOException | RuntimeException e) {
            box.close();
            remove(unready);
            throw e;
        }
    }

    /** Waits for messages, or for {@link #wakeUp()}, and hands them on; but not forever, lest a box is gone. */
    public void receive() throws IOException {
        boolean hadAccepted = accepts;
        selector.select(this::handle, accepts ? LOOK_MILLIS : RETRY_MILLIS);
        incoming.closeLate();
        if (hadAccepted) {
            return;
        }
        accepts = true;
        for (SelectionKey key : selector.keys()) {
            if (key.isValid() && key.channel() instanceof ServerSocketChannel) {
                key.interestOps(SelectionKey.OP_ACCEPT);
            }
        }
    }

    /** Ends the wait of {@link #receive}. */
    public void wakeUp() {
        selector.wakeup();
    }

    private void handle(SelectionKey key) {
        if (key.channel() instanceof ServerSocketChannel box) {
            try {
                SocketChannel connection = box.accept();
                for (int i = 1; connection != null; i++) {
                    incoming.accept((String) key.attachment(), connection);
                    connection = i < AT_ONCE ? box.accept() : null;
                }
            } catch (IOException e) {
                // Perhaps there are no more descriptors. Senders that have connected stay in line: try again in a
                // moment.
                accepts = false;
                if (key.isValid()) {
                    key.interestOps(0);
                }
            }
        } else {
            incoming.read(key);
        }
    }

    private void sweep() throws IOException {
        Instant before = Instant.now().minus(OLD);
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
            for (Path socket : all) {
                if (Files.getLastModifiedTime(socket).toInstant().isBefore(before)) {
                    send(folder, socket.getFileName().toString(), ""); // removes it if nobody is there
                }
            }
        } catch (IOException e) {
            if (!Files.isDirectory(folder)) {
                throw e;
            } // otherwise a socket went away while we looked
        }
    }

    private void shut(String client, ServerSocketChannel box) {
        try {
            box.close();
        } catch (IOException e) {
            // It is gone all the same.
        }
        remove(folder.resolve(client));
    }

    private static void remove(Path socket) {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException e) {
            // Left for the next process that finds it.
        }
    }

    @Override
    public void close() throws IOException {
        boxes.forEach(this::shut);
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
