// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Guarantee;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.model.Signal;
import io.lockkeeper.tck.support.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares what clients heard with what the model would have told them. Signals are hints: none may come that the model
 * would not have told, and none more often (but for latches, where it does no harm); those that spare a waiter its wait must
 * come where the store promises PUSH. That a lease has run out may stay untold, and so may a grant to one who is just
 * asking. Who has given up need not be told any more: so what is to come is waited for before a claim is ended.
 */
final class ScriptSignals {
    /** Stands for any other signal about a claim: what happened is for the client to ask. */
    static final String CHANGED = "changed";

    private final Clients clients;
    private final List<Expected> expected = new ArrayList<>();

    private record Expected(int client, String what, String about, boolean needed) {
        boolean isIn(Clients.Heard heard) {
            return heard.client() == client
                    && (heard.what().equals(what) || heard.what().equals(CHANGED))
                    && heard.about().equals(about);
        }
    }

    ScriptSignals(Clients clients) {
        this.clients = clients;
    }

    /** The model told this; {@code toAsker}: in a step by which those concerned may have learnt it themselves. */
    void expect(List<Signal> signals, boolean toAsker) {
        for (Signal signal : signals) {
            int client = clients.client(signal.client());
            if (signal instanceof Signal.Granted granted) {
                expected.add(new Expected(client, "granted", granted.claim().toString(), !toAsker));
            } else if (signal instanceof Signal.Recalled recalled) {
                expected.add(new Expected(client, "recalled", recalled.claim().toString(), true));
            } else if (signal instanceof Signal.Lost lost) {
                boolean needed = lost.reason() == Reason.BROKEN && !toAsker;
                expected.add(new Expected(
                        client, "lost " + lost.reason(), lost.claim().toString(), needed));
            } else if (signal instanceof Signal.Opened opened) {
                expected.add(new Expected(client, "opened", opened.latch(), true));
            }
        }
    }

    /** Waits for what must come about a claim that is about to be ended. */
    void awaitBeforeTheEnd(String claim, Duration wait) {
        awaitNeeded(expected.stream().filter(e -> e.about.equals(claim)).toList(), wait);
    }

    /**
     * Waits for what must come, and looks at what came.
     *
     * @param tokens the claims, and the first tokens of those whose grant is known; 0 for the others
     */
    void compare(Map<String, Long> tokens, Duration wait) {
        awaitNeeded(expected, wait);
        tokens.forEach((claim, token) -> {
            List<Clients.Heard> all = clients.heardOf(claim);
            for (Clients.Heard heard : all) {
                long told = expected.stream().filter(e -> e.isIn(heard)).count();
                long times = all.stream().filter(heard::equals).count();
                // A hint only makes the client ask, and each member of a quorum may give it.
                boolean isRight = heard.what().equals("changed") ? told > 0 : times <= told;
                ScriptMismatch.unless(isRight, heard + " came " + times + " times, by the model " + told);
                ScriptMismatch.unless(
                        heard.token() == 0 || token == 0 || heard.token() == token,
                        "signalled with another token than " + token + ": " + heard);
            }
            clients.forget(claim);
        });
    }

    private void awaitNeeded(List<Expected> some, Duration wait) {
        if (!clients.store(0).guarantees().has(Guarantee.PUSH)) {
            return;
        }
        long deadline = System.nanoTime() + wait.toNanos();
        for (Expected e : some) {
            while (e.needed
                    && !clients.missed()
                    && clients.heardOf(e.about).stream().noneMatch(e::isIn)) {
                ScriptMismatch.unless(System.nanoTime() < deadline, "no signal: " + e);
                try {
                    Pauses.betweenLooks(1);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }
}
