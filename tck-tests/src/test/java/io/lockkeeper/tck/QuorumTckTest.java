// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LockInfo;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.memory.MemoryCore;
import io.lockkeeper.memory.MemoryStore;
import io.lockkeeper.quorum.QuorumOptions;
import io.lockkeeper.quorum.QuorumStore;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.testkit.ForwardingStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/** A quorum of three memory stores passes the contract, as far as its guarantees go. */
class QuorumTckTest extends LockStoreTck {
    @Override
    protected StoreFixture start() throws IOException {
        return new QuorumFixture();
    }

    /** Three memory stores; other JVMs reach one client of their quorum over a bridge. */
    static final class QuorumFixture implements StoreFixture {
        private final List<MemoryCore> cores = List.of(MemoryCore.system(), MemoryCore.system(), MemoryCore.system());
        private final LockStore bridged = connect();
        private final BridgeServer bridge;

        QuorumFixture() throws IOException {
            this.bridge = new BridgeServer(bridged);
        }

        @Override
        public LockStore connect() {
            List<MemoryStore> members = cores.stream().map(MemoryStore::new).toList();
            return new Repeating(
                    QuorumStore.of(members, QuorumOptions.defaults().longestLease(Duration.ofHours(24))));
        }

        @Override
        public Optional<String> url() {
            return Optional.of(bridge.url());
        }

        @Override
        public long size() {
            return cores.stream().mapToLong(MemoryCore::size).sum();
        }

        @Override
        public void close() {
            bridge.close();
            bridged.close();
        }
    }

    /**
     * Repeats steps that failed, as a keeper does. The contract's single steps have none, and on a busy machine a member's
     * thread may have to wait for longer than members are waited for.
     */
    private static final class Repeating extends ForwardingStore {
        Repeating(LockStore store) {
            super(store);
        }

        private static <R> R repeat(IntFunction<R> step) {
            for (int attempt = 0; ; attempt++) {
                try {
                    return step.apply(attempt);
                } catch (StoreUnavailableException e) {
                    if (attempt == 20 || !e.worthRepeating()) {
                        throw e;
                    }
                }
            }
        }

        @Override
        public Answer claim(Claim claim) {
            return repeat(attempt -> super.claim(attempt == 0 ? claim : claim.asStray()));
        }

        @Override
        public Renewal renew(Renewals batch) {
            return repeat(attempt -> super.renew(batch));
        }

        @Override
        public boolean release(Grant grant) {
            return repeat(attempt -> super.release(grant));
        }

        @Override
        public Optional<Grant> downgrade(Grant grant) {
            return repeat(attempt -> super.downgrade(grant));
        }

        @Override
        public void withdraw(Claim claim) {
            repeat(attempt -> {
                super.withdraw(claim);
                return true;
            });
        }

        @Override
        public Optional<LockInfo> inspect(String name) {
            return repeat(attempt -> super.inspect(name));
        }

        @Override
        public List<LockInfo> list(String prefix, int limit) {
            return repeat(attempt -> super.list(prefix, limit));
        }

        @Override
        public boolean check(Sequencer sequencer) {
            return repeat(attempt -> super.check(sequencer));
        }
    }
}
