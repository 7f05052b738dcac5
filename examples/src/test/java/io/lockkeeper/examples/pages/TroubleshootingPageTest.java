// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The page that explains messages quotes those that the sources have. Both directions are compared by runs of words (see {@link
 * Messages}), because messages are put together from pieces and the page has words in capitals where values are. So a message
 * whose wording has changed is found, and one that is not on the page at all; a comma is not.
 */
class TroubleshootingPageTest {
    private static final Page PAGE = Repository.page("docs/troubleshooting.md");
    private static final Messages MESSAGES = Messages.ofTheRepository();

    /** What stands for a value: words in capitals, numbers, the three dots, and what is in parentheses with a number. */
    private static final Pattern VALUE =
            Pattern.compile("…|'[^' ]+'|\\b[A-Z][A-Z0-9_]*\\b|\\b\\d[\\d.]*\\w*\\b|\\((?:code )?\\w*\\d\\w*…?\\)");

    /** The columns of tables that have messages. */
    private static final Set<String> COLUMNS = Set.of("message", "line", "beginning", "WHY");

    /** What servers, drivers and picocli say. */
    private static final List<String> OF_OTHERS = List.of(
            "--read-only",
            "Connection is not available, request timed out after Nms",
            "Deadlock found",
            "Invalid value for option",
            "Lock wait timeout exceeded",
            "Missing required",
            "Not enough good replicas to write",
            "Too many connections",
            "Unknown database",
            "Unknown option",
            "invalid password",
            "is full",
            "max number of clients reached",
            "no such table");

    /** Values that the page of logging shows. */
    private static final List<String> EXAMPLES = List.of(
            "/var/lib/app/locks.db",
            "Connection refused",
            "the database at db.example:5432",
            "the record of nightly",
            "worker-3");

    /** What users do not see: causes that are handled, or shown only within another message. */
    private static final List<String> NOT_SHOWN = List.of(
            " is a link",
            " is not percent-encoded",
            ".lua in the package of ",
            "; allowed is 0 to ", // as the page has it for all ranges
            "for another client: '",
            "cannot read the types of ",
            "interrupted while it looked for a connection",
            "interrupted while it waited for its turn",
            "it has gone",
            "it begins with neither C nor O",
            "it is no ",
            "it logs nothing",
            "its bytes are not UTF-8",
            "no library for ",
            "strangers can write to ",
            "the gate is closed",
            "there are no Sentinels");

    @Test
    void eachMessageOnThePageIsOneOfTheSources() {
        List<Page.Span> quoted = quoted(PAGE);
        assertThat(quoted).hasSizeGreaterThan(300);
        assertThat(quoted.stream().flatMap(span -> stale(span.text()).stream().map(part -> span.place() + ": " + part)))
                .isEmpty();
    }

    @Test
    void eachLineOnThePageOfLoggingIsOneOfTheSources() {
        List<Page.Span> quoted = quoted(Repository.page("docs/logging.md"));
        assertThat(quoted).hasSizeGreaterThan(30);
        assertThat(quoted.stream().flatMap(span -> stale(span.text()).stream().map(part -> span.place() + ": " + part)))
                .isEmpty();
    }

    @Test
    void eachMessageOfAnExceptionIsOnThePage() {
        var onThePage = new HashSet<String>();
        for (Page.Line line : PAGE.prose()) {
            onThePage.addAll(Messages.runs(line.text().replaceAll("`|\\\\$", "")));
        }
        var missing = new ArrayList<String>();
        MESSAGES.thrown().forEach((file, texts) -> texts.stream()
                .filter(text -> !NOT_SHOWN.contains(text)
                        && Messages.runs(text).stream().noneMatch(onThePage::contains))
                .forEach(text -> missing.add(file + ": " + text)));
        assertThat(missing).isEmpty();
    }

    @Test
    void aMessageThatNobodyWritesIsFound() {
        var page = new Page("docs/made_up", """
                - `this thread does not hold 'NAME' by lock()`, `no more than N at a time: …` (`LeaseLostException`)\\
                  `The text is not checked.`
                - `this thread has never been told of 'NAME' by lock()`\\
                """);
        assertThat(quoted(page)).hasSize(4);
        assertThat(quoted(page).stream().flatMap(span -> stale(span.text()).stream()))
                .containsExactly("this thread has never been told of");
    }

    /** What stands in back-quotes at the beginning of an entry, up to the line that ends with a backslash, and in tables. */
    private static List<Page.Span> quoted(Page page) {
        var quoted = new ArrayList<Page.Span>();
        boolean inEntry = false;
        List<String> header = List.of();
        for (Page.Line line : page.prose()) {
            List<String> cells = line.cells();
            header = cells.isEmpty() ? List.of() : header.isEmpty() ? cells : header;
            for (int i = 0; i < cells.size(); i++) {
                if (COLUMNS.contains(header.get(i))) {
                    quoted.addAll(page.spans(new Page.Line(line.number(), cells.get(i))));
                }
            }
            inEntry |= line.text().strip().startsWith("- `");
            if (inEntry) {
                quoted.addAll(page.spans(line));
            }
            inEntry &= !line.text().endsWith("\\") && !line.text().isBlank();
        }
        return quoted;
    }

    /** The parts of a message between its values that the sources do not have. */
    private static List<String> stale(String message) {
        if (message.matches("[A-Z]\\w+|\\w+\\(\\)")) {
            return List.of();
        }
        String ours = message;
        for (String other : OF_OTHERS) {
            ours = ours.replace(other, "…");
        }
        for (String example : EXAMPLES) {
            ours = ours.replace(example, "…");
        }
        return VALUE.splitAsStream(ours)
                .map(String::strip)
                .filter(part -> !part.isEmpty() && MESSAGES.unknownInARow(part) >= Messages.RUN)
                .toList();
    }
}
