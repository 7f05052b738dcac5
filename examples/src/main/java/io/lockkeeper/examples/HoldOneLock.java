// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples;

import io.lockkeeper.Lockkeeper;

/** The shortest useful program: take a lock, work, give it back. */
public final class HoldOneLock {
    private HoldOneLock() {}

    public static void main(String[] args) throws InterruptedException {
        String url = args.length > 0 ? args[0] : "memory:";
        try (var keeper = Lockkeeper.connect(url);
                var lease = keeper.lock("orders/42").acquire()) {
            System.out.println("held " + lease.name() + " with token " + lease.token());
        }
    }
}
