// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.LockInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What programs read. Fields are added, never renamed; tokens are strings, as not every reader has 64 bits. */
final class Json {
    private Json() {}

    static Map<String, Object> lock(LockInfo info) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", info.name());
        fields.put("mode", info.mode().name());
        fields.put("limit", info.limit());
        fields.put("holders", info.holders().stream().map(Json::hold).toList());
        fields.put("waiters", info.waiters());
        fields.put("closedForMillis", info.closedFor().toMillis());
        return fields;
    }

    private static Map<String, Object> hold(LockInfo.Hold hold) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("client", hold.client());
        fields.put("label", hold.label());
        fields.put("token", Long.toString(hold.token()));
        fields.put("permits", hold.permits());
        fields.put("since", hold.since().toString());
        fields.put("expiresInMillis", hold.expiresIn().toMillis());
        return fields;
    }

    static String text(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(@Nullable Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(before);
                string(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                before = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object element : list) {
                out.append(before);
                write(element, out);
                before = ",";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String text) {
            string(text, out);
        } else {
            out.append(value); // numbers, booleans, null
        }
    }

    private static void string(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
