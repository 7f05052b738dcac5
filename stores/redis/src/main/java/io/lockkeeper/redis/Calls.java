// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.redis.server.Call;
import io.lockkeeper.spi.NameCodec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The scripts of single steps, with the keys and arguments that each takes. */
final class Calls {
    private Calls() {}

    /** A step on one name, whose code comes before the arguments. */
    static Call onName(Keys keys, String name, Script script, String... arguments) {
        return onBucketOf(keys, name, script, keys.ofName(name), NameCodec.encode(name), arguments);
    }

    /** Asks who holds a name; with the keys for many holders, if there are that many. */
    static Call check(Keys keys, String name, boolean crowd) {
        int bucket = Keys.bucket(name);
        List<byte[]> all = new ArrayList<>(List.of(keys.names(bucket)));
        if (crowd) {
            all.addAll(keys.ofName(name).subList(2, 4));
        }
        return new Call(Keys.slot(bucket), Script.CHECK, all, List.of(Keys.bytes(NameCodec.encode(name))));
    }

    /** The same step, made by a script that needs only the first of its keys. */
    static Call by(Script other, Call call) {
        return new Call(call.slot(), other, call.keys().subList(0, other.keys()), call.arguments());
    }

    /** A step on a latch. */
    static Call onLatch(Keys keys, String name, String... arguments) {
        return onBucketOf(keys, name, Script.LATCH, keys.ofLatch(name), null, arguments);
    }

    private static Call onBucketOf(
            Keys keys, String name, Script script, List<byte[]> own, @Nullable String first, String... rest) {
        int bucket = Keys.bucket(name);
        List<byte[]> all = new ArrayList<>(7);
        all.addAll(keys.ofBucket(bucket));
        all.addAll(own);
        List<byte[]> words = new ArrayList<>(rest.length + 1);
        if (first != null) {
            words.add(Keys.bytes(first));
        }
        for (String word : rest) {
            words.add(Keys.bytes(word));
        }
        return new Call(Keys.slot(bucket), script, all, words);
    }
}
