// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples;

import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Lockkeeper;
import io.lockkeeper.StaleTokenException;

/** A lock in a quorum of three stores, and a resource that rejects late writes, which no lock can do alone. */
public final class FencedQuorum {
    private FencedQuorum() {}

    public static void main(String[] args) throws Exception {
        String[] urls = args.length > 0 ? args : new String[] {"memory:one", "memory:two", "memory:three"};
        try (Lockkeeper one = Lockkeeper.connect(urls[0]);
                Lockkeeper two = Lockkeeper.connect(urls[1]);
                Lockkeeper three = Lockkeeper.connect(urls[2]);
                Lockkeeper quorum = Lockkeeper.quorum(one, two, three)) {
            Fence.InMemory account = Fence.inMemory();
            Lease first = quorum.lock("account/42").acquire();
            account.enter(first); // before the first read
            System.out.println(account.write(first, () -> "written with the lock"));
            first.close();

            try (Lease second = quorum.lock("account/42").acquire()) {
                account.enter(second);
                System.out.println(account.write(first, () -> "written by a holder that is late"));
            } catch (StaleTokenException e) {
                System.out.println("refused: " + (e.token() < e.seen() ? "an older token" : "a token"));
            }
        }
    }
}
