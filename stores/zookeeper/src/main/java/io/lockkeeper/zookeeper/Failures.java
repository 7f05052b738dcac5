// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import io.lockkeeper.StoreUnavailableException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/** What a step that the server did not carry out means to the keeper. */
final class Failures {
    private static final System.Logger LOG = System.getLogger("io.lockkeeper.zookeeper");

    private Failures() {}

    /** Logs what should not have happened on a thread that must go on, whatever the log's own code throws. */
    static void log(String what, Throwable e) {
        try {
            LOG.log(System.Logger.Level.ERROR, what, e);
        } catch (Throwable again) {
            // nobody is left to notify
        }
    }

    /** Says what went wrong; asking again cures neither refused credentials nor refused rights. */
    static StoreUnavailableException of(Code code, String what) {
        KeeperException cause = KeeperException.create(code);
        return switch (code) {
            case NOAUTH, AUTHFAILED, INVALIDACL, SESSIONCLOSEDREQUIRESASLAUTH ->
                StoreUnavailableException.lasting(
                        "ZooKeeper refuses the credentials or rights of this client (" + code + ", " + what + ")",
                        cause);
            case UNIMPLEMENTED, BADARGUMENTS ->
                StoreUnavailableException.lasting("ZooKeeper cannot do this (" + code + ", " + what + ")", cause);
            default -> new StoreUnavailableException("ZooKeeper did not do it (" + code + ", " + what + ")", cause);
        };
    }

    /**
     * Whether the step may have been carried out all the same, and a copy of it may still be on its way. A client that
     * has given up its session reports everything that it had sent as expired.
     */
    static boolean isUnknown(Code code) {
        return switch (code) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONEXPIRED -> true;
            default -> false;
        };
    }
}
