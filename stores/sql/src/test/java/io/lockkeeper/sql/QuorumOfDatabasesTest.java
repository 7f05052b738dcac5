// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.DistributedReadWriteLock;
import io.lockkeeper.Lease;
import io.lockkeeper.LockOptions;
import io.lockkeeper.Lockkeeper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Databases as members of a quorum: their tokens follow their clocks, and they keep what a quorum writes back. */
class QuorumOfDatabasesTest {
    @TempDir
    Path dir;

    private final List<Lockkeeper> open = new ArrayList<>();

    private Lockkeeper client() {
        Lockkeeper[] members = new Lockkeeper[3];
        for (int i = 0; i < 3; i++) {
            members[i] = Lockkeeper.connect("file:" + dir.resolve("member" + i + ".db"));
            open.add(members[i]);
        }
        // Files wait for the disk, three at a time on one disk here.
        Lockkeeper quorum = Lockkeeper.quorumBuilder(members)
                .operationTimeout(Duration.ofSeconds(8))
                .defaults(LockOptions.defaults().lease(Duration.ofSeconds(30)))
                .build();
        open.add(quorum);
        return quorum;
    }

    @AfterEach
    void close() {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @Test
    void holdsExcludeEachOtherAndTokensRise() throws Exception {
        Lockkeeper a = client();
        Lockkeeper b = client();
        long last = 0;
        for (int i = 0; i < 6; i++) {
            Lease lease = (i % 2 == 0 ? a : b).lock("x").acquire();
            assertThat((i % 2 == 0 ? b : a).lock("x").tryAcquire()).isEmpty();
            assertThat(lease.token()).isGreaterThan(last);
            last = lease.token();
            assertThat(b.inspector().check(lease.sequencer())).isTrue();
            assertThat(lease.release()).isTrue();
            assertThat(b.inspector().check(lease.sequencer())).isFalse();
        }
    }

    @Test
    void aWriterReadsOnAndReadersShare() {
        Lockkeeper a = client();
        DistributedReadWriteLock mine = a.readWriteLock("x");
        DistributedReadWriteLock theirs = client().readWriteLock("x");
        mine.writeLock().lock();
        long written = mine.writeLock().lease().token();
        mine.readLock().lock();
        mine.writeLock().unlock();
        assertThat(mine.readLock().lease().token()).isGreaterThan(written);
        Lease reader = theirs.readLock().tryAcquire().orElseThrow();
        assertThat(theirs.writeLock().tryAcquire()).isEmpty();
        assertThat(reader.token()).isNotEqualTo(mine.readLock().lease().token());
        assertThat(reader.release()).isTrue();
        mine.readLock().unlock();
        Lease writer = theirs.writeLock().tryAcquire().orElseThrow();
        assertThat(writer.token()).isGreaterThan(reader.token());
        assertThat(writer.release()).isTrue();
    }

    @Test
    void aMemberThatWasReplacedByAnEmptyOneIsNotMissed() throws Exception {
        Lockkeeper a = client();
        Lease first = a.lock("x").acquire();
        assertThat(first.release()).isTrue();
        close();
        open.clear();
        try (var files = Files.list(dir)) {
            for (Path file : files.filter(f -> f.getFileName().toString().startsWith("member2"))
                    .toList()) {
                Files.delete(file);
            }
        }
        Lockkeeper b = client();
        Lease next = b.lock("x").acquire();
        assertThat(next.token()).isGreaterThan(first.token());
        assertThat(next.release()).isTrue();
    }
}
