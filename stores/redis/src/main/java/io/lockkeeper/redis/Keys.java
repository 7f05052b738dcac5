// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Where things are: {@code PREFIX:{BUCKET}:KIND:NAME}. The bucket is a hash tag, so that all keys of a name, and all names of a
 * bucket, are in one slot of a Cluster; braces in a name mean nothing, for they are encoded. The 256 buckets are frozen for ever.
 */
final class Keys {
    static final int BUCKETS = 256;

    private static final String[] TAGS = new String[BUCKETS];
    private static final int[] SLOTS = new int[BUCKETS];

    static {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            TAGS[bucket] = String.format("%02x", bucket);
            SLOTS[bucket] = JedisClusterCRC16.getSlot(TAGS[bucket]);
        }
    }

    private final String prefix;

    Keys(String prefix) {
        this.prefix = prefix;
    }

    /** The bucket of a name, by its CRC16 as Redis Cluster has it. */
    static int bucket(String name) {
        return JedisClusterCRC16.getCRC16(name.getBytes(StandardCharsets.UTF_8)) & (BUCKETS - 1);
    }

    static int slot(int bucket) {
        return SLOTS[bucket];
    }

    private String key(int bucket, String rest) {
        return prefix + ":{" + TAGS[bucket] + "}:" + rest;
    }

    /** Record of a name. */
    byte[] record(String name) {
        return bytes(key(bucket(name), "n:" + Code.encode(name)));
    }

    /** Record, places, limits and queue of a name. */
    List<byte[]> ofName(String name) {
        String code = Code.encode(name);
        int bucket = bucket(name);
        return List.of(
                bytes(key(bucket, "n:" + code)),
                bytes(key(bucket, "p:" + code)),
                bytes(key(bucket, "t:" + code)),
                bytes(key(bucket, "q:" + code)));
    }

    /** Token floor and refused ids of a bucket. */
    List<byte[]> ofBucket(int bucket) {
        return List.of(bytes(key(bucket, "floor")), bytes(key(bucket, "refused")));
    }

    /** Record and watchers of a latch, then the keys of its bucket. */
    List<byte[]> ofLatch(String name) {
        String code = Code.encode(name);
        int bucket = bucket(name);
        return List.of(
                bytes(key(bucket, "l:" + code)),
                bytes(key(bucket, "w:" + code)),
                bytes(key(bucket, "floor")),
                bytes(key(bucket, "refused")));
    }

    /** A string, a sorted set and a hash that nobody else uses. */
    List<byte[]> forTrial(String id) {
        return List.of(bytes(key(0, "trial:s:" + id)), bytes(key(0, "trial:z:" + id)), bytes(key(0, "trial:h:" + id)));
    }

    /** Where the id of the store is. */
    String id() {
        return prefix + ":id";
    }

    /** The channel on which a client is told what concerns it. */
    String channel(String client) {
        return prefix + ":to:" + client;
    }

    /** What the records of all names that begin with this match. */
    String pattern(String namePrefix) {
        return prefix + ":{??}:n:" + Code.encode(namePrefix) + "*";
    }

    /** The name whose record this key is. */
    String nameOf(String record) {
        return Code.decode(record.substring(prefix.length() + ":{00}:n:".length()));
    }

    static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.ISO_8859_1);
    }
}
