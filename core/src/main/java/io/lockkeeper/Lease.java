// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Possession of a lock: the handle of a successful acquisition, with its fencing token, the validity that remains and a
 * signal when the hold is lost. It belongs to the object, not to a thread: any thread may use or release it.
 *
 * <pre>{@code
 * try (Lease lease = keeper.lock("invoice-7").acquire()) {
 *     storage.write(invoice, lease.token());   // the storage refuses a token lower than one it has seen
 * }
 * }</pre>
 *
 * <p>Validity is pessimistic: while {@link #isValid()} is true, the store grants the lock to nobody else. It cannot protect a
 * resource from a holder that is paused between the check and the write; only the resource, by checking the token, can.
 *
 * <p>A lease that is dropped without having been closed is not released while somebody may still work under it: a
 * warning with the acquiring stack is logged (stacks are sampled), the loss is reported, and the lease runs out.
 */
public interface Lease extends AutoCloseable {
    /** The name that is held; of a lease on several locks, all names, for display. */
    String name();

    /** How it is held; of a lease on several locks, {@link Mode#EXCLUSIVE} if any part is, otherwise that of the first part. */
    Mode mode();

    /**
     * The fencing token: positive, and greater than that of every earlier conflicting hold of the same name.
     *
     * @throws UnsupportedOperationException of a lease on several locks; see {@link #parts()}
     */
    long token();

    /**
     * A printable name of this hold that anybody can have checked. Read it while you hold the lease: a lease whose
     * sequencer has been read is given back to the store on release, never passed on inside this process.
     *
     * @throws UnsupportedOperationException of a lease on several locks; see {@link #parts()}
     * @throws IllegalStateException when it is read for the first time after the lease was released
     */
    Sequencer sequencer();

    /** The leases of the locks that {@link DistributedLock#all} took together; of any other lease, itself alone. */
    List<Lease> parts();

    /** Whether the hold is certain: neither lost nor released nor run out. Local, no I/O. */
    boolean isValid();

    /** How long {@link #isValid()} will stay true without a renewal; zero when it is not valid. Local, no I/O. */
    Duration remaining();

    /**
     * Insists on validity. Local, no I/O.
     *
     * @throws LeaseLostException when the hold was lost
     * @throws IllegalStateException when it was released
     */
    void ensureValid();

    /**
     * Has {@code action} called when the hold is lost, once, on the keeper's executor; at once when it is lost already.
     * An action that blocks or throws affects no other. In it, use the {@link LeaseLost} that it is given, not the lease:
     * a lease that its own action refers to stays reachable, and so is not noticed when it is dropped without being closed.
     *
     * @return this
     */
    Lease onLost(Consumer<LeaseLost> action);

    /**
     * Has the calling thread interrupted when the hold is lost; never after the lease has been closed.
     *
     * @return this
     */
    Lease interruptOnLoss();

    /**
     * Lengthens a fixed lease so that it ends no earlier than {@code lease} from now; it never shortens one.
     *
     * @param lease 100 ms to 24 h
     * @return false when the hold was lost or released
     * @throws IllegalStateException on a lease that is kept alive
     * @throws StoreUnavailableException when the store could not be asked; the lease goes on as it was
     */
    boolean renew(Duration lease);

    /**
     * Gives the lock back. Completes also when the thread is interrupted. Repeating it gives the same answer.
     *
     * @return false when the hold had been lost before
     * @throws StoreUnavailableException when the store could not be notified. Nevertheless the lease is no longer valid
     *     or renewed, and the release is repeated in the background until the lease ends
     */
    boolean release();

    /** Like {@link #release()}, without occupying the caller. */
    CompletableFuture<Boolean> releaseAsync();

    /**
     * {@link #release()} for try-with-resources. A second call does nothing.
     *
     * @throws LeaseLostException when the hold had been lost before
     * @throws StoreUnavailableException as {@link #release()} does
     */
    @Override
    void close();
}
