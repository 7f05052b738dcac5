// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.process;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * Memory that several JVMs share, and that sees whether two are inside at the same time or whether a token does not rise.
 * It uses no lock itself: the visits are counted with a plain read and a plain write, so that an overlap that the
 * owner's mark should miss still costs a count.
 */
final class Witness {
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int OWNER = 0;
    private static final int TOKEN = 8;
    private static final int VISITS = 16;
    private static final int BYTES = 24;

    private final ByteBuffer memory;

    Witness(Path path) throws IOException {
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
        }
    }

    /** One visit by a holder that must be the only one, and later than all with a lower token. */
    void visit(long visitor, long token) {
        if (!LONGS.compareAndSet(memory, OWNER, 0L, visitor)) {
            throw new AssertionError(visitor + " came in while " + get(OWNER) + " was inside");
        }
        long before = get(TOKEN);
        if (token <= before) {
            throw new AssertionError("token " + token + " came after token " + before);
        }
        LONGS.setVolatile(memory, TOKEN, token);
        long visits = get(VISITS);
        LockSupport.parkNanos(10_000); // time for another to come in
        LONGS.setVolatile(memory, VISITS, visits + 1);
        if (!LONGS.compareAndSet(memory, OWNER, visitor, 0L)) {
            throw new AssertionError(get(OWNER) + " came in while " + visitor + " was inside");
        }
    }

    long visits() {
        return get(VISITS);
    }

    private long get(int at) {
        return (long) LONGS.getVolatile(memory, at);
    }
}
