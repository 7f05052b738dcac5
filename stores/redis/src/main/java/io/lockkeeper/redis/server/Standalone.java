// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import redis.clients.jedis.HostAndPort;

/** One server, or what the application's client takes for one. */
final class Standalone extends Servers {
    private final Node node;
    private final boolean canFailOver;

    Standalone(Node node, boolean canFailOver) {
        this.node = node;
        this.canFailOver = canFailOver;
    }

    @Override
    public Node node(int slot) {
        return node;
    }

    @Override
    public Collection<Supplier<Node>> masters() {
        return List.of(() -> node);
    }

    @Override
    public Node listening() {
        return node;
    }

    @Override
    public Object lane(int slot, Object store) {
        return store;
    }

    @Override
    public boolean canFailOver() {
        return canFailOver;
    }

    @Override
    Node at(HostAndPort address) {
        return node;
    }

    @Override
    public void failed(Node failed) {}

    @Override
    public void close() {
        node.close();
    }
}
