package canary;

import org.jspecify.annotations.NullMarked;

// expect: format violations
@NullMarked
final class Unlicensed {
    private Unlicensed() {}
}
