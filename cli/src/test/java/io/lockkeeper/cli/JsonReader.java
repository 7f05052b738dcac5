// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads JSON, strictly and in few lines, to see that others can read ours. */
final class JsonReader {
    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    static Object read(String text) {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value();
        reader.blanks();
        if (reader.at != text.length()) {
            throw reader.wrong();
        }
        return value;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        return (Map<String, Object>) read(text);
    }

    @SuppressWarnings("unchecked")
    static List<Map<String, Object>> objects(String text) {
        return (List<Map<String, Object>>) read(text);
    }

    private Object value() {
        blanks();
        char c = peek();
        if (c == '{') {
            return object();
        }
        if (c == '[') {
            return array();
        }
        if (c == '"') {
            return string();
        }
        int from = at;
        while (at < text.length() && ",]} \n\t\r".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        return switch (word) {
            case "true" -> true;
            case "false" -> false;
            case "null" -> "null";
            default -> Long.parseLong(word);
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> fields = new LinkedHashMap<>();
        take('{');
        blanks();
        while (peek() != '}') {
            if (!fields.isEmpty()) {
                take(',');
                blanks();
            }
            String key = string();
            blanks();
            take(':');
            fields.put(key, value());
            blanks();
        }
        take('}');
        return fields;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        take('[');
        blanks();
        while (peek() != ']') {
            if (!elements.isEmpty()) {
                take(',');
            }
            elements.add(value());
            blanks();
        }
        take(']');
        return elements;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        take('"');
        while (peek() != '"') {
            char c = text.charAt(at++);
            if (c < 0x20) {
                throw wrong();
            }
            if (c == '\\') {
                char escaped = text.charAt(at++);
                switch (escaped) {
                    case 'n' -> out.append('\n');
                    case 't' -> out.append('\t');
                    case 'u' -> {
                        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                        at += 4;
                    }
                    default -> out.append(escaped);
                }
            } else {
                out.append(c);
            }
        }
        take('"');
        return out.toString();
    }

    private void blanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private void take(char c) {
        if (peek() != c) {
            throw wrong();
        }
        at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at " + at + ": " + text);
    }
}
