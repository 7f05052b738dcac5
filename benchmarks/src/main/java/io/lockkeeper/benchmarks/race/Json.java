// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes maps, lists, numbers, text and nothing; what is not a number is null. */
final class Json {
    private Json() {}

    static String of(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        write(value, 0, out);
        return out.append('\n').toString();
    }

    private static void write(@Nullable Object value, int depth, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
            out.append('{');
            while (entries.hasNext()) {
                Map.Entry<?, ?> entry = entries.next();
                text(String.valueOf(entry.getKey()), out);
                out.append(": ");
                write(entry.getValue(), depth + 1, out);
                out.append(entries.hasNext() ? ", " : "");
            }
            out.append('}');
        } else if (value instanceof List<?> list) {
            out.append('[');
            for (int i = 0; i < list.size(); i++) {
                out.append(i == 0 ? "\n" : ",\n").append("  ".repeat(depth + 1));
                write(list.get(i), depth + 1, out);
            }
            out.append('\n').append("  ".repeat(depth)).append(']');
        } else if (value instanceof Double number) {
            out.append(Double.isFinite(number) ? String.format(Locale.ROOT, "%.4f", number) : "null");
        } else if (value instanceof String string) {
            text(string, out);
        } else {
            out.append(value);
        }
    }

    private static void text(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
