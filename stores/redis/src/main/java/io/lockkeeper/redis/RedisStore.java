// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.redis;

import io.lockkeeper.Guarantee;
import io.lockkeeper.Guarantees;
import io.lockkeeper.LockInfo;
import io.lockkeeper.Mode;
import io.lockkeeper.Sequencer;
import io.lockkeeper.StoreUnavailableException;
import io.lockkeeper.redis.server.Call;
import io.lockkeeper.redis.server.Failures;
import io.lockkeeper.redis.server.JedisVersion;
import io.lockkeeper.redis.server.Node;
import io.lockkeeper.redis.server.Replicas;
import io.lockkeeper.redis.server.Reply;
import io.lockkeeper.redis.server.Servers;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.Claim;
import io.lockkeeper.spi.Grant;
import io.lockkeeper.spi.LatchState;
import io.lockkeeper.spi.LatchStep;
import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.Promises;
import io.lockkeeper.spi.Renewal;
import io.lockkeeper.spi.Renewals;
import io.lockkeeper.spi.Signals;
import io.lockkeeper.spi.StoreTime;
import io.lockkeeper.spi.Subscription;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import redis.clients.jedis.UnifiedJedis;

/**
 * Locks in Redis. A step is one script, which the server runs as one: the rules are in the Lua files of this package,
 * this class decides which server is asked, and how.
 */
public final class RedisStore implements LockStore {
    /**
     * Where another machine may take over, its clock may differ by this much. Hosts that get their time from the same
     * servers are within a few milliseconds.
     */
    private static final Duration SKEW = Duration.ofMillis(50);

    /** Where the user may not subscribe; Redis is neither durable nor safe across failovers. */
    private static final Set<Guarantee> GIVEN_WITHOUT_PUSH = Set.of(
            Guarantee.FENCED,
            Guarantee.FAIR,
            Guarantee.LOCK_DELAY,
            Guarantee.SHARED,
            Guarantee.PERMITS,
            Guarantee.LATCH,
            Guarantee.RAISES_TOKENS);

    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);

    private static final Guarantees WITHOUT_PUSH = new Promises(GIVEN_WITHOUT_PUSH, SHORTEST_LEASE);

    static final Guarantees GUARANTEES = new Promises(with(GIVEN_WITHOUT_PUSH, Guarantee.PUSH), SHORTEST_LEASE);

    private static Set<Guarantee> with(Set<Guarantee> given, Guarantee more) {
        EnumSet<Guarantee> all = EnumSet.of(more);
        all.addAll(given);
        return all;
    }

    private final Servers servers;
    private final Keys keys;
    private final Replicas replicas;
    private final Listener listener;
    private final NameScan scan;
    private final String id;
    private final long incarnation;

    RedisStore(Servers servers, RedisOptions options) {
        this.servers = servers;
        this.keys = new Keys(options.prefix());
        this.replicas = options.replicas();
        this.scan = new NameScan(servers, keys);
        try {
            StartupChecks checks = new StartupChecks(servers, keys, options.allowEviction());
            checks.run();
            this.id = new StoreId(servers, keys).get();
            checks.refuseMissingPermissions();
        } catch (RuntimeException | Error e) {
            servers.close();
            throw e;
        }
        this.incarnation = id.hashCode();
        this.listener = new Listener(servers, keys);
    }

    /** Locks in the Redis of this client, which is not closed. */
    public static RedisStore of(UnifiedJedis client) {
        return of(client, RedisOptions.defaults());
    }

    /**
     * Locks in the Redis of this client, which is not closed. One of its connections is kept to listen on, and renewals
     * use one more, which is not part of its pool. A step waits for a free connection no longer than the operation
     * timeout of the options.
     *
     * @param client a {@link redis.clients.jedis.RedisClient}, {@link redis.clients.jedis.RedisSentinelClient} or
     *     {@link redis.clients.jedis.RedisClusterClient}, or what these are called in other versions of Jedis; its
     *     socket timeout bounds each step, and should be the operation timeout
     * @throws IllegalArgumentException when it is a client of another kind
     * @throws io.lockkeeper.StoreUnavailableException when the client's pool is too small, or its Jedis is of an
     *     unsupported version
     */
    public static RedisStore of(UnifiedJedis client, RedisOptions options) {
        Objects.requireNonNull(client, "client");
        JedisVersion.check();
        return new RedisStore(Servers.of(client, options.timeoutMillis()), options);
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public Guarantees guarantees() {
        return listener.pushes() ? GUARANTEES : WITHOUT_PUSH;
    }

    @Override
    public Object lane(String name) {
        return servers.lane(Keys.slot(Keys.bucket(name)), this);
    }

    @Override
    public Duration skew() {
        return servers.canFailOver() ? SKEW : Duration.ZERO;
    }

    @Override
    public StoreTime time(Object lane) {
        return new StoreTime(incarnation, servers.time(lane));
    }

    @Override
    public Answer claim(Claim claim) {
        Call call = Calls.onName(keys, claim.name(), Script.CLAIM, ScriptProtocol.claim(claim, incarnation));
        return ScriptProtocol.answer(Reply.text(runEitherWay(call, Script.CLAIM_FREE, replicas)), incarnation);
    }

    @Override
    public Renewal renew(Renewals batch) {
        if (!batch.queued().isEmpty()) {
            listener.probe();
        }
        RedisRenewal renewal = new RedisRenewal(keys, incarnation, batch);
        for (List<Call> calls = renewal.calls(); !calls.isEmpty(); calls = renewal.calls()) {
            renewal.read(servers.runAll(calls, Node.Priority.URGENT, replicas));
        }
        return renewal.renewal();
    }

    @Override
    public boolean release(Grant grant) {
        return isOne(runEitherWay(ending(Script.RELEASE, grant.claim()), Script.RELEASE_FREE, Replicas.NONE));
    }

    @Override
    public void withdraw(Claim claim) {
        run(ending(Script.WITHDRAW, claim), Replicas.NONE);
    }

    private Call ending(Script script, Claim claim) {
        return Calls.onName(
                keys,
                claim.name(),
                script,
                claim.id().toString(),
                ScriptProtocol.flag(claim.stray()),
                ScriptProtocol.deadline(claim.deadline(), incarnation));
    }

    @Override
    public Optional<Grant> downgrade(Grant grant) {
        Call call = Calls.onName(
                keys,
                grant.claim().name(),
                Script.DOWNGRADE,
                grant.claim().id().toString(),
                Long.toString(grant.token() + 1),
                Integer.toString(grant.block() - 1));
        String[] words = Reply.text(run(call, replicas)).split(" ");
        if (words.length < 2) {
            return Optional.empty();
        }
        Mode mode = grant.claim().terms().mode() == Mode.PERMITS ? Mode.PERMITS : Mode.SHARED;
        return Optional.of(new Grant(grant.claim(), mode, Long.parseLong(words[0]), Integer.parseInt(words[1])));
    }

    @Override
    public boolean breakHold(String name, long token, Duration lockDelay, boolean now) {
        return isOne(run(
                Calls.onName(
                        keys,
                        name,
                        Script.BREAK,
                        Long.toString(token),
                        Long.toString(ScriptProtocol.micros(lockDelay)),
                        ScriptProtocol.flag(now)),
                replicas));
    }

    @Override
    public LatchState latch(LatchStep step) {
        Call call;
        if (step instanceof LatchStep.Set set) {
            call = Calls.onLatch(
                    keys,
                    set.name(),
                    "set",
                    set.id().toString(),
                    ScriptProtocol.deadline(set.deadline(), incarnation),
                    Long.toString(set.count()));
        } else if (step instanceof LatchStep.CountDown down) {
            call = Calls.onLatch(
                    keys,
                    down.name(),
                    "down",
                    down.id().toString(),
                    ScriptProtocol.deadline(down.deadline(), incarnation),
                    NameCodec.encode(down.name()));
        } else if (step instanceof LatchStep.Watch watch) {
            listener.probe();
            call = Calls.onLatch(
                    keys,
                    watch.name(),
                    "watch",
                    watch.client(),
                    Long.toString(ScriptProtocol.micros(watch.interest())));
        } else {
            call = Calls.onLatch(keys, step.name(), "look");
        }
        String[] words = Reply.text(run(call, step instanceof LatchStep.Look ? Replicas.NONE : replicas))
                .split(" ");
        return new LatchState(
                Long.parseLong(words[0]),
                Long.parseLong(words[1]),
                LatchState.Outcome.valueOf(words[2]),
                ScriptProtocol.time(words[3], incarnation));
    }

    private Object run(Call call, Replicas waitFor) {
        return servers.run(call, Node.Priority.PLAIN, waitFor);
    }

    /**
     * While a slot of a Cluster is moved, no step is carried out that names a key that does not exist. The most
     * frequent steps need none of those.
     */
    private Object runEitherWay(Call call, Script quickest, Replicas waitFor) {
        try {
            return run(call, waitFor);
        } catch (StoreUnavailableException e) {
            if (!Failures.isMovingSlot(e)) {
                throw e;
            }
            Object answer = run(Calls.by(quickest, call), waitFor);
            if (Script.needsMore(answer)) {
                throw e;
            }
            return answer;
        }
    }

    private static boolean isOne(Object answer) {
        return answer instanceof Long one && one == 1;
    }

    // ---- Inspection ----

    @Override
    public Optional<LockInfo> inspect(String name) {
        return scan.look(name).flatMap(NameSnapshot::describe);
    }

    @Override
    public List<LockInfo> list(String prefix, int limit) {
        return scan.list(prefix, limit);
    }

    @Override
    public boolean check(Sequencer sequencer) {
        return scan.holders(sequencer.name())
                .filter(snapshot -> snapshot.has(sequencer))
                .isPresent();
    }

    @Override
    public Subscription listen(String client, Signals signals) {
        return listener.listen(client, signals);
    }

    @Override
    public void close() {
        listener.close();
        servers.close();
    }
}
