// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.spi;

import io.lockkeeper.LockkeeperException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A store's URL, taken apart: {@code scheme:rest?parameter=value&…}. Its text may hold a secret and is never printed:
 * {@link #toString()} and all messages made here show the scheme and the names of parameters only (and a value that should be a
 * duration).
 */
public final class StoreUrl {
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*");

    private final String scheme;
    private final String rest;
    private final Map<String, String> parameters;
    private final @Nullable String clientName;
    private final Secrets secrets;

    private StoreUrl(
            String scheme, String rest, Map<String, String> parameters, @Nullable String clientName, Secrets secrets) {
        this.scheme = scheme;
        this.rest = rest;
        this.parameters = parameters;
        this.clientName = clientName;
        this.secrets = secrets;
    }

    /** Takes a URL apart. */
    public static StoreUrl parse(String url) {
        int colon = url.indexOf(':');
        if (colon <= 0
                || !SCHEME.matcher(url.substring(0, colon)).matches()) { // as in secret@host:1, which is not shown
            throw new IllegalArgumentException("a store's URL begins with SCHEME: as in memory: or redis://host");
        }
        String scheme = url.substring(0, colon).toLowerCase(Locale.ROOT);
        int question = url.indexOf('?', colon);
        String rest = url.substring(colon + 1, question < 0 ? url.length() : question);
        Map<String, String> parameters = new LinkedHashMap<>();
        if (question >= 0) {
            for (String pair : url.substring(question + 1).split("&")) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw refused("a parameter of a " + scheme + ": URL has the form name=value; one has not");
                }
                String name = decode(pair.substring(0, equals));
                if (parameters.put(name, decode(pair.substring(equals + 1))) != null) {
                    throw refused("parameter '" + shown(name) + "' is given twice");
                }
            }
        }
        return new StoreUrl(scheme, rest, parameters, null, Secrets.of(url));
    }

    private static IllegalArgumentException refused(String why) {
        return new IllegalArgumentException(LockkeeperException.printable(why));
    }

    /** A name as a message shows it. What no parameter is called may be a piece of a secret that has {@code ?} or {@code &} in it. */
    public static String shown(String name) {
        return name.matches("[A-Za-z][A-Za-z0-9_.-]{0,39}") ? name : "…";
    }

    private static String decode(String s) {
        try {
            return URLDecoder.decode(s, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Its message shows a piece of what may be a secret.
            throw new IllegalArgumentException("a parameter has a '%' that is not followed by two hexadecimal digits");
        }
    }

    /** The scheme, in lower case and without the colon. */
    public String scheme() {
        return scheme;
    }

    /** What stands between the scheme's colon and the question mark. May hold a secret. */
    public String rest() {
        return rest;
    }

    /** A parameter's value, if it is given. */
    public Optional<String> parameter(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    /** All parameters, decoded, in the order in which they are given. Values may be secret. */
    public Map<String, String> parameters() {
        return Collections.unmodifiableMap(parameters);
    }

    /** A parameter's value as a duration, such as {@code 500ms}, {@code 10s}, {@code 2m}, if it is given. */
    public Optional<Duration> duration(String name) {
        return parameter(name).map(value -> {
            Matcher m = DURATION.matcher(value);
            if (!m.matches()) {
                throw refused(
                        "parameter '" + name + "' is '" + value + "'; allowed is a whole number with ms, s, m or h");
            }
            long n = Long.parseLong(m.group(1));
            return switch (m.group(2)) {
                case "ms" -> Duration.ofMillis(n);
                case "s" -> Duration.ofSeconds(n);
                case "m" -> Duration.ofMinutes(n);
                default -> Duration.ofHours(n);
            };
        });
    }

    /** Refuses parameters that are none of these. */
    public void allowOnly(Set<String> known) {
        for (String name : parameters.keySet()) {
            if (!known.contains(name)) {
                throw refused("unknown parameter '" + shown(name) + "' for " + scheme + ":; known are "
                        + new TreeSet<>(known));
            }
        }
    }

    /** This URL with what the keeper has settled, so that a store finds it here regardless of where it was set. */
    public StoreUrl with(String name, Duration value) {
        Map<String, String> more = new LinkedHashMap<>(parameters);
        more.put(name, value.toMillis() + "ms");
        return new StoreUrl(scheme, rest, more, clientName, secrets);
    }

    /** This URL for a keeper of that client name, by which a store may name its connections. */
    public StoreUrl withClientName(String name) {
        return new StoreUrl(scheme, rest, parameters, name, secrets);
    }

    /** The client name of the keeper that the store is opened for; empty if it is opened for no keeper. */
    public Optional<String> clientName() {
        return Optional.ofNullable(clientName);
    }

    /** What may be in none of a store's messages. */
    public Secrets secrets() {
        return secrets;
    }

    /** The scheme and the names of the parameters. */
    @Override
    public String toString() {
        String names = parameters.keySet().stream().map(StoreUrl::shown).collect(Collectors.joining("&"));
        return LockkeeperException.printable(scheme + ":…" + (names.isEmpty() ? "" : "?" + names));
    }
}
