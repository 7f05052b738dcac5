// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.nemesis;

import io.lockkeeper.Inspector;
import io.lockkeeper.LockInfo;
import io.lockkeeper.tck.support.Pauses;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** What users do to each other: interrupt threads, break holds, close keepers that are in use. */
final class NemesisMischief {
    private final NemesisRun run;
    private final Random random;
    private final Inspector inspector;

    NemesisMischief(NemesisRun run, Random random, Inspector inspector) {
        this.run = run;
        this.random = random;
        this.inspector = inspector;
    }

    /** Interrupts workers, whatever they do, and breaks holds. */
    void interruptAndBreak(List<Thread> workers) throws InterruptedException {
        while (run.isOn()) {
            Pauses.whileFaultLasts(Duration.ofMillis(1 + random.nextInt(30)));
            if (random.nextInt(16) == 0) {
                List<String> names =
                        run.names.get(random.nextInt(run.names.size())).all();
                breakOne(names.get(random.nextInt(names.size())));
            } else {
                workers.get(random.nextInt(workers.size())).interrupt();
            }
        }
    }

    private void breakOne(String name) {
        List<LockInfo.Hold> holders =
                inspector.inspect(name).map(LockInfo::holders).orElse(List.of());
        if (holders.isEmpty()) {
            return;
        }
        long token = holders.get(random.nextInt(holders.size())).token();
        run.book.breaking(name, token);
        if (random.nextInt(4) == 0) {
            inspector.breakHoldNow(name, token, Duration.ZERO);
        } else {
            inspector.breakHold(name, token, Duration.ZERO);
        }
    }

    /** Closes keepers that are in use, and opens others in their place. */
    void closeAndOpen(List<NemesisClient> clients) throws InterruptedException {
        while (run.isOn()) {
            Pauses.whileFaultLasts(Duration.ofMillis(random.nextInt(2_000)));
            try {
                clients.get(random.nextInt(clients.size())).replace();
            } catch (RuntimeException | Error e) {
                run.complain("a keeper could not be closed", e); // whatever its store does
            }
        }
    }
}
