// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is known in one place only. */
class RoomsTest {
    private static final String SOURCES = "src/main/java/io/lockkeeper/redis/server";
    private static final String SCRIPTS = "src/main/resources/io/lockkeeper/redis";

    /** Each file's lines, by its name. */
    private static Map<String, List<String>> files(String folder) throws IOException {
        Map<String, List<String>> files = new TreeMap<>();
        try (Stream<Path> all = Files.list(Path.of(folder))) {
            for (Path file : all.toList()) {
                files.put(file.getFileName().toString(), Files.readAllLines(file));
            }
        }
        assertThat(files).hasSizeGreaterThan(10);
        return files;
    }

    @Test
    void theServersKnowNothingOfTheStoreThatAsksThem() throws Exception {
        files(SOURCES)
                .forEach((name, lines) ->
                        assertThat(lines).as(name).noneMatch(line -> line.startsWith("import io.lockkeeper.redis.")));
    }

    @Test
    void oneScriptKnowsTheFormOfRecords() throws Exception {
        List<String> readersAndWriters = files(SCRIPTS).entrySet().stream()
                .filter(file -> file.getValue().stream().anyMatch(line -> line.matches(".*'\\^?2[ '].*")))
                .map(Map.Entry::getKey)
                .collect(Collectors.toList());
        assertThat(readersAndWriters).containsExactly("format.lua");
    }
}
