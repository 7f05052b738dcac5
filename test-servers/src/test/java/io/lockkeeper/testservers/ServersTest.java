// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ServersTest {
    @Test
    void aPlaceNeedsAllExecutables(@TempDir Path folder) throws IOException {
        executable(folder.resolve("bin/postgres"));
        assertThat(Place.named(ServerKind.POSTGRES, folder, "TEST")).isEmpty();
        executable(folder.resolve("bin/initdb"));
        for (String named : List.of("", "bin", "bin/postgres")) {
            assertThat(Place.named(ServerKind.POSTGRES, folder.resolve(named), "TEST")
                            .orElseThrow()
                            .executable("initdb"))
                    .as(named)
                    .isPresent();
        }
    }

    @Test
    void aLinkToTheServerLeadsToWhatIsBesideIt(@TempDir Path folder) throws IOException {
        executable(folder.resolve("real/sbin/mariadbd"));
        executable(folder.resolve("real/bin/mariadb-install-db"));
        executable(folder.resolve("real/bin/my_print_defaults"));
        Files.createDirectory(folder.resolve("bin"));
        Files.createSymbolicLink(folder.resolve("bin/mariadbd"), folder.resolve("real/sbin/mariadbd"));
        assertThat(Place.named(ServerKind.MARIADB, folder.resolve("bin"), "TEST")
                        .orElseThrow()
                        .executable("mariadb-install-db"))
                .contains(folder.toRealPath().resolve("real/bin/mariadb-install-db"));
    }

    @Test
    void portsAreOutOfTheWayOfClients() {
        List<Integer> ports = Ports.free(20);
        assertThat(ports).doesNotHaveDuplicates().allMatch(port -> port >= 1024 && port < 32768);
    }

    @Test
    void aPortInUseIsNotFree() throws IOException {
        int port = Ports.free(1).get(0);
        try (ServerSocket socket = Ports.listen(port)) {
            assertThat(socket.getLocalPort()).isEqualTo(port);
            assertThatThrownBy(() -> Ports.listen(port)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void aCommandThatFailsSaysWhatItPrinted() {
        assertThatThrownBy(() -> Commands.run(
                        Duration.ofSeconds(20), Map.of("WORD", "alas"), List.of("sh", "-c", "echo $WORD; exit 3")))
                .hasMessageContaining("ended with 3")
                .hasMessageContaining("alas");
        assertThatThrownBy(() -> Commands.run(Duration.ofMillis(100), Map.of(), List.of("sleep", "60")))
                .hasMessageContaining("did not end within");
    }

    private static void executable(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }
}
