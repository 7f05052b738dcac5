// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** An event as one line of words, and back. */
final class EventText {
    private static final String NONE = "-";

    private EventText() {}

    static String write(Event event) {
        if (event instanceof Event.Declared e) {
            return line("declared", e.at(), e.limit(), text(e.name()), e.value());
        } else if (event instanceof Event.Invoked e) {
            return line("invoked", e.at(), e.operation(), text(e.client()), text(e.name()), call(e.call()));
        } else if (event instanceof Event.Returned e) {
            return line("returned", e.at(), e.operation(), e.outcome());
        } else if (event instanceof Event.Granted e) {
            return line("granted", e.at(), e.operation(), optional(e.token()), optional(e.validUntil()));
        } else if (event instanceof Event.Extended e) {
            return line("extended", e.at(), e.operation(), e.validUntil());
        } else if (event instanceof Event.Lost e) {
            return line("lost", e.at(), e.operation());
        } else if (event instanceof Event.Due e) {
            return line("due", e.at(), e.operation(), e.deadline(), e.granted());
        } else if (event instanceof Event.Written e) {
            return line("written", e.at(), e.operation(), text(e.storage()), e.mode(), e.token(), e.accepted());
        } else if (event instanceof Event.Abandoned e) {
            return line("abandoned", e.at(), e.operation());
        }
        return line("looked", event.at());
    }

    /**
     * Reads a line.
     *
     * @param origin the time at which the history begins that the event is to belong to
     * @param operations what its numbers of operations are in that history
     * @throws IllegalArgumentException if it is none that {@link #write} has made
     */
    static Event read(String line, long origin, Numbers operations) {
        Words words = new Words(line.split(" "), origin, operations);
        return switch (words.next()) {
            case "declared" ->
                new Event.Declared(words.time(), Event.Limit.valueOf(words.next()), words.text(), words.number());
            case "invoked" ->
                new Event.Invoked(words.time(), words.operation(), words.text(), words.text(), words.call());
            case "returned" -> new Event.Returned(words.time(), words.operation(), Outcome.valueOf(words.next()));
            case "granted" ->
                new Event.Granted(words.time(), words.operation(), words.optional(0), words.optional(origin));
            case "extended" -> new Event.Extended(words.time(), words.operation(), words.time());
            case "lost" -> new Event.Lost(words.time(), words.operation());
            case "due" -> new Event.Due(words.time(), words.operation(), words.time(), words.truth());
            case "written" ->
                new Event.Written(
                        words.time(),
                        words.operation(),
                        words.text(),
                        HistoryMode.valueOf(words.next()),
                        words.number(),
                        words.truth());
            case "abandoned" -> new Event.Abandoned(words.time(), words.operation());
            case "looked" -> new Event.Looked(words.time());
            default -> throw new IllegalArgumentException("no event: " + line);
        };
    }

    /** The numbers of operations in another history. */
    interface Numbers {
        long of(long operation);
    }

    private static String call(Call call) {
        if (call instanceof Call.Acquire c) {
            return line("acquire", c.mode(), c.permits());
        } else if (call instanceof Call.Downgrade c) {
            return line("downgrade", c.hold());
        } else if (call instanceof Call.Reenter c) {
            return line("reenter", c.hold());
        } else if (call instanceof Call.Release c) {
            return line("release", optional(c.hold()));
        } else if (call instanceof Call.Write c) {
            return line("write", c.mode());
        }
        return call instanceof Call.CountDown ? "countDown" : "await";
    }

    private static String line(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        return line.toString();
    }

    /** A text without blanks, never empty. */
    private static String text(String s) {
        return "'" + URLEncoder.encode(s, StandardCharsets.UTF_8);
    }

    private static String optional(OptionalLong n) {
        return n.isPresent() ? String.valueOf(n.getAsLong()) : NONE;
    }

    private static final class Words {
        private final String[] words;
        private final long origin;
        private final Numbers operations;
        private int at;

        Words(String[] words, long origin, Numbers operations) {
            this.words = words;
            this.origin = origin;
            this.operations = operations;
        }

        String next() {
            if (at == words.length) {
                throw new IllegalArgumentException("an event without an end: " + String.join(" ", words));
            }
            return words[at++];
        }

        long number() {
            return Long.parseLong(next());
        }

        long time() {
            return number() - origin;
        }

        long operation() {
            return operations.of(number());
        }

        boolean truth() {
            return Boolean.parseBoolean(next());
        }

        String text() {
            return URLDecoder.decode(next().substring(1), StandardCharsets.UTF_8);
        }

        OptionalLong optional(long since) {
            String word = next();
            return word.equals(NONE) ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(word) - since);
        }

        Call call() {
            return switch (next()) {
                case "acquire" -> new Call.Acquire(HistoryMode.valueOf(next()), (int) number());
                case "downgrade" -> new Call.Downgrade(operation());
                case "reenter" -> new Call.Reenter(operation());
                case "release" -> {
                    OptionalLong hold = optional(0);
                    yield new Call.Release(hold.isPresent() ? OptionalLong.of(operations.of(hold.getAsLong())) : hold);
                }
                case "write" -> new Call.Write(HistoryMode.valueOf(next()));
                case "countDown" -> new Call.CountDown();
                case "await" -> new Call.Await();
                default -> throw new IllegalArgumentException("no call in: " + String.join(" ", words));
            };
        }
    }
}
