// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import io.lockkeeper.Lease;
import java.util.LinkedHashMap;
import java.util.Map;

/** What {@code acquire} prints: commands of any POSIX shell, in one line as long as the name has none. */
final class ShellText {
    private final Lease lease;
    private final HoldFolder folder;
    private final String mark;

    ShellText(Lease lease, HoldFolder folder, String mark) {
        this.lease = lease;
        this.folder = folder;
        this.mark = mark;
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
        fields.put(
                HoldFolder.VARIABLE, appended(HoldFolder.VARIABLE, folder.path().toString()));
        fields.put(ProcessTree.MARKS, appended(ProcessTree.MARKS, mark));
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

    private static String appended(String variable, String value) {
        return "\"${" + variable + ":+$" + variable + ":}\"" + quoted(value);
    }

    static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
