// SPDX-License-Identifier: Apache-2.0
package canary;

import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

// The control: what the other files do wrong is right here, so they fail for nothing else.
// expect: BUILD SUCCESS
@NullMarked
final class Clean {
    private Clean() {}

    static int length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }
}
