// SPDX-License-Identifier: Apache-2.0
package canary;

import java.util.List;
import org.jspecify.annotations.NullMarked;

// expect: warnings found and -Werror specified
@NullMarked
final class LintWarning {
    private LintWarning() {}

    static int size(List raw) {
        return raw.size();
    }
}
