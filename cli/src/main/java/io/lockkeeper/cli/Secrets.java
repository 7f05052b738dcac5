// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Keeps what a store's URL may hold out of everything we print, whatever a driver puts into its messages. */
final class Secrets {
    private static final Pattern USER_INFO = Pattern.compile("//([^/@]*)@");
    private static final Pattern PARAMETER = Pattern.compile(
            "[?&;]([^=&;]*(?:pass|secret|pwd|token|key|credential)[^=&;]*)=([^&;]*)", Pattern.CASE_INSENSITIVE);

    private static final Set<String> KNOWN = ConcurrentHashMap.newKeySet();

    private Secrets() {}

    static void learn(String url) {
        if (url.startsWith("file:") || url.startsWith("memory:")) {
            return;
        }
        KNOWN.add(url);
        int colon = url.indexOf(':');
        KNOWN.add(url.substring(colon + 1));
        Matcher user = USER_INFO.matcher(url);
        while (user.find()) {
            KNOWN.add(user.group(1));
            int separator = user.group(1).indexOf(':');
            if (separator >= 0) {
                KNOWN.add(user.group(1).substring(separator + 1));
            }
        }
        Matcher parameter = PARAMETER.matcher(url);
        while (parameter.find()) {
            KNOWN.add(parameter.group(2));
        }
        KNOWN.removeIf(String::isEmpty);
    }

    static String hide(String text) {
        String hidden = text;
        // The longest first: a piece of a piece would leave the rest standing.
        for (String secret : KNOWN.stream()
                .sorted((a, b) -> Integer.compare(b.length(), a.length()))
                .toList()) {
            hidden = hidden.replace(secret, "…");
        }
        return hidden;
    }
}
