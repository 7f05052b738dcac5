// SPDX-License-Identifier: Apache-2.0
package smoke;

import io.lockkeeper.Lockkeeper;

public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        try (var keeper = Lockkeeper.connect("memory:");
                var lease = keeper.lock("demo").acquire()) {
            System.out.println("held " + lease.token());
        }
    }
}
