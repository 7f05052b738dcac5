// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.TestInstance;

/**
 * The law that every store obeys, each rule a group of tests. Extend it with the fixture of a store:
 *
 * <pre>{@code
 * class MyStoreTest extends LockStoreTck {
 *     protected StoreFixture start() { return new MyFixture(); }
 * }
 * }</pre>
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
public abstract class LockStoreTck {
    // Where groups run beside each other, JUnit's threads begin at both ends: three in front, one at the back. So
    // groups that take
    // long are there, and those that run alone where all meet: few have to wait for them.
    private static final int ALONE = Order.DEFAULT + 1;
    private static final int BACK = Order.DEFAULT + 2;

    private StoreFixture fixture;

    /** Starts the server under test. */
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

    @Nested
    class Rule01Exclusion extends ExclusionContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Rule02Tokens extends TokenContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Rule03Idempotence extends IdempotenceContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(9)
    class Rule04NoGhosts extends NoGhostsContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(ALONE)
    class Rule05NoOrphans extends NoOrphansContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Rule06Order extends OrderContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(6)
    class Rule07HandOver extends HandOverContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(7)
    class Rule08LostSignals extends LostSignalsContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(5)
    class Rule09Validity extends ValidityContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(BACK + 1)
    class Rule10Loss extends LossContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(BACK)
    class Rule11Errors extends ErrorsContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(3)
    class Rule12LockDelay extends LockDelayContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Rule13Interrupts extends InterruptContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(3)
    class Rule14Lanes extends LaneContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(2)
    class Rule15Renewal extends RenewalContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Rule16Break extends BreakContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(8)
    class Misuse extends MisuseContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class HostileNames extends HostileNamesContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class ReadWriteLocks extends ReadWriteContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Semaphores extends SemaphoreContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Latches extends LatchContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class MultiLocks extends MultiLockContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Elections extends ElectionContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Async extends AsyncContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Inspection extends InspectorContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Closing extends CloseContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(1)
    class TwoJvms extends TwoJvmContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(ALONE)
    class Scale extends ScaleContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(ALONE)
    class ModelBased extends ModelContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(ALONE)
    class Nemesis extends NemesisContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    @Order(4)
    class Histories extends HistoryContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Outages extends OutageContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class MultiLockEnds extends MultiLockEndsContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class UnknownOutcomes extends UnknownOutcomeContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class AbandonedFutures extends AbandonedFutureContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Recovery extends RecoveryContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Upgrades extends UpgradeContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Crowds extends CrowdContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class HostileTexts extends HostileTextContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class PermitHandOn extends PermitHandOnContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Callbacks extends CallbackContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Executors extends ExecutorContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class ClosingPoints extends ClosingPointContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class StepFailures extends StepFailureContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class LossMoments extends LossMomentContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class Notices extends NoticeContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class SlowUserCode extends SlowUserCodeContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }

    @Nested
    class OutageEnds extends OutageEndsContract {
        @Override
        StoreFixture fixture() {
            return fixture;
        }
    }
}
