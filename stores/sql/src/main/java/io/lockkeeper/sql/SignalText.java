// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.sql;

import io.lockkeeper.LeaseLost.Reason;
import io.lockkeeper.model.Signal;
import io.lockkeeper.spi.Answer;
import io.lockkeeper.spi.ClaimId;
import io.lockkeeper.spi.NameCodec;
import io.lockkeeper.spi.StoreTime;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Signals as one line of plain words, to be sent to the client that they concern. */
final class SignalText {
    private SignalText() {}

    static String write(Signal signal) {
        if (signal instanceof Signal.Granted granted) {
            Answer.Granted g = granted.grant();
            return "G " + granted.claim() + " " + g.token() + " " + g.block() + " "
                    + g.remaining().toNanos() / 1_000 + " " + (g.confirmed() ? "1" : "0") + " "
                    + g.at().incarnation() + " " + g.at().micros();
        }
        if (signal instanceof Signal.Recalled recalled) {
            return "R " + recalled.claim();
        }
        if (signal instanceof Signal.Lost lost) {
            return "L " + lost.claim() + " " + lost.reason();
        }
        return "O " + NameCodec.encode(((Signal.Opened) signal).latch());
    }

    /**
     * What a line is about, however it got here: only the database says whether it is true.
     *
     * @param claim null when it is about a latch
     * @param isGrant whether the claim is said to have been granted; otherwise, that its hold has ended or is to end
     */
    record Hint(
            @Nullable ClaimId claim,
            boolean isGrant,
            @Nullable String latch) {}

    /**
     * Reads what a line for this client is about.
     *
     * @throws IllegalArgumentException if it is none that we know: a newer client may send something new
     */
    static Hint hint(String client, String line) {
        Signal signal = read(client, line).orElseThrow(() -> new IllegalArgumentException("unknown: '" + line + "'"));
        if (!signal.client().equals(client)) {
            throw new IllegalArgumentException("for another client: '" + line + "'");
        }
        if (signal instanceof Signal.Granted granted) {
            return new Hint(granted.claim(), true, null);
        }
        if (signal instanceof Signal.Recalled recalled) {
            return new Hint(recalled.claim(), false, null);
        }
        if (signal instanceof Signal.Lost lost) {
            return new Hint(lost.claim(), false, null);
        }
        return new Hint(null, false, ((Signal.Opened) signal).latch());
    }

    /** Empty when it is none that we know: a newer client may send something new. */
    static Optional<Signal> read(String client, String line) {
        String[] words = line.split(" ");
        try {
            return switch (words[0]) {
                case "G" ->
                    Optional.of(new Signal.Granted(
                            ClaimId.parse(words[1]),
                            new Answer.Granted(
                                    Long.parseLong(words[2]),
                                    Integer.parseInt(words[3]),
                                    Duration.of(Long.parseLong(words[4]), ChronoUnit.MICROS),
                                    words[5].equals("1"),
                                    new StoreTime(Long.parseLong(words[6]), Long.parseLong(words[7])))));
                case "R" -> Optional.of(new Signal.Recalled(ClaimId.parse(words[1])));
                case "L" -> Optional.of(new Signal.Lost(ClaimId.parse(words[1]), Reason.valueOf(words[2])));
                case "O" -> Optional.of(new Signal.Opened(client, NameCodec.decode(words[1])));
                default -> Optional.empty();
            };
        } catch (IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }
}
