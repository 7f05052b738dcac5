// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.LeaderElection;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.testservers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What waiting costs a database that notifies nobody, by its own count. H106 */
class IdleWaitersTest {
    private static final int CANDIDATES = 10;

    /** One poll, and its share of the refresh of its place and of what a keeper does besides. It was 50. */
    private static final long STATEMENTS_PER_SECOND = 4;

    private static long questions(Connection connection) throws Exception {
        try (Statement s = connection.createStatement();
                ResultSet row = s.executeQuery("SHOW GLOBAL STATUS LIKE 'Questions'")) {
            row.next();
            return row.getLong(2);
        }
    }

    private static void lead(Lease lease) {
        try {
            TimeUnit.HOURS.sleep(1); // until it is interrupted
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void tenIdleCandidatesAskAboutOnceASecondEach() throws Exception {
        List<AutoCloseable> toClose = new ArrayList<>();
        try (MariaDbServer server = MariaDbServer.start();
                Connection counting = DriverManager.getConnection(server.jdbcUrl())) {
            try {
                for (int i = 0; i < CANDIDATES; i++) {
                    Lockkeeper keeper = Lockkeeper.connect(Db.with(server.jdbcUrl(), "operationTimeout=5s"));
                    toClose.add(0, keeper);
                    LeaderElection election = keeper.election("leader");
                    toClose.add(0, election.start(IdleWaitersTest::lead));
                }
                long rate = Long.MAX_VALUE;
                for (int second = 0; second < 60 && rate > CANDIDATES * STATEMENTS_PER_SECOND; second++) {
                    long before = questions(counting);
                    long start = System.nanoTime();
                    TimeUnit.SECONDS.sleep(1); // the time in which to count
                    rate = (questions(counting) - before) * 1_000_000_000 / (System.nanoTime() - start);
                    System.out.println("statements per second of " + CANDIDATES + " candidates: " + rate);
                }
                assertThat(rate).isLessThanOrEqualTo(CANDIDATES * STATEMENTS_PER_SECOND);
            } finally {
                for (AutoCloseable each : toClose) {
                    each.close();
                }
            }
        }
    }
}
