// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testservers;

/** One of the two ways through a {@link TcpProxy}. */
public enum Direction {
    /** From the client to the server. */
    REQUESTS,
    /** From the server to the client. */
    REPLIES
}
