// SPDX-License-Identifier: Apache-2.0
/**
 * A SQLite file that many processes of one host use. It knows files, connections, processes and sockets, but nothing of
 * locks; the store that keeps its tables in the file is built on it. Not exported.
 *
 * <ul>
 *   <li>{@link io.lockkeeper.sql.file.FileSetup} finds or makes the file, and refuses one that cannot be trusted.
 *   <li>{@link io.lockkeeper.sql.file.FileSource} gives the connections of one store; those of all stores of a process
 *       belong to its {@link io.lockkeeper.sql.file.SharedFile}, which notices when the file is removed or replaced.
 *   <li>{@link io.lockkeeper.sql.file.FileGate} is where the processes that want to write wait for each other.
 *   <li>{@link io.lockkeeper.sql.file.Mailboxes} carry messages between processes.
 * </ul>
 */
@NullMarked
package io.lockkeeper.sql.file;

import org.jspecify.annotations.NullMarked;
