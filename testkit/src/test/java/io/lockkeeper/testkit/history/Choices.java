// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.util.List;

/** Numbers that were drawn beforehand, to be used up one by one; zeros when there are no more, so that it shrinks. */
final class Choices {
    private final List<Integer> drawn;
    private int used;

    Choices(List<Integer> drawn) {
        this.drawn = drawn;
    }

    /** From 0 to bound - 1. */
    int below(int bound) {
        return used < drawn.size() ? drawn.get(used++) % bound : 0;
    }

    /** One of the outcomes. */
    Outcome outcome() {
        return switch (below(3)) {
            case 0 -> Outcome.OK;
            case 1 -> Outcome.FAIL;
            default -> Outcome.INFO;
        };
    }

    /** True in one of this many cases. */
    boolean oneIn(int cases) {
        return below(cases) == cases - 1;
    }
}
