// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Finds or makes the file of a {@code file:} store. A new one is made under a name of its own, complete with its tables,
 * and then linked to its place in one step: nobody ever sees half of it, whoever is killed when, and of many who come at
 * the same time one wins and all use the winner's.
 */
final class FileSetup {
    /** Where locks of one host are not seen by the others, or shared memory does not work. */
    private static final Set<String> NETWORK = Set.of(
            "9p",
            "afp",
            "afpfs",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "davfs",
            "gcsfuse",
            "glusterfs",
            "gpfs",
            "lustre",
            "nfs",
            "nfs4",
            "prl_fs",
            "rclone",
            "s3fs",
            "smb",
            "smb2",
            "smb3",
            "smbfs",
            "sshfs",
            "vboxsf",
            "webdav");

    /** Nobody needs so long to make a file. */
    private static final Duration OLD = Duration.ofHours(1);

    private static final FileAttribute<Set<PosixFilePermission>> FOLDER = mode("rwx------");
    private static final FileAttribute<Set<PosixFilePermission>> FILE = mode("rw-------");

    private FileSetup() {}

    private static FileAttribute<Set<PosixFilePermission>> mode(String mode) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
    }

    static SqlStore open(Path wanted, Duration timeout, boolean full) {
        Path path = wanted;
        try {
            if (!Files.exists(path)) {
                create(path, timeout);
            }
            tidy(path);
            path = path.toRealPath(); // all names of the file lead to the same folder of sockets
        } catch (IOException e) {
            throw lasting(path, "cannot be created: " + reason(e), e);
        }
        check(path);
        return store(path, timeout, full);
    }

    private static SqlStore store(Path path, Duration timeout, boolean full) {
        FileSource source = new FileSource(path, timeout, full);
        try {
            return new SqlStore(
                    source,
                    SqlOptions.defaults().operationTimeout(timeout).relaxed(!full),
                    Dialect.SQLITE,
                    source,
                    (connections, sql, incarnation) ->
                            new FileWakes(connections, sql, incarnation, folderOfSockets(path)));
        } catch (StoreUnavailableException e) {
            source.close();
            throw e.because("the file " + path);
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    static Path folderOfSockets(Path path) {
        return path.resolveSibling(path.getFileName() + Mailboxes.SUFFIX);
    }

    private static void create(Path path, Duration timeout) throws IOException {
        Path folder = path.getParent();
        if (folder == null) {
            throw new IOException("it has no folder");
        }
        Files.createDirectories(folder, FOLDER);
        String network = networkType(type(folder));
        if (network != null) {
            throw refusal(path, network);
        }
        Path made = path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID());
        try {
            Files.createFile(made, FILE);
            store(made, timeout, true).close();
            link(made, path);
        } finally {
            Files.deleteIfExists(made);
        }
    }

    /** Removes what processes have left behind that were killed while they made the file. */
    private static void tidy(Path path) {
        String prefix = "." + path.getFileName() + ".";
        Instant before = Instant.now().minus(OLD);
        try (DirectoryStream<Path> all = Files.newDirectoryStream(
                path.resolveSibling(""), each -> each.getFileName().toString().startsWith(prefix))) {
            for (Path each : all) {
                boolean isLinked = Files.isSameFile(each, path); // and is complete
                if (isLinked || Files.getLastModifiedTime(each).toInstant().isBefore(before)) {
                    Files.deleteIfExists(each);
                }
            }
        } catch (IOException e) {
            return; // another one tidies up as well, or we may not: it does no harm where it is
        }
    }

    private static void link(Path made, Path path) throws IOException {
        try {
            Files.createLink(path, made);
        } catch (FileAlreadyExistsException e) {
            // Another process was first: its file counts.
        } catch (UnsupportedOperationException e) {
            throw new IOException("its file system has no hard links", e);
        }
    }

    /** Says what is wrong where SQLite would only say that something is. */
    private static void check(Path path) {
        if (!Files.isRegularFile(path)) {
            throw lasting(path, "is not a regular file", null);
        }
        String network = networkType(type(path));
        if (network != null) {
            throw refusal(path, network);
        }
        Path folder = path.getParent();
        if (!Files.isWritable(path) || !Files.isReadable(path)) {
            throw lasting(path, "is not writable for " + System.getProperty("user.name"), null);
        }
        if (folder != null && !Files.isWritable(folder)) {
            throw lasting(
                    path,
                    "is in a folder that is not writable for " + System.getProperty("user.name")
                            + "; SQLite keeps its log beside the file",
                    null);
        }
    }

    private static String type(Path path) {
        try {
            FileStore store = Files.getFileStore(path);
            return store.type();
        } catch (IOException e) {
            return ""; // nothing known against it
        }
    }

    /** The type if it is a network file system's, else null. */
    static @Nullable String networkType(String type) {
        String bare = type.toLowerCase(Locale.ROOT);
        bare = bare.startsWith("fuse.") ? bare.substring("fuse.".length()) : bare;
        return NETWORK.contains(bare) ? type : null;
    }

    private static StoreUnavailableException refusal(Path path, String type) {
        return lasting(
                path,
                "is on a network file system (" + type
                        + "), where file locks do not work between hosts; use a file on a local disk, or a server",
                null);
    }

    private static StoreUnavailableException lasting(Path path, String what, @Nullable Throwable cause) {
        return StoreUnavailableException.lasting("the file " + path + " " + what, cause);
    }

    private static String reason(IOException e) {
        String kind = e.getClass().getSimpleName().replace("Exception", "");
        return e.getMessage() == null ? kind : kind + ": " + e.getMessage();
    }
}
