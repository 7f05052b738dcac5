// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Fence;
import io.lockkeeper.Lease;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StaleTokenException;
import io.lockkeeper.spi.NameCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * A fence around data in Redis: a write and the check of its token are one script, which the server runs as one.
 *
 * <pre>{@code
 * RedisFence fence = RedisFence.of(client);
 * try (Lease lease = keeper.lock("account/42").acquire()) {
 *     fence.enter(lease);                                          // before the first read
 *     long balance = Long.parseLong(client.get("balance:{account/42}"));
 *     fence.write(lease, "SET", "balance:{account/42}", Long.toString(balance - 10));
 * }
 * }</pre>
 *
 * <p>The locks may be kept anywhere: in this Redis, in another one, in a quorum, in a database. The mark of a name is one small
 * key that never expires; it belongs to the data, and must be lost only with them.
 *
 * <p><b>In a Cluster</b> the mark must be in the slot of the keys that are written. By default it has the lock's name as its
 * hash tag, {@code lockkeeper-fence:{NAME}}, so keys with the same tag can be written; bytes of the name other than ASCII
 * letters, digits and {@code - . _ ~ : / @ + =} are percent-encoded in it.
 *
 * <p>Safe for use by any number of threads. Failures of the client are thrown as the client throws them.
 */
public final class RedisFence implements Fence {
    private static final String CHECK = Script.resource("fence");
    private static final String NOTHING = "return nil";
    private static final String ONE_COMMAND = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))";

    private final UnifiedJedis client;
    private final UnaryOperator<String> marks;

    private RedisFence(UnifiedJedis client, UnaryOperator<String> marks) {
        this.client = Objects.requireNonNull(client, "client");
        this.marks = Objects.requireNonNull(marks, "marks");
    }

    /** A fence in the Redis of this client, with its marks at {@code lockkeeper-fence:{NAME}}. */
    public static RedisFence of(UnifiedJedis client) {
        return of(client, name -> "lockkeeper-fence:{" + NameCodec.encode(name) + "}");
    }

    /**
     * A fence in the Redis of this client.
     *
     * @param marks the key of the mark of a lock's name; a different one for each name, and always the same. All clients
     *     that guard the same data must agree on it
     */
    public static RedisFence of(UnifiedJedis client, UnaryOperator<String> marks) {
        return new RedisFence(client, marks);
    }

    @Override
    public void enter(Sequencer sequencer) {
        run(List.of(sequencer), NOTHING, List.of(), List.of());
    }

    /** Raises the mark, or refuses; of a lease on several locks all marks or none, in a Cluster if they are in one slot. */
    @Override
    public void enter(Lease lease) {
        run(parts(lease), NOTHING, List.of(), List.of());
    }

    /**
     * Executes a command on one key, in one step with the check.
     *
     * @param command such as {@code SET}, {@code HSET}, {@code DEL}; the key is its first argument
     * @return what Redis answers, as {@link UnifiedJedis#eval(String)} returns it
     * @throws StaleTokenException when a later holder has been here; nothing has been written then
     * @throws IllegalArgumentException for a hold of permits
     */
    public @Nullable Object write(Lease lease, String command, String key, String... arguments) {
        return run(parts(lease), ONE_COMMAND, List.of(key), words(command, arguments));
    }

    /** As {@link #write(Lease, String, String, String...)}, for a token that was passed on. */
    public @Nullable Object write(Sequencer sequencer, String command, String key, String... arguments) {
        return run(List.of(sequencer), ONE_COMMAND, List.of(key), words(command, arguments));
    }

    /**
     * Runs your script, in one step with the check.
     *
     * @param lua sees {@code keys} as {@code KEYS} and {@code arguments} as {@code ARGV}; what it returns is returned.
     *     When it fails, what it has written before stays, and the mark, too: Redis does not roll back
     * @throws StaleTokenException when a later holder has been here; the script has not been run then
     * @throws IllegalArgumentException for a hold of permits
     */
    public @Nullable Object eval(Lease lease, String lua, List<String> keys, List<String> arguments) {
        return run(parts(lease), lua, keys, arguments);
    }

    /** As {@link #eval(Lease, String, List, List)}, for a token that was passed on. */
    public @Nullable Object eval(Sequencer sequencer, String lua, List<String> keys, List<String> arguments) {
        return run(List.of(sequencer), lua, keys, arguments);
    }

    private static List<Sequencer> parts(Lease lease) {
        return lease.parts().stream()
                .map(part -> new Sequencer(part.name(), part.mode(), part.token()))
                .toList();
    }

    private static List<String> words(String first, String... rest) {
        List<String> words = new ArrayList<>(List.of(rest));
        words.add(0, first);
        return words;
    }

    private @Nullable Object run(List<Sequencer> tokens, String lua, List<String> keys, List<String> arguments) {
        List<String> allKeys = new ArrayList<>();
        List<String> allArguments = new ArrayList<>(List.of(Integer.toString(tokens.size())));
        for (Sequencer token : tokens) {
            Marks.refusePermits(token);
            allKeys.add(marks.apply(token.name()));
            allArguments.add(ScriptProtocol.mode(token.mode()));
            allArguments.add(Long.toString(token.token()));
        }
        allKeys.addAll(keys);
        allArguments.addAll(arguments);
        String script = "local function write()\n" + lua + "\nend\n" + CHECK;
        List<?> answer = (List<?>) evaluate(script, allKeys, allArguments);
        if (answer.get(0).equals("STALE")) {
            Sequencer stale = tokens.get(((Long) answer.get(1)).intValue() - 1);
            throw new StaleTokenException(stale.name(), stale.token(), Long.parseLong((String) answer.get(2)));
        }
        return answer.size() < 2 ? null : answer.get(1);
    }

    /** By its hash, so that a script is sent to each server once. */
    private Object evaluate(String script, List<String> keys, List<String> arguments) {
        try {
            return client.evalsha(Script.hash(script), keys, arguments);
        } catch (JedisNoScriptException e) {
            return client.eval(script, keys, arguments); // it was not run
        }
    }
}
