// SPDX-License-Identifier: Apache-2.0
package canary;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

// expect: [NullAway]
@NullMarked
final class NullDereferenced {
    private NullDereferenced() {}

    static int length(@Nullable String text) {
        return text.length();
    }
}
