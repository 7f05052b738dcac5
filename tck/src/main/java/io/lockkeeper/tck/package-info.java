// SPDX-License-Identifier: Apache-2.0
/**
 * The contract that every store passes, for store authors: make a {@link io.lockkeeper.tck.StoreFixture} for the real server and
 * extend {@link io.lockkeeper.tck.LockStoreTck}. Only this package is exported. The groups of tests are in packages below it, by
 * subject: {@code rules}, {@code primitives}, {@code keeper}, {@code misuse}, {@code model}, {@code history}, {@code nemesis},
 * {@code process}; {@code support} is what they share.
 */
@NullMarked
package io.lockkeeper.tck;

import org.jspecify.annotations.NullMarked;
