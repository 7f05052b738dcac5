// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper;

import org.jspecify.annotations.Nullable;

/**
 * The root of what Lockkeeper throws when something failed. That a lock is taken is no failure but a value. Messages contain
 * no control characters, whatever a lock is called: those of names are escaped.
 */
public class LockkeeperException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Says what failed. */
    public LockkeeperException(String message) {
        super(printable(message));
    }

    /** Says what failed, and why. */
    public LockkeeperException(String message, @Nullable Throwable cause) {
        super(printable(message), cause);
    }

    /**
     * The text as it may stand in one line of a log: control characters, line separators and characters that change the
     * direction of text are escaped as in Java source, all others stay as they are.
     */
    public static String printable(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isUnprintable(text.charAt(i))) {
                return escape(text);
            }
        }
        return text;
    }

    private static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (isUnprintable(c)) {
                escaped.append(String.format("\\u%04x", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    private static boolean isUnprintable(char c) {
        return c < ' '
                || (c >= 0x7f
                        && switch (Character.getType(c)) {
                            case Character.CONTROL,
                                    Character.FORMAT,
                                    Character.LINE_SEPARATOR,
                                    Character.PARAGRAPH_SEPARATOR -> true;
                            default -> false;
                        });
    }
}
