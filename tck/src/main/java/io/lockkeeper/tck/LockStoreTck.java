// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import static java.util.Objects.requireNonNull;

import io.lockkeeper.tck.history.HistoryContract;
import io.lockkeeper.tck.keeper.CallbackContract;
import io.lockkeeper.tck.keeper.CloseContract;
import io.lockkeeper.tck.keeper.ClosedContract;
import io.lockkeeper.tck.keeper.ClosingPointContract;
import io.lockkeeper.tck.keeper.CrowdContract;
import io.lockkeeper.tck.keeper.ExecutorContract;
import io.lockkeeper.tck.keeper.ScaleContract;
import io.lockkeeper.tck.keeper.SlowUserCodeContract;
import io.lockkeeper.tck.keeper.StepFailureContract;
import io.lockkeeper.tck.misuse.HostileNamesContract;
import io.lockkeeper.tck.misuse.HostileTextContract;
import io.lockkeeper.tck.misuse.MisuseContract;
import io.lockkeeper.tck.misuse.RangesContract;
import io.lockkeeper.tck.misuse.ReentrancyContract;
import io.lockkeeper.tck.model.ModelContract;
import io.lockkeeper.tck.nemesis.NemesisContract;
import io.lockkeeper.tck.primitives.AbandonedFutureContract;
import io.lockkeeper.tck.primitives.AsyncContract;
import io.lockkeeper.tck.primitives.DowngradeContract;
import io.lockkeeper.tck.primitives.ElectionContract;
import io.lockkeeper.tck.primitives.InspectorContract;
import io.lockkeeper.tck.primitives.LatchContract;
import io.lockkeeper.tck.primitives.LatchFaultContract;
import io.lockkeeper.tck.primitives.MultiLockContract;
import io.lockkeeper.tck.primitives.MultiLockEndsContract;
import io.lockkeeper.tck.primitives.MultiLockThreadContract;
import io.lockkeeper.tck.primitives.PermitHandOnContract;
import io.lockkeeper.tck.primitives.ReadWriteContract;
import io.lockkeeper.tck.primitives.SemaphoreContract;
import io.lockkeeper.tck.primitives.UpgradeContract;
import io.lockkeeper.tck.process.PausedJvmContract;
import io.lockkeeper.tck.process.TwoJvmContract;
import io.lockkeeper.tck.rules.BreakContract;
import io.lockkeeper.tck.rules.ErrorEventsContract;
import io.lockkeeper.tck.rules.ErrorsContract;
import io.lockkeeper.tck.rules.ExclusionContract;
import io.lockkeeper.tck.rules.HandOverContract;
import io.lockkeeper.tck.rules.IdempotenceContract;
import io.lockkeeper.tck.rules.InstantOfGrantContract;
import io.lockkeeper.tck.rules.InterruptContract;
import io.lockkeeper.tck.rules.LaneContract;
import io.lockkeeper.tck.rules.LateStepContract;
import io.lockkeeper.tck.rules.LockDelayContract;
import io.lockkeeper.tck.rules.LossContract;
import io.lockkeeper.tck.rules.LossMomentContract;
import io.lockkeeper.tck.rules.LossNotificationContract;
import io.lockkeeper.tck.rules.LostSignalsContract;
import io.lockkeeper.tck.rules.NoGhostsContract;
import io.lockkeeper.tck.rules.NoOrphansContract;
import io.lockkeeper.tck.rules.NoticeContract;
import io.lockkeeper.tck.rules.OrderContract;
import io.lockkeeper.tck.rules.OutageContract;
import io.lockkeeper.tck.rules.OutageEndsContract;
import io.lockkeeper.tck.rules.RecoveryContract;
import io.lockkeeper.tck.rules.RenewalContract;
import io.lockkeeper.tck.rules.RepeatedStepContract;
import io.lockkeeper.tck.rules.SilentWaitersContract;
import io.lockkeeper.tck.rules.TokenContract;
import io.lockkeeper.tck.rules.UnknownOutcomeContract;
import io.lockkeeper.tck.rules.ValidityContract;
import io.lockkeeper.tck.support.Contract;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstances;

/**
 * The contract that every store obeys: each rule of {@code docs/law.md}, and each primitive, is a group of tests. Extend it with the fixture of a store:
 *
 * <pre>{@code
 * class MyStoreTest extends LockStoreTck {
 *     protected StoreFixture start() { return new MyFixture(); }
 * }
 * }</pre>
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
@ExtendWith(LockStoreTck.GivesFixture.class)
public abstract class LockStoreTck {
    // Where groups run in parallel, JUnit's threads start at both ends of this list: three at the front, one at the
    // back. So
    // groups that take long are at the ends, and groups that run alone are where the threads meet: few groups wait for
    // them.
    private static final int ALONE = Order.DEFAULT + 1;
    private static final int BACK = Order.DEFAULT + 2;

    private @Nullable StoreFixture fixture;

    /** Starts the store under test; it is closed after the last test. */
    protected abstract StoreFixture start() throws Exception;

    @BeforeAll
    final void startFixture() throws Exception {
        fixture = start();
    }

    @AfterAll
    final void closeFixture() {
        if (fixture != null) {
            fixture.close();
        }
    }

    /** Gives the store under test to each group before each of its tests. */
    static final class GivesFixture implements BeforeEachCallback {
        @Override
        public void beforeEach(ExtensionContext context) {
            TestInstances instances = context.getRequiredTestInstances();
            StoreFixture fixture =
                    requireNonNull(instances.findInstance(LockStoreTck.class).orElseThrow().fixture);
            instances.findInstance(Contract.class).ifPresent(group -> group.testOn(fixture));
        }
    }

    @Nested
    class Rule01Exclusion extends ExclusionContract {}

    @Nested
    class Rule02Tokens extends TokenContract {}

    @Nested
    class Rule03Idempotence extends IdempotenceContract {}

    @Nested
    class Rule03RepeatedSteps extends RepeatedStepContract {}

    @Nested
    @Order(9)
    class Rule04NoGhosts extends NoGhostsContract {}

    @Nested
    class Rule04InstantOfGrant extends InstantOfGrantContract {}

    @Nested
    class Rule04LateSteps extends LateStepContract {}

    @Nested
    @Order(ALONE)
    class Rule05NoOrphans extends NoOrphansContract {}

    @Nested
    class Rule06Order extends OrderContract {}

    @Nested
    @Order(6)
    class Rule07HandOver extends HandOverContract {}

    @Nested
    @Order(6)
    class Rule07SilentWaiters extends SilentWaitersContract {}

    @Nested
    @Order(7)
    class Rule08LostSignals extends LostSignalsContract {}

    @Nested
    @Order(5)
    class Rule09Validity extends ValidityContract {}

    @Nested
    @Order(BACK + 1)
    class Rule10Loss extends LossContract {}

    @Nested
    @Order(BACK + 1)
    class Rule10LossNotifications extends LossNotificationContract {}

    @Nested
    @Order(BACK)
    class Rule11Errors extends ErrorsContract {}

    @Nested
    class Rule11ErrorEvents extends ErrorEventsContract {}

    @Nested
    @Order(3)
    class Rule12LockDelay extends LockDelayContract {}

    @Nested
    class Rule13Interrupts extends InterruptContract {}

    @Nested
    @Order(3)
    class Rule14Lanes extends LaneContract {}

    @Nested
    @Order(2)
    class Rule15Renewal extends RenewalContract {}

    @Nested
    class Rule16Break extends BreakContract {}

    @Nested
    @Order(8)
    class Misuse extends MisuseContract {}

    @Nested
    class Reentrancy extends ReentrancyContract {}

    @Nested
    class Ranges extends RangesContract {}

    @Nested
    class HostileNames extends HostileNamesContract {}

    @Nested
    class ReadWriteLocks extends ReadWriteContract {}

    @Nested
    class Downgrades extends DowngradeContract {}

    @Nested
    class Semaphores extends SemaphoreContract {}

    @Nested
    class Latches extends LatchContract {}

    @Nested
    class LatchFaults extends LatchFaultContract {}

    @Nested
    class MultiLocks extends MultiLockContract {}

    @Nested
    class MultiLockThreads extends MultiLockThreadContract {}

    @Nested
    class Elections extends ElectionContract {}

    @Nested
    class Async extends AsyncContract {}

    @Nested
    class Inspection extends InspectorContract {}

    @Nested
    class Closing extends CloseContract {}

    @Nested
    class Closed extends ClosedContract {}

    @Nested
    @Order(1)
    class TwoJvms extends TwoJvmContract {}

    @Nested
    @Order(1)
    class PausedJvms extends PausedJvmContract {}

    @Nested
    @Order(ALONE)
    class Scale extends ScaleContract {}

    @Nested
    @Order(ALONE)
    class ModelBased extends ModelContract {}

    @Nested
    @Order(ALONE)
    class Nemesis extends NemesisContract {}

    @Nested
    @Order(4)
    class Histories extends HistoryContract {}

    @Nested
    class Outages extends OutageContract {}

    @Nested
    class MultiLockEnds extends MultiLockEndsContract {}

    @Nested
    class UnknownOutcomes extends UnknownOutcomeContract {}

    @Nested
    class AbandonedFutures extends AbandonedFutureContract {}

    @Nested
    class Recovery extends RecoveryContract {}

    @Nested
    class Upgrades extends UpgradeContract {}

    @Nested
    class Crowds extends CrowdContract {}

    @Nested
    class HostileTexts extends HostileTextContract {}

    @Nested
    class PermitHandOn extends PermitHandOnContract {}

    @Nested
    class Callbacks extends CallbackContract {}

    @Nested
    class Executors extends ExecutorContract {}

    @Nested
    class ClosingPoints extends ClosingPointContract {}

    @Nested
    class StepFailures extends StepFailureContract {}

    @Nested
    class LossMoments extends LossMomentContract {}

    @Nested
    class Notices extends NoticeContract {}

    @Nested
    class SlowUserCode extends SlowUserCodeContract {}

    @Nested
    class OutageEnds extends OutageEndsContract {}
}
