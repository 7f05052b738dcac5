// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * How many replicas must have what a step wrote before it is believed, and how long to wait for them.
 *
 * @param number 0 not to wait
 */
public record Replicas(int number, int timeoutMillis) {
    /** Not to wait. */
    public static final Replicas NONE = new Replicas(0, 0);

    CommandArguments command() {
        return new CommandArguments(Protocol.Command.WAIT).add(number).add(timeoutMillis);
    }

    /** Refuses an answer that too few replicas have. */
    void check(Object answer) {
        if (answer instanceof JedisDataException e) {
            throw e;
        }
        if (!(answer instanceof Long have) || have < number) {
            throw new JedisDataException("NOREPLICAS " + answer + " of the " + number
                    + " replicas that are asked for have what was written");
        }
    }
}
