// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * What the server answered.
 *
 * @param code OK, or the error
 * @param failed of a transaction, the number of the step that failed; otherwise -1
 */
record Reply(Code code, int failed, String text, @Nullable Stat stat, List<String> children, List<OpResult> results) {
    static Reply of(int rc, byte @Nullable [] data, @Nullable Stat stat, List<String> children) {
        String text = data == null ? "" : new String(data, StandardCharsets.UTF_8);
        return new Reply(code(rc), -1, text, stat, children, List.of());
    }

    static Reply of(int rc, @Nullable Stat stat) {
        return of(rc, null, stat, List.of());
    }

    static Reply ofMulti(int rc, @Nullable List<OpResult> results) {
        if (rc == 0 || results == null) {
            return new Reply(code(rc), -1, "", null, List.of(), results == null ? List.of() : results);
        }
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof OpResult.ErrorResult error
                    && error.getErr() != 0
                    && error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue()) {
                return new Reply(code(error.getErr()), i, "", null, List.of(), results);
            }
        }
        return new Reply(code(rc), -1, "", null, List.of(), results);
    }

    private static Code code(int rc) {
        Code code = Code.get(rc);
        return code == null ? Code.SYSTEMERROR : code;
    }

    boolean isOk() {
        return code == Code.OK;
    }

    boolean is(Code other) {
        return code == other;
    }

    Stat theStat() {
        if (stat == null) {
            throw new IllegalStateException("an answer without a stat");
        }
        return stat;
    }

    /** The stat that a step of the transaction brought. */
    Stat stat(int step) {
        return ((OpResult.SetDataResult) results.get(step)).getStat();
    }

    /** The path that a step of the transaction created. */
    String path(int step) {
        return ((OpResult.CreateResult) results.get(step)).getPath();
    }
}
