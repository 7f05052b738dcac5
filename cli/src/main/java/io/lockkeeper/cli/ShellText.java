// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code acquire} prints: commands of any POSIX shell, in one line as long as the name has none. */
final class ShellText {
    /** Before the name of a variable: the system property that has its value in the shell that asks. */
    static final String BEFORE = "lockkeeper.before.";

    /** What the marks of holds begin with, in contrast to those of runs. */
    private static final String MARK = "hold-";

    private final Lease lease;
    private final HoldFolder folder;
    private final String mark;

    ShellText(Lease lease, HoldFolder folder, String mark) {
        this.lease = lease;
        this.folder = folder;
        this.mark = mark;
    }

    /** A mark for what a shell starts while it holds a lock; see {@link ProcessTree}. */
    static String newMark() {
        return MARK + ProcessTree.newMark();
    }

    /** The variables, and the shell's pid to the holder: last, so that its failure is the failure of all. */
    String evaluated() {
        return assignments() + " && echo \"$$\" >" + quoted(folder.shellFile().toString());
    }

    String assignments() {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("LOCKKEEPER_NAME", quoted(lease.name()));
        fields.put("LOCKKEEPER_TOKEN", quoted(Long.toString(lease.token())));
        fields.put("LOCKKEEPER_SEQUENCER", quoted(lease.sequencer().toString()));
        List<HoldFolder> others = others();
        fields.put(
                HoldFolder.VARIABLE,
                listed(
                        others.stream().map(other -> other.path().toString()),
                        folder.path().toString()));
        Set<String> held =
                others.stream().flatMap(other -> other.mark().stream()).collect(Collectors.toSet());
        fields.put(
                ProcessTree.MARKS,
                listed(before(ProcessTree.MARKS).filter(each -> !each.startsWith(MARK) || held.contains(each)), mark));
        StringBuilder text = new StringBuilder();
        fields.forEach(
                (name, value) -> text.append(name).append('=').append(value).append(' '));
        return text.toString().stripTrailing() + "; export " + String.join(" ", fields.keySet());
    }

    String json() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", lease.name());
        fields.put("token", Long.toString(lease.token()));
        fields.put("sequencer", lease.sequencer().toString());
        fields.put("hold", folder.path().toString());
        return Json.text(fields);
    }

    /** The holds of the shell that are left: those that were released or lost would make its environment grow without end. */
    private static List<HoldFolder> others() {
        return before(HoldFolder.VARIABLE)
                .map(path -> new HoldFolder(Path.of(path)))
                .filter(HoldFolder::exists)
                .toList();
    }

    private static Stream<String> before(String variable) {
        return Arrays.stream(System.getProperty(BEFORE + variable, "").split(":"))
                .filter(each -> !each.isEmpty());
    }

    private static String listed(Stream<String> others, String last) {
        return quoted(Stream.concat(others, Stream.of(last)).collect(Collectors.joining(":")));
    }

    static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
