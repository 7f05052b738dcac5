// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * The public classes of the JDK and of the libraries on the class path, by their simple names. They are loaded without being
 * initialized, and only those that a page names.
 */
final class ForeignClasses {
    private final Map<String, List<String>> byName = new HashMap<>();

    private ForeignClasses() {}

    static ForeignClasses onTheClassPath() {
        var classes = new ForeignClasses();
        try {
            for (String module : List.of("java.base", "java.sql", "java.logging")) {
                Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", module);
                try (Stream<Path> files = Files.walk(root)) {
                    files.forEach(file -> classes.add(root.relativize(file).toString()));
                }
            }
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                if (entry.endsWith(".jar")) {
                    try (var jar = new JarFile(entry)) {
                        jar.stream().forEach(file -> classes.add(file.getName()));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return classes;
    }

    private void add(String file) {
        if (file.endsWith(".class") && !file.startsWith("META-INF") && !file.matches("(com/)?sun/.*|jdk/.*")) {
            String name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
            String simple = name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
            byName.computeIfAbsent(simple, key -> new ArrayList<>()).add(name);
        }
    }

    /** Empty if a class of this name has such members, one in the other. */
    String complaint(String name, List<String> members) {
        List<String> names = byName.getOrDefault(name, List.of());
        if (names.isEmpty()) {
            return "there is no class of this name";
        }
        if (members.isEmpty() || names.stream().anyMatch(each -> has(each, members.get(0)))) {
            return "";
        }
        return name + " has no " + members.get(0);
    }

    /** Whether one of these classes of ours extends or implements a class that is not ours and has the member. */
    boolean inherits(List<Sources.Type> lineage, String member) {
        return lineage.stream()
                .flatMap(type -> Stream.concat(type.supers().stream(), Stream.of("Object", "Enum")))
                .flatMap(name -> byName.getOrDefault(name, List.of()).stream())
                .filter(name -> name.startsWith("java."))
                .anyMatch(name -> has(name, member));
    }

    private static boolean has(String name, String member) {
        Optional<Class<?>> loaded = load(name);
        if (loaded.isEmpty()) {
            return false;
        }
        Class<?> type = loaded.get();
        try {
            return Arrays.stream(type.getMethods())
                            .anyMatch(each -> each.getName().equals(member))
                    || Arrays.stream(type.getFields())
                            .anyMatch(each -> each.getName().equals(member))
                    || Arrays.stream(type.getClasses())
                            .anyMatch(each -> each.getSimpleName().equals(member))
                    || (member.equals("isVirtual") && type == Thread.class); // since Java 21
        } catch (LinkageError e) {
            return false;
        }
    }

    private static Optional<Class<?>> load(String name) {
        try {
            return Optional.of(Class.forName(name, false, ForeignClasses.class.getClassLoader()));
        } catch (ClassNotFoundException | LinkageError e) {
            return Optional.empty();
        }
    }
}
