// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Finds or makes the file. A new one is made under a temporary name, complete with its tables,
 * and then linked to its place in one step: nobody ever sees half of it, no matter which process is killed at which
 * moment, and of many processes that come at the same time one wins and all use the winner's file.
 */
public final class FileSetup {
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

    /** No process needs that long to make a file. */
    private static final Duration OLD = Duration.ofHours(1);

    private FileSetup() {}

    /** Fills a file that is new and empty with the tables that all who use it expect. */
    public interface Tables {
        void makeIn(FileSource fresh) throws IOException;
    }

    /**
     * Gives connections to this file, which is made if it is missing; the caller closes them.
     *
     * @param owner a user who may own the file, or {@code any}; see {@link FileOwners}
     * @throws StoreUnavailableException when it cannot be made, or must not be used
     */
    public static FileSource open(Path wanted, Duration timeout, boolean full, String owner, Tables tables) {
        FileSource source;
        try {
            // All names of the file lead to the same gate and the same folder of sockets.
            source = new FileSource(wanted, realPath(wanted), timeout, full, owner, tables);
        } catch (IOException e) {
            throw lasting(wanted, "cannot be created: " + reason(e), e);
        }
        boolean done = false;
        try {
            source.prepare();
            tidy(source.path());
            FileOwners.check(wanted, owner);
            check(source.path(), owner);
            done = true;
            return source;
        } catch (IOException e) {
            throw lasting(wanted, "cannot be created: " + reason(e), e);
        } finally {
            if (!done) {
                source.close();
            }
        }
    }

    private static Path realPath(Path wanted) throws IOException {
        if (Files.exists(wanted)) {
            return wanted.toRealPath();
        }
        Path folder = folder(wanted);
        Files.createDirectories(folder, FileModes.OWNER_ONLY_FOLDER);
        String network = networkType(type(folder));
        if (network != null) {
            throw refusal(wanted, network);
        }
        return target(wanted);
    }

    /** Where a path leads, whether or not there is a file yet; its folder must be there. */
    static Path target(Path wanted) throws IOException {
        return Files.exists(wanted)
                ? wanted.toRealPath()
                : folder(wanted).toRealPath().resolve(wanted.getFileName());
    }

    private static Path folder(Path wanted) throws IOException {
        Path folder = wanted.getParent();
        if (folder == null) {
            throw new IOException("it has no folder");
        }
        return folder;
    }

    /** Makes the file, unless it is there. One process after the other does, those that come through the file's gate. */
    static void createIfMissing(Path path, Duration timeout, Tables tables) throws IOException {
        if (Files.exists(path)) {
            return;
        }
        Files.createDirectories(path.resolveSibling(""), FileModes.OWNER_ONLY_FOLDER);
        Path made = path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID());
        try {
            Files.createFile(made, FileModes.OWNER_ONLY);
            FileSource source = new FileSource(made, timeout, true, FileOwners.ANY);
            try {
                tables.makeIn(source);
            } finally {
                source.close();
            }
            link(made, path);
        } finally {
            Files.deleteIfExists(made);
            Files.deleteIfExists(FileGate.of(made));
        }
    }

    /** Removes what is left over from processes that were killed while they made the file. */
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
    static void check(Path path, String owner) throws IOException {
        FileOwners.check(path, owner);
        if (!Files.isRegularFile(path)) {
            throw lasting(path, "is not a regular file", null);
        }
        if (links(path) > 1) {
            tidy(path); // the process that makes the file links it, and may have been killed before it removed the
            // first name
            if (links(path) > 1) {
                throw lasting(
                        path,
                        "has several names (hard links). SQLite keeps its log beside each name, so processes that use"
                                + " different names would not see each other's locks; remove all names but one",
                        null);
            }
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

    private static int links(Path path) throws IOException {
        try {
            return (Integer) Files.getAttribute(path, "unix:nlink");
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return 1; // nothing is known against it
        }
    }

    private static String type(Path path) {
        try {
            FileStore store = Files.getFileStore(path);
            return store.type();
        } catch (IOException e) {
            return ""; // nothing is known against it
        }
    }

    /** The type if it is a network file system's, otherwise null. */
    public static @Nullable String networkType(String type) {
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
