// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.benchmarks.race;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The command line. */
final class Options {
    static final String USAGE = """
            usage: ./bench SUITE [options]

              --stores A,B          only these stores
              --contenders A,B      only these and the floor, which always runs
              --workloads A,B       only these
              --rounds N            3: how often each contender gets a slice of each workload
              --slice MS            700: the length of a slice in milliseconds
              --warm-up MS          700: the same before the first round, not counted; eight times that in new processes
              --names N             10000: how many names are held in the workload idle
              --window MS           10000: how long they are looked at
              --json FILE           where the figures go, in addition to the tables on standard output
              --smoke               everything once, as short as possible: proves that it works, and measures nothing
              --list                what there is to choose from
            """;

    final List<String> stores = new ArrayList<>();
    final List<String> contenders = new ArrayList<>();
    final List<String> workloads = new ArrayList<>();
    final String suite;
    int rounds = 3;
    Duration slice = Duration.ofMillis(700);
    Duration warmUp = Duration.ofMillis(700);
    int names = 10_000;
    Duration window = Duration.ofSeconds(10);
    Path json;
    boolean list;
    boolean help;

    /** @throws IllegalArgumentException that says what is wrong */
    Options(String... args) {
        if (args.length == 0) {
            throw new IllegalArgumentException("which suite?");
        }
        suite = args[0];
        json = Path.of("benchmarks", "target", "bench-" + suite + ".json");
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
                case "--stores" -> stores.addAll(words(args, ++i));
                case "--contenders" -> contenders.addAll(words(args, ++i));
                case "--workloads" -> workloads.addAll(words(args, ++i));
                case "--rounds" -> rounds = number(args, ++i, 1);
                case "--slice" -> slice = Duration.ofMillis(number(args, ++i, 10));
                case "--warm-up" -> warmUp = Duration.ofMillis(number(args, ++i, 0));
                case "--names" -> names = number(args, ++i, 1);
                case "--window" -> window = Duration.ofMillis(number(args, ++i, 10));
                case "--json" -> json = Path.of(value(args, ++i));
                case "--smoke" -> {
                    rounds = 1;
                    slice = Duration.ofMillis(150);
                    warmUp = Duration.ZERO;
                    names = 300;
                    window = Duration.ofSeconds(4);
                }
                case "--list" -> list = true;
                case "-h", "--help" -> help = true;
                default -> throw new IllegalArgumentException("unknown option " + args[i]);
            }
        }
        workloads.forEach(Workload::named);
    }

    boolean wants(List<String> chosen, String name) {
        return chosen.isEmpty() || chosen.contains(name);
    }

    private static List<String> words(String[] args, int at) {
        return Arrays.asList(value(args, at).toLowerCase(Locale.ROOT).split(","));
    }

    private static int number(String[] args, int at, int least) {
        int number;
        try {
            number = Integer.parseInt(value(args, at));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(args[at - 1] + " is '" + args[at] + "', which is not a number", e);
        }
        if (number < least) {
            throw new IllegalArgumentException(args[at - 1] + " is " + number + "; the least is " + least);
        }
        return number;
    }

    private static String value(String[] args, int at) {
        if (at >= args.length) {
            throw new IllegalArgumentException(args[at - 1] + " has no value");
        }
        return args[at];
    }
}
