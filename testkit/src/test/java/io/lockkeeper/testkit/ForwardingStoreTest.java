// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.spi.LockStore;
import io.lockkeeper.spi.Signals;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What forwards must forward everything: a method with a default that is forgotten would answer for itself. */
final class ForwardingStoreTest {
    private static List<String> notForwarded(Class<?> type, Class<?> by) {
        return Arrays.stream(type.getMethods())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !isDeclared(by, method))
                .map(Method::toString)
                .toList();
    }

    private static boolean isDeclared(Class<?> type, Method method) {
        return Arrays.stream(type.getDeclaredMethods())
                .anyMatch(own -> own.getName().equals(method.getName())
                        && Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
    }

    @Test
    void everyStepIsForwarded() {
        assertThat(notForwarded(LockStore.class, ForwardingStore.class)).isEmpty();
    }

    @Test
    void everySignalIsForwarded() {
        assertThat(notForwarded(Signals.class, ForwardingSignals.class)).isEmpty();
    }
}
