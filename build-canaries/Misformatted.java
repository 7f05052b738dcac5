// SPDX-License-Identifier: Apache-2.0
package canary;

import org.jspecify.annotations.NullMarked;

// expect: format violations
@NullMarked
final class Misformatted {
  private Misformatted( ) { }
}
