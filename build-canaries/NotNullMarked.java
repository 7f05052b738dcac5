// SPDX-License-Identifier: Apache-2.0
package canary;

// expect: [RequireExplicitNullMarking]
final class NotNullMarked {
    private NotNullMarked() {}
}
