// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.spi.Secrets;
import io.lockkeeper.spi.StoreUrl;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a driver is given: a URL without a secret, and the parameters. Drivers and pools repeat a URL in messages and logs, the more
 * readily the less they understand it; so a secret in it is moved to the parameters if the driver would understand it where it
 * stands, and otherwise the URL is rejected before a driver sees it.
 *
 * @param text begins with {@code jdbc:}
 * @param parameters for the driver; may hold secrets
 * @param secrets what no message may show
 */
record JdbcUrl(String text, Map<String, String> parameters, Secrets secrets) {
    private static final Pattern HOST = Pattern.compile(
            "(?:\\[[0-9A-Fa-f:.%a-z]+]|[^:@\\[\\]=()]*)(?::\\d{1,5})?|address=(?:\\([^()@]*\\))+|\\([^()@]*\\)");
    private static final Pattern SETTING = Pattern.compile("[;(,&]\\s*([^=;(),&]*)=");
    private static final Pattern H2_SETTING = Pattern.compile(";([^=;]*)=((?:\\\\.|[^;\\\\])*)");

    static JdbcUrl of(StoreUrl url) {
        Map<String, String> parameters = new LinkedHashMap<>();
        String database = database(url);
        url.parameters().forEach((name, value) -> {
            if (OptionNames.isForDriver(name, database)) {
                parameters.put(name, value);
            }
        });
        if (database.equals("sqlite") && parameters.keySet().stream().anyMatch(Secrets::isSecret)) {
            throw new IllegalArgumentException(
                    "SQLite's driver does not encrypt files, and logs a password that it is given;"
                            + " with a driver that does encrypt, use SqlStore.of(DataSource)");
        }
        String rest = url.rest();
        switch (database) {
            case "h2" -> rest = withoutSettings(rest, parameters);
            case "mysql" -> rest = withoutLogin(rest, parameters);
            default -> {}
        }
        check(rest, database);
        return new JdbcUrl("jdbc:" + rest, parameters, url.secrets());
    }

    /** As the URL names it, in lower case. */
    static String database(StoreUrl url) {
        return url.rest().split(":", 2)[0].toLowerCase(Locale.ROOT);
    }

    /** H2 has its settings after semicolons, and takes them as parameters as well. */
    private static String withoutSettings(String rest, Map<String, String> parameters) {
        StringBuilder left = new StringBuilder();
        Matcher setting = H2_SETTING.matcher(rest);
        while (setting.find()) {
            String name = setting.group(1).strip();
            if (Secrets.isSecret(name)) {
                if (parameters.keySet().stream().anyMatch(name::equalsIgnoreCase)) {
                    throw new IllegalArgumentException("parameter '" + name + "' is given twice");
                }
                parameters.put(name.toUpperCase(Locale.ROOT), setting.group(2).replaceAll("\\\\(.)", "$1"));
                setting.appendReplacement(left, "");
            }
        }
        return setting.appendTail(left).toString();
    }

    /** MySQL's driver allows a login before the host. */
    private static String withoutLogin(String rest, Map<String, String> parameters) {
        int begin = rest.indexOf("//") + 2;
        int slash = rest.indexOf('/', begin);
        int at = rest.indexOf('@');
        if (begin < 2
                || at < begin
                || (slash >= 0 && slash < at)
                || rest.substring(begin, at).contains("(")) {
            return rest;
        }
        String[] login = rest.substring(begin, at).split(":", 2);
        String[] names = {"user", "password"};
        for (int i = 0; i < login.length; i++) {
            if (parameters.putIfAbsent(names[i], decode(login[i])) != null) {
                throw new IllegalArgumentException(
                        "the " + names[i] + " is given twice, before the host and as a parameter");
            }
        }
        return rest.substring(0, begin) + rest.substring(at + 1);
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Its message shows a piece of what may be a secret.
            throw new IllegalArgumentException("the login has a '%' that is not followed by two hexadecimal digits");
        }
    }

    private static void check(String rest, String database) {
        Matcher setting = SETTING.matcher(rest);
        while (setting.find()) {
            if (Secrets.isSecret(setting.group(1).strip())) {
                throw new IllegalArgumentException(
                        "parameter '" + StoreUrl.shown(setting.group(1).strip()) + "' stands before the '?' of a jdbc:"
                                + StoreUrl.shown(database)
                                + ": URL, where drivers show it in messages; write it at the end, as in"
                                + " ?user=NAME&password=SECRET");
            }
        }
        int begin = rest.indexOf("//") + 2;
        int at = rest.indexOf('@');
        boolean isFile = database.equals("sqlite") || (database.equals("h2") && !rest.matches("(?i)h2:(tcp|ssl):.*"));
        if (isFile && !rest.matches("[^/]*//[^/]*@.*")) {
            return;
        }
        if (begin < 2) {
            if (at > 0 && rest.charAt(at - 1) != ':') {
                throw wrongHosts(database);
            }
            return;
        }
        int slash = rest.indexOf('/', begin);
        String hosts = slash < 0 ? rest.substring(begin) : rest.substring(begin, slash);
        for (String host : hosts.split(",(?![^(]*\\))", -1)) {
            if (!HOST.matcher(host).matches()) {
                throw wrongHosts(database);
            }
        }
        if (at >= 0 && at < begin && rest.charAt(at - 1) != ':') {
            throw wrongHosts(database);
        }
    }

    private static IllegalArgumentException wrongHosts(String database) {
        return new IllegalArgumentException("a jdbc:" + StoreUrl.shown(database)
                + ": URL has HOST[:PORT] after the slashes, without a login, and with a number for a port;"
                + " a login is written as in ?user=NAME&password=SECRET, where a secret has %26 for & and %25 for %");
    }

    /** Nothing that may be a secret. */
    @Override
    public String toString() {
        return text + parameters.keySet();
    }
}
