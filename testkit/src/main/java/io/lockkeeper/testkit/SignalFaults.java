// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.LeaseLost;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.Subscription;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What becomes of the signals of a {@link FaultyStore}: delivered, lost, or kept back for later. */
final class SignalFaults {
    private final Outage outage;
    private final Queue<Signals> listeners = new ConcurrentLinkedQueue<>();
    private final List<Runnable> held = new ArrayList<>(); // guarded by itself
    private volatile boolean loses;
    private volatile boolean holds;
    private volatile Supplier<SignalFate> disturbance = () -> SignalFate.DELIVERED;

    SignalFaults(Outage outage) {
        this.outage = outage;
    }

    void lose(boolean lose) {
        loses = lose;
    }

    void disturb(Supplier<SignalFate> fates) {
        disturbance = fates;
    }

    /** Keeps signals back until they are delivered. */
    void hold() {
        holds = true;
    }

    int held() {
        synchronized (held) {
            return held.size();
        }
    }

    /** Delivers what was kept back, in its order; signals pass again. */
    void deliver() {
        takeHeld().forEach(Runnable::run);
    }

    /** Delivers what was kept back, in a random order; signals pass again. */
    void deliver(Random order) {
        List<Runnable> late = takeHeld();
        Collections.shuffle(late, order);
        late.forEach(Runnable::run);
    }

    private List<Runnable> takeHeld() {
        synchronized (held) {
            holds = false;
            List<Runnable> late = new ArrayList<>(held);
            held.clear();
            return late;
        }
    }

    /** Tells all listeners that signals may have been lost. */
    void missed() {
        listeners.forEach(Signals::missed);
    }

    /** Listens to the store for somebody who may not hear everything. */
    Subscription listen(LockStore store, String client, Signals signals) {
        FaultySignals faulty = new FaultySignals(signals);
        Subscription subscription = store.listen(client, faulty);
        listeners.add(signals);
        return () -> {
            listeners.remove(signals);
            subscription.close();
            faulty.signals = null;
        };
    }

    private final class FaultySignals implements Signals {
        /** Null when nobody listens any more, so that a store that is slow to forget this keeps nobody else in memory. */
        private volatile @Nullable Signals signals;

        FaultySignals(Signals signals) {
            this.signals = signals;
        }

        private void pass(Consumer<Signals> signal) {
            if (loses || outage.isOn()) {
                return;
            }
            SignalFate fate = disturbance.get();
            synchronized (held) {
                if (holds || fate == SignalFate.HELD || fate == SignalFate.TWICE) {
                    held.add(() -> deliver(signal));
                }
                if (holds) {
                    return;
                }
            }
            if (fate == SignalFate.DELIVERED || fate == SignalFate.TWICE) {
                deliver(signal);
            }
        }

        private void deliver(Consumer<Signals> signal) {
            Signals listening = signals;
            if (listening != null) {
                signal.accept(listening);
            }
        }

        @Override
        public void granted(ClaimId claim, Answer.Granted grant) {
            pass(s -> s.granted(claim, grant));
        }

        @Override
        public void recalled(ClaimId claim) {
            pass(s -> s.recalled(claim));
        }

        @Override
        public void changed(ClaimId claim) {
            pass(s -> s.changed(claim));
        }

        @Override
        public void lost(ClaimId claim, LeaseLost.Reason reason) {
            pass(s -> s.lost(claim, reason));
        }

        @Override
        public void opened(String latch) {
            pass(s -> s.opened(latch));
        }

        @Override
        public void sessionLost(String why) {
            pass(s -> s.sessionLost(why));
        }

        @Override
        public void missed() {
            pass(Signals::missed);
        }
    }
}
