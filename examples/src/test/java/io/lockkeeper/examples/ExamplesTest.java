// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

class ExamplesTest {
    @Test
    void holdOneLock() {
        assertThatCode(() -> HoldOneLock.main(new String[0])).doesNotThrowAnyException();
    }
}
