// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

/** A Redis for a script: prints its URL, and ends it when the script closes the input. */
final class RedisMain {
    private RedisMain() {}

    public static void main(String[] args) throws Exception {
        try (RedisServer server = RedisServer.start()) {
            System.out.println("redis://" + server.address());
            while (System.in.read() >= 0) {
                // nothing is expected
            }
        }
    }
}
