// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.StoreUnavailableException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a store's URL holds that nobody may read: the login before a host, and the values of parameters that are called a password,
 * a secret or the like; each as it is written and percent-decoded. A driver may repeat them in its messages; {@link #hide} takes
 * them out again.
 *
 * <p>Any text is taken, also one that is not a URL: what goes wrong must not depend on it. Immutable; {@link #toString()} shows
 * nothing.
 */
public final class Secrets {
    private static final String HIDDEN = "…";

    /** A shorter one is found in words that have nothing to do with it; it is hidden where it stands beside its name. */
    private static final int SHORTEST = 4;

    private static final Pattern NAME =
            Pattern.compile("(?i).*(pass|pwd|secret|token|credential).*|(hex|private|api|access)?[-_.]?key");

    /** Parameters that have such a word in their names and say something about a secret. */
    private static final Pattern NO_SECRET = Pattern.compile("(?i).*(file|encoding|callback|type|path|url|class)");

    /** Before the question mark; some drivers part settings with commas, others allow commas in a value. */
    private static final Pattern SETTING = Pattern.compile("[;(,]\\s*([^=;(),]*)=(([^;),]*)[^;)]*)");

    private final List<String> texts;

    private Secrets(Set<String> texts) {
        this.texts = texts.stream()
                // The longest first: a piece of a piece would leave the rest standing.
                .sorted(Comparator.comparingInt(String::length).reversed())
                .toList();
    }

    /** The secrets of a URL. */
    public static Secrets of(String url) {
        Set<String> texts = new TreeSet<>();
        int question = url.indexOf('?');
        String address = question < 0 ? url : url.substring(0, question);
        if (address.indexOf('@') < 0 && question >= 0 && isCutShort(address)) {
            address = url; // a question mark in the secret: what stands behind it is read as parameters
            pieces(url.substring(question + 1, Math.max(question + 1, url.lastIndexOf('@'))), texts);
        }
        logins(address, texts);
        Matcher setting = SETTING.matcher(question < 0 ? url : url.substring(0, question));
        for (int from = 0; setting.find(from); from = setting.end(1)) {
            parameter(setting.group(1), setting.group(2), texts);
            parameter(setting.group(1), setting.group(3), texts);
        }
        for (String pair : url.substring(question + 1).split("&")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                parameter(pair.substring(0, equals), pair.substring(equals + 1), texts);
            }
        }
        return new Secrets(texts);
    }

    /** Whether a parameter of this name has a value that nobody may read. */
    public static boolean isSecret(String name) {
        return NAME.matcher(name).matches() && !NO_SECRET.matcher(name).matches();
    }

    private static void parameter(String name, String value, Set<String> texts) {
        if (isSecret(decode(name).strip()) && !value.equals("true") && !value.equals("false")) {
            add(name + "=", value, "", texts);
        }
    }

    /** Whether a user, or anything but a host and its port, is where those should be. */
    private static boolean isCutShort(String address) {
        return address.matches("[^/]*//[^/,]*:[^/,]*\\D[^/,]*");
    }

    private static void pieces(String secret, Set<String> texts) {
        for (String piece : secret.split("[&=]")) {
            add("'", piece, "'", texts);
        }
    }

    private static void logins(String address, Set<String> texts) {
        int slashes = address.indexOf("//");
        int last = address.lastIndexOf('@');
        if (slashes < 0 || last < slashes) {
            return;
        }
        String all = address.substring(slashes + 2, last);
        login(all, texts);
        for (int at = all.indexOf('@'); at >= 0; at = all.indexOf('@', at + 1)) { // several hosts, each with a login
            login(all.substring(0, at), texts);
            login(all.substring(all.indexOf(',', at) + 1), texts);
        }
    }

    private static void login(String login, Set<String> texts) {
        int colon = login.indexOf(':');
        if (colon >= 0) {
            add(login.substring(0, colon + 1), login.substring(colon + 1), "@", texts);
        } else {
            add("", login, "@", texts); // as in redis://secret@host
        }
    }

    private static void add(String before, String value, String after, Set<String> texts) {
        for (String form : List.of(value, decode(value), decode(value.replace("+", "%2B")))) {
            if (!form.isEmpty()) {
                texts.add(before + form + after);
                if (form.length() >= SHORTEST) {
                    texts.add(form);
                }
            }
        }
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return text;
        }
    }

    /** These and others. */
    public Secrets and(Secrets others) {
        Set<String> all = new TreeSet<>(texts);
        all.addAll(others.texts);
        return new Secrets(all);
    }

    /** The text without them. */
    public String hide(String text) {
        String hidden = text;
        for (String each : texts) {
            hidden = hidden.replace(each, HIDDEN);
        }
        return hidden;
    }

    /** Whether an exception, one of its causes or one that it suppresses says one of them. */
    public boolean areIn(Throwable thrown) {
        return areIn(thrown, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private boolean areIn(Throwable thrown, Set<Throwable> seen) {
        if (!seen.add(thrown)) {
            return false;
        }
        String text = String.valueOf(thrown);
        if (!hide(text).equals(text)) {
            return true;
        }
        for (Throwable suppressed : thrown.getSuppressed()) {
            if (areIn(suppressed, seen)) {
                return true;
            }
        }
        return thrown.getCause() != null && areIn(thrown.getCause(), seen);
    }

    /**
     * The exception itself if neither it nor a cause or suppressed one says a secret; otherwise one that says the rest and was
     * thrown at the same place. A rejected URL and an unavailable store stay what they are.
     */
    public RuntimeException hide(RuntimeException thrown) {
        return areIn(thrown) ? (RuntimeException) without(thrown) : thrown;
    }

    /** Gives an exception that repeats another one's text its place and what else it has, without secrets. */
    public <T extends Throwable> T like(Throwable original, T hidden) {
        hidden.setStackTrace(original.getStackTrace());
        if (original.getCause() != null && hidden.getCause() == null) {
            hidden.initCause(without(original.getCause()));
        }
        for (Throwable suppressed : original.getSuppressed()) {
            hidden.addSuppressed(without(suppressed));
        }
        return hidden;
    }

    private Throwable without(Throwable thrown) {
        if (!areIn(thrown)) {
            return thrown;
        }
        String message = hide(String.valueOf(thrown.getMessage()));
        if (thrown instanceof StoreUnavailableException e) {
            Throwable cause = e.getCause() == null ? null : without(e.getCause());
            return like(
                    e,
                    e.worthRepeating()
                            ? new StoreUnavailableException(message, cause)
                            : StoreUnavailableException.lasting(message, cause));
        }
        if (thrown instanceof IllegalArgumentException) {
            return like(thrown, new IllegalArgumentException(message));
        }
        if (thrown instanceof IllegalStateException) {
            return like(thrown, new IllegalStateException(message));
        }
        if (thrown instanceof UnsupportedOperationException) {
            return like(thrown, new UnsupportedOperationException(message));
        }
        return like(thrown, new Repeated(hide(thrown.toString())));
    }

    /** What another exception said, without its secrets. */
    private static final class Repeated extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** @param text begins with the name of the original's class */
        Repeated(String text) {
            super(text);
        }
    }

    @Override
    public String toString() {
        return "secrets";
    }
}
