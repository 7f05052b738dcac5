// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

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
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * UNIX sockets in a folder, one a client, each named after it. Sending is to connect, write a line and close, and never
 * blocks. The socket of a process that was killed refuses to be connected to, and whoever finds that removes it.
 */
final class Mailboxes implements AutoCloseable {
    private static final int LONGEST_LINE = 4096;
    private static final int BACKLOG = 64;
    private static final int LOOK_MILLIS = 5_000;

    /** The name of the folder is that of the file and this. */
    static final String SUFFIX = ".wake";

    private static final Set<PosixFilePermission> WRITABLE =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    /** Left by a process that was killed, if nobody answers; younger ones are left alone. */
    private static final Duration OLD = Duration.ofHours(1);

    private final Path folder;
    private final BiConsumer<String, String> receiver;
    private final Selector selector;
    private final Map<String, ServerSocketChannel> boxes = new HashMap<>();

    /** A line that is being received. */
    private record Letter(String client, ByteBuffer bytes) {}

    Mailboxes(Path folder, BiConsumer<String, String> receiver) throws IOException {
        this.folder = folder;
        this.receiver = receiver;
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!isSafe(folder)) {
                throw new IOException("others can write to " + folder, e);
            }
            sweep();
        }
        this.selector = Selector.open();
    }

    /**
     * Whether only whoever can write to the file of locks can have put a socket there: else a stranger could tell us that
     * we hold what we do not hold. A folder of the file's owner, and open to others only as the file is.
     */
    static boolean isSafe(Path folder) {
        try {
            String name = folder.getFileName().toString();
            Path file = folder.resolveSibling(name.substring(0, name.length() - SUFFIX.length()));
            PosixFileAttributes of = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            PosixFileAttributes like = Files.readAttributes(file, PosixFileAttributes.class);
            Set<PosixFilePermission> open = new HashSet<>(of.permissions());
            open.retainAll(WRITABLE);
            return of.isDirectory()
                    && of.owner().equals(like.owner())
                    && like.permissions().containsAll(open);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    static void send(Path folder, String client, String line) {
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
    boolean serve(Set<String> clients) throws IOException {
        boolean opened = false;
        boxes.keySet().removeIf(this::isGone); // somebody has tidied up
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
            Files.move(unready, folder.resolve(client));
            return box;
        } catch (IOException | RuntimeException e) {
            box.close();
            remove(unready);
            throw e;
        }
    }

    /** Waits for messages, or for {@link #wakeUp()}, and hands them on; but not for ever, lest a box is gone. */
    void receive() throws IOException {
        selector.select(this::handle, LOOK_MILLIS);
    }

    void wakeUp() {
        selector.wakeup();
    }

    private void handle(SelectionKey key) {
        try {
            if (key.channel() instanceof ServerSocketChannel box) {
                for (SocketChannel c = box.accept(); c != null; c = box.accept()) {
                    c.configureBlocking(false);
                    c.register(
                            selector,
                            SelectionKey.OP_READ,
                            new Letter((String) key.attachment(), ByteBuffer.allocate(LONGEST_LINE)));
                }
            } else if (key.channel() instanceof SocketChannel channel) {
                read(channel, (Letter) key.attachment());
            }
        } catch (IOException e) {
            key.cancel(); // a message was lost: the poll finds what it said
        }
    }

    private void read(SocketChannel channel, Letter letter) throws IOException {
        int n = 1;
        while (n > 0) {
            n = channel.read(letter.bytes);
        }
        if (n < 0 || !letter.bytes.hasRemaining()) {
            channel.close();
            receiver.accept(
                    letter.client,
                    StandardCharsets.UTF_8.decode(letter.bytes.flip()).toString());
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
            } // else a socket went away while we looked
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
            // Left for the next who finds it.
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
