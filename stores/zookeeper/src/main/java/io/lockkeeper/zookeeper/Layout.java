// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.spi.NameCodec;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * Where things are: {@code ROOT/n/BUCKET/NAME} a name in use, {@code ROOT/l/BUCKET/NAME} a latch, {@code ROOT/s} the
 * nodes of sessions.
 *
 * <p>Of a name everything but ASCII letters, digits, {@code -} and {@code _} is written as {@code %XX} per byte, so
 * that no name has a slash, is {@code .} or {@code ..}, or means anything to ZooKeeper; see {@link NameCodec}. Buckets keep listings small: an
 * answer of more than 1 MB would cost the connection.
 */
record Layout(String root) {
    /** What stands for itself besides letters and digits. Frozen forever. */
    private static final String PLAIN = "-_";

    String names() {
        return root + "/n";
    }

    String latches() {
        return root + "/l";
    }

    String sessions() {
        return root + "/s";
    }

    String id() {
        return root + "/id";
    }

    String name(String name) {
        return names() + "/" + bucket(name) + "/" + NameCodec.encode(name, PLAIN);
    }

    String latch(String name) {
        return latches() + "/" + bucket(name) + "/" + NameCodec.encode(name, PLAIN);
    }

    /** The node whose version every claim of a session checks. */
    String fence(long session) {
        return sessions() + "/" + Long.toHexString(session) + "-f";
    }

    /** The node where others leave messages for a session. */
    String mailbox(long session) {
        return sessions() + "/" + Long.toHexString(session) + "-m";
    }

    static String parent(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    /** The name of which this is the node; empty when it is not one of ours. */
    Optional<String> nameOf(String path) {
        String code = path.substring(path.lastIndexOf('/') + 1);
        return NameCodec.read(code, PLAIN).filter(name -> name(name).equals(path));
    }

    private static String bucket(String name) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        return String.format("%02x", crc.getValue() & 255);
    }
}
