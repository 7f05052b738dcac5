// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * Modes of what lies beside a file of locks: its gate, its folder of sockets and the sockets. Every user that may write
 * to the file may use them, and nobody else may, regardless of the umask.
 */
final class FileModes {
    /** What we make is ours until it is shared. */
    static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY = mode("rw-------");

    static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_FOLDER = mode("rwx------");

    private FileModes() {}

    private static FileAttribute<Set<PosixFilePermission>> mode(String mode) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
    }

    /** Gives a path that is ours the group of the file, and opens it to those to whom the file is open. */
    static void share(Path path, Path file) throws IOException {
        PosixFileAttributes like = Files.readAttributes(file, PosixFileAttributes.class);
        PosixFileAttributes now = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (now.isSymbolicLink()) {
            throw new IOException(path + " is a link");
        }
        boolean isGroup = now.group().equals(like.group()) || changeGroup(path, like.group());
        Set<PosixFilePermission> wanted = permissions(like.permissions(), isGroup, now.isDirectory());
        if (!wanted.equals(now.permissions())) {
            // A socket cannot be opened, which is how Java changes the mode of what may be a link.
            LinkOption[] how = now.isOther() ? new LinkOption[0] : new LinkOption[] {LinkOption.NOFOLLOW_LINKS};
            Files.getFileAttributeView(path, PosixFileAttributeView.class, how).setPermissions(wanted);
        }
    }

    private static boolean changeGroup(Path path, GroupPrincipal group) {
        try {
            Files.getFileAttributeView(path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setGroup(group);
            return true;
        } catch (IOException e) {
            return false; // we are not a member of it
        }
    }

    private static Set<PosixFilePermission> permissions(
            Set<PosixFilePermission> file, boolean isGroup, boolean isFolder) {
        Set<PosixFilePermission> wanted = EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        if (isFolder) {
            wanted.add(PosixFilePermission.OWNER_EXECUTE);
        }
        if (isGroup && file.contains(PosixFilePermission.GROUP_WRITE)) {
            wanted.add(PosixFilePermission.GROUP_READ);
            wanted.add(PosixFilePermission.GROUP_WRITE);
            if (isFolder) {
                wanted.add(PosixFilePermission.GROUP_EXECUTE);
            }
        }
        if (file.contains(PosixFilePermission.OTHERS_WRITE)) {
            wanted.add(PosixFilePermission.OTHERS_READ);
            wanted.add(PosixFilePermission.OTHERS_WRITE);
            if (isFolder) {
                wanted.add(PosixFilePermission.OTHERS_EXECUTE);
            }
        }
        return wanted;
    }

    /**
     * Whether only those who may write to the file can have put a folder there, or something into it: otherwise a
     * stranger could send us false messages. It is open to no more users than the file, and belongs to the file's
     * owner; in a folder where only users whom its owner trusts can create files, to any of them.
     */
    static boolean isSafe(Path folder, Path file) {
        try {
            PosixFileAttributes of = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            PosixFileAttributes like = Files.readAttributes(file, PosixFileAttributes.class);
            Set<PosixFilePermission> open = EnumSet.noneOf(PosixFilePermission.class);
            open.addAll(of.permissions());
            open.retainAll(Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE));
            Path parent = folder.getParent();
            return of.isDirectory()
                    && like.permissions().containsAll(open)
                    && (!open.contains(PosixFilePermission.GROUP_WRITE)
                            || of.group().equals(like.group()))
                    && (of.owner().equals(like.owner()) || (parent != null && !FileOwners.isPublic(parent)));
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
