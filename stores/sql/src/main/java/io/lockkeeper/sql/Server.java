// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.io.IOException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The server of a database, as messages name it. Drivers say why they could not connect in many ways, most of them far down among the
 * causes, and some without the host.
 *
 * @param place {@code " at HOST:PORT"}, or nothing where the URL does not say it
 */
record Server(String place) {
    private static final Map<String, String> PORTS = Map.of("postgresql", "5432", "mariadb", "3306", "mysql", "3306");

    /** Parameters that name another host than the URL. */
    private static final Set<String> ELSEWHERE =
            Set.of("pghost", "pgport", "service", "localsocket", "pipe", "socketfactory");

    private static final Pattern HOST = Pattern.compile("(?i)\\bhost=([^,()]*)");
    private static final Pattern PORT = Pattern.compile("(?i)\\bport=([^,()]*)");

    /** What drivers say of servers that they could not talk to. */
    private static final Set<String> AWAY = Set.of("08000", "08001", "08003", "08006", "08S01");

    /** The server of a URL; null when the database is in this process, or not known. */
    static @Nullable Server of(JdbcUrl url) {
        String[] words = url.text().split(":", 3);
        @Nullable String port = PORTS.get(words[1].toLowerCase(Locale.ROOT));
        if (port == null) {
            return null;
        }
        boolean isElsewhere =
                url.parameters().keySet().stream().anyMatch(name -> ELSEWHERE.contains(name.toLowerCase(Locale.ROOT)));
        return new Server(isElsewhere ? "" : url.secrets().hide(" at " + hosts(words[2], port)));
    }

    private static String hosts(String rest, String port) {
        int begin = rest.indexOf("//") + 2;
        if (begin < 2) {
            return "localhost:" + port;
        }
        int slash = rest.indexOf('/', begin);
        List<String> hosts = new ArrayList<>();
        for (String host : (slash < 0 ? rest.substring(begin) : rest.substring(begin, slash)).split(",(?![^(]*\\))")) {
            hosts.add(host.contains("(") ? listed(host, port) : plain(host, port));
        }
        return String.join(", ", hosts);
    }

    private static String plain(String host, String port) {
        if (host.isEmpty()) {
            return "localhost:" + port;
        }
        return host.matches(".*:\\d+") ? host : host + ":" + port;
    }

    private static String listed(String text, String port) {
        Matcher host = HOST.matcher(text);
        Matcher given = PORT.matcher(text);
        return (host.find() ? host.group(1) : "localhost") + ":" + (given.find() ? given.group(1) : port);
    }

    /** Why there is no connection. */
    NotConnectedException failed(SQLException e) {
        @Nullable Throwable network = network(e);
        @Nullable String state = e.getSQLState();
        boolean isAway = network != null || (state != null && AWAY.contains(state));
        return new NotConnectedException(
                "the database" + place + (isAway ? " cannot be reached (" : " failed (") + Failures.describe(e) + "): "
                        + (network != null ? why(network) : firstLine(e)),
                e);
    }

    /** The pool has none, and no attempt to connect has ended. */
    NotConnectedException noAnswer(SQLException timeout, int millis) {
        return failed(new SQLException("no connection within " + millis + " ms", "08001", timeout));
    }

    /** The last cause, if one is about the network. */
    private static @Nullable Throwable network(Throwable e) {
        Throwable last = e;
        boolean isNetwork = false;
        for (int depth = 0; depth < 20 && last.getCause() != null; depth++) {
            last = last.getCause();
            isNetwork |= last instanceof IOException;
        }
        return isNetwork ? last : null;
    }

    private static String why(Throwable network) {
        if (network instanceof UnknownHostException) {
            return "the host name does not resolve (" + network.getMessage() + ")";
        }
        @Nullable String message = network.getMessage();
        return message == null || message.isBlank() ? network.getClass().getSimpleName() : message.strip();
    }

    /** MySQL's driver explains at length. */
    private static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).strip().lines().findFirst().orElse("");
    }
}
