// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where people read: standard output or error. Colours only on a terminal, unless {@code NO_COLOR} is set. The launcher
 * says which streams are terminals, as Java can tell only whether all of them are.
 */
final class Terminal {
    static final Terminal OUT = new Terminal('o', FileDescriptor.out);
    static final Terminal ERR = new Terminal('e', FileDescriptor.err);

    private final boolean isTerminal;
    private final Output file;
    private final PrintStream stream;

    private Terminal(char letter, FileDescriptor descriptor) {
        this.isTerminal = System.getProperty("lockkeeper.terminals", "").indexOf(letter) >= 0;
        this.file = new Output(descriptor);
        this.stream = new PrintStream(file, letter == 'e', StandardCharsets.UTF_8);
    }

    boolean isTerminal() {
        return isTerminal;
    }

    boolean hasColours() {
        String no = System.getenv("NO_COLOR");
        return isTerminal && (no == null || no.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
    }

    String bold(String text) {
        return paint("1", text);
    }

    String dim(String text) {
        return paint("2", text);
    }

    String red(String text) {
        return paint("31", text);
    }

    private String paint(String code, String text) {
        return hasColours() && !text.isEmpty() ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }

    void print(String text) {
        stream.print(text);
    }

    /** Writes what is left; answers why something was not written, unless nobody wants to read it. */
    Optional<String> flush() {
        stream.flush();
        return Optional.ofNullable(file.failure).filter(why -> !why.contains("Broken pipe"));
    }

    /** Remembers what a print stream keeps to itself. */
    private static final class Output extends FilterOutputStream {
        private volatile @Nullable String failure;

        Output(FileDescriptor descriptor) {
            super(new FileOutputStream(descriptor));
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                out.write(bytes, from, length);
            } catch (IOException e) {
                failure = String.valueOf(e.getMessage());
                throw e;
            }
        }
    }

    /** Prints a line; answers whether somebody still reads. */
    boolean println(String line) {
        stream.println(line);
        return !stream.checkError();
    }

    /** Says on standard error what is wrong, without any secret. */
    static void complain(String message) {
        ERR.println(ERR.red("lockkeeper:") + " " + Text.safeLines(Secrets.hide(message)));
    }

    /** Whether to say more, for those who look for a bug. */
    static boolean isVerbose() {
        return System.getenv("LOCKKEEPER_DEBUG") != null;
    }

    static void trace(Throwable e) {
        StringWriter text = new StringWriter();
        e.printStackTrace(new PrintWriter(text));
        ERR.print(Secrets.hide(text.toString()));
    }
}
