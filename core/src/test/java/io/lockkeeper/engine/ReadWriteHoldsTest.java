// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.lockkeeper.DeadlockException;
import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.LeaseLostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a thread sees that has both locks of a name, or has lost one of them. */
final class ReadWriteHoldsTest {
    private final Rig rig = new Rig();
    private final KeeperLock reading = rig.readLock("x");
    private final KeeperLock writing = rig.lock("x");

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void aReaderThatIsNoReaderAnyMoreHearsOfTheLossInsteadOfADeadlock() throws Exception {
        reading.lock();
        assertThatExceptionOfType(DeadlockException.class).isThrownBy(writing::lock);
        rig.hold().lose(Reason.BROKEN);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(writing::lock);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(writing::tryLock);
        assertThatExceptionOfType(LeaseLostException.class).isThrownBy(() -> writing.tryLock(1, TimeUnit.SECONDS));
    }

    @Test
    void aWriterThatReadsSeesBothLocked() throws Exception {
        writing.lock();
        assertThat(reading.isLocked()).isFalse();
        assertThat(reading.isHeldByCurrentThread()).isFalse();
        reading.lock();
        assertThat(reading.isLocked()).isTrue();
        assertThat(reading.isHeldByCurrentThread()).isTrue();
        assertThat(writing.isLocked()).isTrue();
        writing.unlock();
        assertThat(reading.isLocked()).isTrue();
        assertThat(writing.isLocked()).isFalse();
        reading.unlock();
        assertThat(reading.isLocked()).isFalse();
        rig.assertNothingIsLeft();
    }

    @Test
    void anotherThreadSeesAWriterThatReadsAsAWriter() throws Exception {
        writing.lock();
        reading.lock();
        assertThat(Call.start(reading::isLocked).get()).isFalse();
        assertThat(Call.start(writing::isLocked).get()).isTrue();
    }
}
