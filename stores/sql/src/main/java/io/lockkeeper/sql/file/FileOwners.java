// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import io.lockkeeper.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Refuses a file of locks that a stranger has made. In a folder where everyone can create files, as {@code /tmp}, another user may
 * have been there first: the file's owner can read, grant and end every lock in it. So there the file, its log and each folder on
 * the way must belong to you, to root, to the owner of the folder that it is in, or to the user whom the URL names.
 */
final class FileOwners {
    /** The value of {@code owner} that trusts everyone. */
    static final String ANY = "any";

    private static final int STICKY = 01000;
    private static final int GROUP_WRITE = 0020;
    private static final int OTHERS_WRITE = 0002;

    private FileOwners() {}

    /**
     * Looks at the file as it was named, and at what it leads to.
     *
     * @param trusted a user's name, or {@link #ANY}, or empty
     */
    static void check(Path named, String trusted) throws IOException {
        if (trusted.equals(ANY)
                || !FileSystems.getDefault().supportedFileAttributeViews().contains("unix")) {
            return;
        }
        checkWay(named, trusted);
        Path real = named.toRealPath();
        checkWay(real, trusted);
        for (String suffix : FilePlace.SUFFIXES) {
            Path beside = real.resolveSibling(real.getFileName() + suffix);
            if (Files.exists(beside, LinkOption.NOFOLLOW_LINKS)
                    && !owner(beside).equals(owner(real))
                    && isStrange(beside, trusted)) {
                throw refusal(beside);
            }
        }
    }

    private static void checkWay(Path path, String trusted) throws IOException {
        for (Path each = path; each != null && each.getParent() != null; each = each.getParent()) {
            if (isStrange(each, trusted)) {
                throw refusal(each);
            }
        }
    }

    private static boolean isStrange(Path path, String trusted) throws IOException {
        Path folder = Objects.requireNonNull(path.getParent());
        if (!isPublic(folder)) {
            return false;
        }
        Object owner = owner(path);
        return !owner.equals(0)
                && !owner.equals(Files.getAttribute(folder, "unix:uid"))
                && !owner.equals(ownUser())
                && !name(path).equals(trusted);
    }

    /** Whether strangers can create files there: all can write to it, or a group whose members are kept apart. */
    static boolean isPublic(Path folder) throws IOException {
        if (!FileSystems.getDefault().supportedFileAttributeViews().contains("unix")) {
            return true;
        }
        int mode = (int) Files.getAttribute(folder, "unix:mode");
        return (mode & OTHERS_WRITE) != 0 || (mode & (STICKY | GROUP_WRITE)) == (STICKY | GROUP_WRITE);
    }

    private static Object owner(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    private static String name(Path path) throws IOException {
        return Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
    }

    /** Java does not expose it; a file that we create shows it. */
    private static Object ownUser() throws IOException {
        Path probe = Files.createTempFile("lockkeeper", "");
        try {
            return owner(probe);
        } finally {
            Files.delete(probe);
        }
    }

    private static StoreUnavailableException refusal(Path path) throws IOException {
        String owner = name(path);
        return StoreUnavailableException.lasting(
                path + " belongs to " + owner
                        + ", in a folder where others can create files, and is not used: its owner"
                        + " could read, grant and end every lock. Use your own folder; or, if you trust " + owner
                        + ", add owner=" + owner + " to the URL of the store (owner=" + ANY
                        + " trusts everyone). Files that belong to you or to root are used",
                null);
    }
}
