// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Where things are: {@code ROOT/n/BUCKET/NAME} a name in use, {@code ROOT/l/BUCKET/NAME} a latch, {@code ROOT/s} the
 * nodes of sessions.
 *
 * <p>Of a name everything but ASCII letters, digits, {@code -} and {@code _} is written as {@code %XX} per byte, so
 * that no name has a slash, is {@code .} or {@code ..}, or means anything to ZooKeeper. Buckets keep listings small: an
 * answer of more than 1 MB would cost the connection.
 */
record Layout(String root) {
    private static final String PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    private static final Pattern ENCODED = Pattern.compile("([A-Za-z0-9_-]|%[0-9A-F]{2})+");

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
        return names() + "/" + bucket(name) + "/" + encode(name);
    }

    String latch(String name) {
        return latches() + "/" + bucket(name) + "/" + encode(name);
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

    static String encode(String name) {
        StringBuilder s = new StringBuilder(name.length() + 16);
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (b > 0 && PLAIN.indexOf(b) >= 0) {
                s.append((char) b);
            } else {
                s.append('%')
                        .append(Character.toUpperCase(Character.forDigit(b >> 4 & 15, 16)))
                        .append(Character.toUpperCase(Character.forDigit(b & 15, 16)));
            }
        }
        return s.toString();
    }

    /** The name of which this is the node; empty when it is not one of ours. */
    Optional<String> nameOf(String path) {
        String encoded = path.substring(path.lastIndexOf('/') + 1);
        if (!ENCODED.matcher(encoded).matches()) {
            return Optional.empty();
        }
        String name = decode(encoded);
        return name(name).equals(path) ? Optional.of(name) : Optional.empty();
    }

    private static String decode(String encoded) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length());
        for (int i = 0; i < encoded.length(); i++) {
            char c = encoded.charAt(i);
            if (c == '%') {
                bytes.write(Integer.parseInt(encoded, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static String bucket(String name) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        return String.format("%02x", crc.getValue() & 255);
    }
}
