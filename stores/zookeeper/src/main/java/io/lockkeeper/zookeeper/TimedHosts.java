// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers of an ensemble, for a client that is to give up one that does not answer after a certain time. The client
 * library divides the session's timeout by the number of servers: with one server it would wait for a whole session for a
 * handshake that was lost, and would not try again before.
 */
final class TimedHosts implements HostProvider {
    private final HostProvider hosts;
    private final int sessionMillis;
    private final int connectMillis;

    TimedHosts(String servers, int sessionMillis, int connectMillis) {
        this.hosts = new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses());
        this.sessionMillis = sessionMillis;
        this.connectMillis = connectMillis;
    }

    /** As many as make each one's share of the session the time that it is given. */
    @Override
    public int size() {
        return Math.max(hosts.size(), sessionMillis / connectMillis);
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
        return hosts.next(spinDelay);
    }

    @Override
    public void onConnected() {
        hosts.onConnected();
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> servers, InetSocketAddress current) {
        return hosts.updateServerList(servers, current);
    }
}
