// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.engine;

import io.lockkeeper.KeeperListener;
import io.lockkeeper.LockOptions;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** How a keeper was built, with nothing left open; see {@link io.lockkeeper.Lockkeeper.Builder}. */
public record Config(
        String clientName,
        LockOptions defaults,
        @Nullable KeeperListener listener,
        @Nullable Executor executor,
        Duration operationTimeout,
        Duration patience,
        boolean closesStore,
        boolean releaseOnShutdown) {}
