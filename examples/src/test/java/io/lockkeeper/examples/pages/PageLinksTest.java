// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Each link of a page to another page, or to a heading, leads there. */
class PageLinksTest {
    private static final Pattern CITED = Pattern.compile("\\bdocs/[\\w/-]+\\.md\\b");

    @Test
    void eachRelativeLinkLeadsToAFileAndAHeading() {
        var complaints = new ArrayList<String>();
        Repository.pages().forEach(page -> complaints.addAll(complaintsAbout(page)));
        assertThat(complaints).isEmpty();
    }

    @Test
    void eachPageThatTheSourcesCiteExists() {
        var complaints = new ArrayList<String>();
        for (Path file : Repository.files(Repository.ROOT)) {
            String name = file.getFileName().toString();
            if (name.matches(".*\\.(java|xml|lua|sql|sh)") || name.matches("check|bench|run|lockkeeper")) {
                Matcher cited = CITED.matcher(Repository.read(file));
                while (cited.find()) {
                    if (!Files.exists(Repository.ROOT.resolve(cited.group()))) {
                        complaints.add(Repository.name(file) + " cites " + cited.group());
                    }
                }
            }
        }
        assertThat(complaints).isEmpty();
    }

    @Test
    void aLinkThatLeadsNowhereIsFound() {
        var page = new Page("docs/made_up", """
                # One heading
                [right](law.md#rule-1-exclusion), [right](#one-heading), [elsewhere](https://example.org/#nothing)
                [no file](no-such-page.md), [no heading](law.md#no-such-rule), [not here](#another-heading)
                """);
        assertThat(complaintsAbout(page))
                .containsExactly(
                        "docs/made_up:3: no-such-page.md: there is no such file",
                        "docs/made_up:3: law.md#no-such-rule: docs/law.md has no such heading",
                        "docs/made_up:3: #another-heading: docs/made_up has no such heading");
    }

    private static List<String> complaintsAbout(Page page) {
        var complaints = new ArrayList<String>();
        for (Page.Link link : page.links()) {
            if (link.target().matches("[a-z]+:.*")) {
                continue;
            }
            String[] parts = link.target().split("#", 2);
            Path file = Repository.ROOT.resolve(page.name());
            if (!parts[0].isEmpty()) {
                file = file.resolveSibling(URLDecoder.decode(parts[0], StandardCharsets.UTF_8))
                        .normalize();
            }
            Page target = page;
            if (!parts[0].isEmpty()) {
                if (!Files.exists(file)) {
                    complaints.add(link.place() + ": " + link.target() + ": there is no such file");
                    continue;
                }
                target = parts.length == 2 ? Repository.page(Repository.name(file)) : page;
            }
            if (parts.length == 2 && !target.anchors().contains(parts[1])) {
                complaints.add(link.place() + ": " + link.target() + ": " + target.name() + " has no such heading");
            }
        }
        return complaints;
    }
}
