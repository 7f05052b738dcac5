// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The names of our options in a {@code jdbc:} URL, among those of the driver. Drivers ignore what they do not know; so a name that is
 * nearly one of ours is rejected: it would silently do nothing, and tables would be created where they are forbidden.
 */
final class OptionNames {
    private static final String OURS = "lockkeeper";
    private static final List<String> AFTER_PREFIX = List.of("tablePrefix", "schema", "createTables", "durability");
    private static final List<String> BARE = List.of("operationTimeout", "patience");

    /** The drivers of these have no option that is called so; H2's has. */
    private static final Set<String> WITHOUT_SCHEMA = Set.of("postgresql", "mariadb", "mysql", "sqlite");

    /** Two letters missing, added, wrong or swapped; of the drivers' own names none comes as near. */
    private static final int NEAR = 2;

    private OptionNames() {}

    /** The options of the store itself. */
    static Set<String> known() {
        Set<String> known = new TreeSet<>();
        AFTER_PREFIX.forEach(name -> known.add(OURS + "." + name));
        return known;
    }

    /**
     * Whether a parameter is for the driver and not for us.
     *
     * @param database as the URL names it
     * @throws IllegalArgumentException when it is neither, but similar to one of ours
     */
    static boolean isForDriver(String name, String database) {
        if (known().contains(name) || BARE.contains(name)) {
            return false;
        }
        String plain = plain(name);
        int prefix = prefix(plain);
        Optional<String> meant = prefix > 0 ? meant(plain.substring(prefix), NEAR + 1) : meantBare(plain, database);
        if (prefix > 0 || meant.isPresent()) {
            throw new IllegalArgumentException("unknown parameter '" + name + "' for jdbc:;"
                    + meant.map(m -> " write '" + m + "';").orElse("") + " known are " + known() + ", " + BARE
                    + " and those of the driver");
        }
        return true;
    }

    /** Without what people write differently: case, dots, hyphens, underscores. */
    private static String plain(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
    }

    /** How many characters at the beginning are our prefix, rightly or wrongly spelt; 0 if none are. */
    private static int prefix(String plain) {
        int best = 0;
        int least = NEAR + 1;
        for (int length = OURS.length() - NEAR; length <= Math.min(plain.length(), OURS.length() + NEAR); length++) {
            int distance = distance(plain.substring(0, length), OURS);
            if (distance < least) {
                least = distance;
                best = length;
            }
        }
        return best;
    }

    private static Optional<String> meantBare(String plain, String database) {
        if (plain.equals("schema")) {
            return WITHOUT_SCHEMA.contains(database) ? Optional.of(OURS + ".schema") : Optional.empty();
        }
        return meant(plain, NEAR).filter(m -> !m.equals(OURS + ".schema"));
    }

    /** The option that is nearest, written in full. */
    private static Optional<String> meant(String plain, int near) {
        return Stream.concat(AFTER_PREFIX.stream(), BARE.stream())
                .filter(name -> distance(plain, plain(name)) <= near)
                .min(Comparator.comparingInt(name -> distance(plain, plain(name))))
                .map(name -> BARE.contains(name) ? name : OURS + "." + name);
    }

    /** How many letters must be inserted, removed, replaced or swapped with their neighbour (Damerau and Levenshtein). */
    static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int cost = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + cost);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
