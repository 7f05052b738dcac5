// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

/** The store differs from the model. */
final class ScriptMismatch extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ScriptMismatch(String what) {
        super(what, null, false, false);
    }

    /** Throws one unless this is so. */
    static void unless(boolean so, String what) {
        if (!so) {
            throw new ScriptMismatch(what);
        }
    }
}
