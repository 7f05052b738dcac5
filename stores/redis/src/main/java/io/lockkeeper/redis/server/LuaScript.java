// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis.server;

import java.util.List;

/** A script, as far as sending it is concerned: what it does is not known here. */
public interface LuaScript {
    /** What the server is sent when it does not know the script. */
    byte[] text();

    /** The hash by which the server knows it. */
    byte[] sha1();

    /** The text for a server whose memory is full: Redis 7 and later run it, earlier versions cannot read it. */
    byte[] textForFullServer();

    /** Whether it only keeps or ends what is there, so that a server whose memory is full should still run it. */
    boolean needsNoRoom();

    /** What a call of it concerns, as an operator finds it in the server. */
    String about(List<byte[]> keys, List<byte[]> arguments);
}
