// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.sql.SQLException;

/** There is no connection to a server; says which server, and why. */
final class NotConnectedException extends SQLException {
    private static final long serialVersionUID = 1L;

    /** @param like has the state and the code, and is the cause */
    NotConnectedException(String message, SQLException like) {
        super(message, like.getSQLState(), like.getErrorCode(), like);
    }

    /** The same for another caller. */
    NotConnectedException again() {
        return getCause() instanceof SQLException like
                ? new NotConnectedException(String.valueOf(getMessage()), like)
                : this;
    }
}
