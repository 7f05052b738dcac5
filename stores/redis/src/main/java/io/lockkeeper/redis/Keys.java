// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.spi.NameCodec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Where things are: {@code PREFIX:{BUCKET}:KIND:NAME}. The bucket is a hash tag, so that all keys of a name, and all
 * names of a bucket, are in one slot of a Cluster; braces in a name have no meaning, because names are percent-encoded by {@link NameCodec}. The 256
 * buckets are frozen forever.
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

    /** Records of the names of a bucket, by the names' codes. */
    byte[] names(int bucket) {
        return bytes(key(bucket, "names"));
    }

    /** Records, token floor and refused ids of a bucket: what each script is given first. */
    List<byte[]> ofBucket(int bucket) {
        return List.of(names(bucket), bytes(key(bucket, "floor")), bytes(key(bucket, "refused")));
    }

    /** A name's own keys, which exist while claims are queued or several hold it: places, limits, ends and entries. */
    List<byte[]> ofName(String name) {
        String code = NameCodec.encode(name);
        int bucket = bucket(name);
        return List.of(
                bytes(key(bucket, "places:" + code)),
                bytes(key(bucket, "limits:" + code)),
                bytes(key(bucket, "ends:" + code)),
                bytes(key(bucket, "entries:" + code)));
    }

    /** Record and watchers of a latch. */
    List<byte[]> ofLatch(String name) {
        String code = NameCodec.encode(name);
        int bucket = bucket(name);
        return List.of(bytes(key(bucket, "l:" + code)), bytes(key(bucket, "w:" + code)));
    }

    /** A string, a sorted set and a hash that nobody else uses. */
    List<byte[]> forTrial(String id) {
        return List.of(bytes(key(0, "trial:s:" + id)), bytes(key(0, "trial:z:" + id)), bytes(key(0, "trial:h:" + id)));
    }

    /** Where the id of the store is. */
    String id() {
        return prefix + ":id";
    }

    /** A copy of the id, for when the shard of the other one is down. */
    String copyOfId(int bucket) {
        return key(bucket, "id");
    }

    /** The channel on which a client is notified of what concerns it. */
    String channel(String client) {
        return prefix + ":to:" + client;
    }

    static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.ISO_8859_1);
    }
}
