// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/** The files of this repository, without what was built. Tests run in the folder of their module. */
final class Repository {
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Set<String> NOT_OURS = Set.of("target", ".git", ".idea", ".settings");
    private static final List<String> PAGES_OF_THE_ROOT =
            List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md");

    private Repository() {}

    /** All pages, in a fixed order. */
    static List<Page> pages() {
        var pages = new ArrayList<Page>();
        PAGES_OF_THE_ROOT.forEach(name -> pages.add(page(name)));
        files(ROOT.resolve("docs")).stream()
                .map(Repository::name)
                .filter(name -> name.endsWith(".md"))
                .forEach(name -> pages.add(page(name)));
        return pages;
    }

    static Page page(String name) {
        return new Page(name, read(ROOT.resolve(name)));
    }

    /** All files below a folder, sorted by their paths. */
    static List<Path> files(Path folder) {
        var files = new ArrayList<Path>();
        var visitor = new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) {
                return NOT_OURS.contains(visited.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                files.add(file);
                return FileVisitResult.CONTINUE;
            }
        };
        try {
            Files.walkFileTree(folder, visitor);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Collections.sort(files);
        return files;
    }

    /** The path from the root of the repository, with slashes. */
    static String name(Path file) {
        return ROOT.relativize(file).toString().replace('\\', '/');
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
