// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What all stores of this process that use the same file have in common, because it belongs to the process and not to a
 * store: the gate, and the connections. It knows which files SQLite has opened, and notices when others have taken
 * their place.
 *
 * <p><b>Displaced files.</b> If somebody removes or replaces the database, its log or its shared memory, all processes
 * that have them open are cut off: others lock in what is there now. So each step checks first, and besides that each
 * process checks about once a second. A process that finds them displaced reports everything as lost. Before the file
 * is opened again, all connections of the process to the old one are closed: SQLite shares the memory between them.
 * Closing the last one writes its log into the database, which is as it should be if only the log was taken away; but
 * not if somebody has written to the database since without that log. Then pages of two histories would be mixed: the
 * database is put aside, and a new one is made.
 */
final class SharedFile {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.sql");
    private static final Map<Path, SharedFile> ALL = new HashMap<>();

    /**
     * Closing the last connection locks the file for a moment; threads that close one under load need not wait for
     * their turn.
     */
    private static final long CLOSING_NANOS = 100_000_000;

    private final Path path;
    private final FileGate gate;
    private final Set<FileSource> sources = new CopyOnWriteArraySet<>();

    /** The files that are open; null while none is. */
    private final AtomicReference<@Nullable FilePlace> place = new AtomicReference<>();

    // Guarded by this.
    private final Set<FileConnection> connections = new HashSet<>();
    private @Nullable FilePlace lost;
    private @Nullable Object lastFile;
    private volatile int generation;

    /** Opens a connection to the files that are there. */
    interface Opening {
        FileConnection open(int generation) throws SQLException;
    }

    private SharedFile(Path path) {
        this.path = path;
        this.gate = new FileGate(path);
    }

    /** The one for this path, which must be real; {@link #leave} it. */
    static SharedFile join(Path path, FileSource source) {
        synchronized (ALL) {
            SharedFile shared = ALL.computeIfAbsent(path, SharedFile::new);
            shared.sources.add(source);
            return shared;
        }
    }

    void leave(FileSource source) {
        boolean isLast;
        synchronized (ALL) {
            sources.remove(source);
            isLast = sources.isEmpty() && ALL.remove(path, this);
        }
        if (isLast) {
            closeDisplaced();
            gate.close();
        }
    }

    /** Nobody will open the file again: what is still open is closed, unless that would write into what others have. */
    private synchronized void closeDisplaced() {
        FilePlace old = lost;
        if (old != null && (!old.hasSameFile(FilePlace.at(path)) || old.isUnwritten(FilePlace.at(path)))) {
            endAll();
        }
    }

    private void endAll() {
        for (FileConnection connection : connections) {
            try {
                connection.endNow();
            } catch (SQLException e) {
                LOG.log(System.Logger.Level.DEBUG, "could not close a connection to a file that is gone", e);
            }
        }
        connections.clear();
    }

    FileGate gate() {
        return gate;
    }

    /**
     * Makes sure that the files are those that a connection of this generation uses.
     *
     * @throws SQLException if they are not
     */
    void check(int connected) throws SQLException {
        FilePlace known = place.get();
        if (connected == generation && known != null) {
            FilePlace now = FilePlace.at(path);
            if (known.isSame(now)) {
                place.compareAndSet(known, now);
                return;
            }
            displaced(known);
        }
        if (connected != generation) {
            throw gone();
        }
    }

    /** The same for all open files, for callers that have no step to make. */
    void look() {
        FilePlace known = place.get();
        if (known != null && !known.isSame(FilePlace.at(path))) {
            displaced(known);
        }
    }

    private SQLException gone() {
        return new SQLException(
                "the file " + path + ", or SQLite's files beside it, were removed or replaced while in use;"
                        + " what was held in it is lost",
                "08006");
    }

    private void displaced(FilePlace known) {
        synchronized (this) {
            FilePlace open = place.get();
            if (open == null || !open.isSame(known) || open.isSame(FilePlace.at(path))) {
                return; // another thread was first, or has just closed the last connection
            }
            retire(known);
        }
        LOG.log(System.Logger.Level.WARNING, gone().getMessage());
        sources.forEach(FileSource::displaced);
    }

    private synchronized void retire(FilePlace known) {
        place.set(null);
        lost = known;
        generation++;
    }

    // ---- Opening and closing, one process after the other ----

    /** Makes the file if it is missing. */
    void prepare(FileSource source) throws IOException {
        if (Files.exists(path)) {
            return;
        }
        boolean entered = Files.isWritable(path.resolveSibling(""))
                && gate.enter(source.timeout().toNanos()) == FileGate.Entry.ENTERED;
        try {
            if (entered && !Files.exists(path)) {
                removeLog();
            }
            FileSetup.createIfMissing(path, source.timeout(), source.tables());
        } finally {
            if (entered) {
                gate.leave();
            }
        }
    }

    /** Opens a connection, to the file that is there now. Only the first one may have to write, and waits for its turn. */
    FileConnection open(FileSource source, long nanos, Opening opening) throws SQLException {
        boolean isReplaced;
        FileConnection connection;
        boolean entered = isFirst() && gate.enter(nanos) == FileGate.Entry.ENTERED;
        try {
            synchronized (this) {
                FilePlace displaced = lost;
                if (displaced != null) {
                    recover(displaced, source);
                    lost = null;
                }
                connection = opening.open(generation);
                isReplaced = register(connection);
            }
        } finally {
            if (entered) {
                gate.leave();
            }
        }
        if (isReplaced) {
            sources.forEach(FileSource::displaced);
        }
        return connection;
    }

    private synchronized boolean isFirst() {
        return lost != null || connections.isEmpty();
    }

    /** Answers whether the file is another one than we had open before. */
    private boolean register(FileConnection connection) throws SQLException {
        FilePlace now = FilePlace.at(path);
        FilePlace known = place.get();
        if (!now.isComplete() || (known != null && !known.isSame(now))) {
            connections.add(connection); // it is closed with the others
            if (known != null) {
                retire(known);
                return true;
            }
            connection.endNow();
            connections.remove(connection);
            throw gone();
        }
        place.set(now);
        connections.add(connection);
        boolean isOther = lastFile != null && !lastFile.equals(now.file());
        lastFile = now.file();
        return isOther;
    }

    /** Closes a connection, unless it is one to files that are displaced. */
    void close(FileConnection connection) throws SQLException {
        boolean entered = gate.enter(CLOSING_NANOS) == FileGate.Entry.ENTERED;
        try {
            synchronized (this) {
                if (connection.generation() != generation && !sources.isEmpty()) {
                    return; // left to the thread that opens the file again
                }
                connections.remove(connection);
                if (connections.isEmpty()) {
                    place.set(null); // SQLite removes the log with the last one
                }
                connection.endNow();
            }
        } finally {
            if (entered) {
                gate.leave();
            }
        }
    }

    private void recover(FilePlace old, FileSource source) throws SQLException {
        try {
            FilePlace now = FilePlace.at(path);
            if (old.hasSameFile(now) && !old.isUnwritten(now)) {
                putAside();
                now = FilePlace.at(path);
            }
            endAll();
            if (now.file() == null) {
                removeLog();
            } else if (!old.hasSameFile(now)) {
                removeOldLog(old, now);
            }
            FileSetup.createIfMissing(path, source.timeout(), source.tables());
            FileSetup.check(path, source.owner());
        } catch (IOException e) {
            throw new SQLException("the file " + path + " cannot be opened again: " + e, "08001", e);
        } catch (StoreUnavailableException e) {
            throw new SQLException(e.getMessage(), "08001", e);
        }
    }

    private void putAside() throws IOException {
        Path aside = path.resolveSibling(path.getFileName() + ".damaged-" + System.currentTimeMillis());
        Files.move(path, aside);
        LOG.log(
                System.Logger.Level.WARNING,
                "the log of " + path + " was removed while in use, and the file written to without it: it is now "
                        + aside + ", and a new one takes its place");
    }

    /** A log that belongs to a file which is gone must not be applied to the next one. */
    private void removeLog() throws IOException {
        Files.deleteIfExists(FilePlace.beside(path, FilePlace.LOG));
        Files.deleteIfExists(FilePlace.beside(path, FilePlace.MEMORY));
    }

    private void removeOldLog(FilePlace old, FilePlace now) throws IOException {
        if (old.log() != null && old.log().equals(now.log())) {
            Files.deleteIfExists(FilePlace.beside(path, FilePlace.LOG));
        }
        if (old.memory() != null && old.memory().equals(now.memory())) {
            Files.deleteIfExists(FilePlace.beside(path, FilePlace.MEMORY));
        }
    }
}
