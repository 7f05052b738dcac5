// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Histories of several processes of one machine, in files: each event is in its file before the thread that records it goes
 * on, so that what a process has seen is known though it was killed. All processes read the same monotonic clock
 * ({@link System#nanoTime()}, whose origin they share on the systems that these tools run on).
 */
public final class HistoryLog {
    private HistoryLog() {}

    /**
     * A history of this process that is appended to a file.
     *
     * @throws UncheckedIOException if the file cannot be written
     */
    public static History recording(Path file) {
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new History(System::nanoTime, 0, event -> append(channel, EventText.write(event) + "\n"));
    }

    /**
     * Appends to a file that a storage has accepted or refused a write. The storage calls this itself, in its own order.
     *
     * @param number of the write in this file, counted by the storage
     * @throws UncheckedIOException if the file cannot be written
     */
    public static void written(Path file, long number, String storage, HistoryMode mode, long token, boolean accepted) {
        Event event = new Event.Written(System.nanoTime(), number, storage, mode, token, accepted);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            append(channel, EventText.write(event) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void append(FileChannel channel, String line) {
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        try {
            synchronized (channel) {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * What several processes have recorded, as one history. The last line of a file may be incomplete, as a process leaves it
     * that was killed.
     *
     * @throws UncheckedIOException if a file cannot be read
     * @throws IllegalArgumentException if one contains something else
     */
    public static History merged(Collection<Path> files) {
        return merged(files, Map.of());
    }

    /**
     * The same, if some of the processes were killed: nobody has waited since then for the answers that they had not got.
     *
     * @param killed when, on the clock of the histories, by file
     * @throws UncheckedIOException if a file cannot be read
     * @throws IllegalArgumentException if one contains something else
     */
    public static History merged(Collection<Path> files, Map<Path, Long> killed) {
        List<List<String>> logs = new ArrayList<>();
        long origin = Long.MAX_VALUE;
        for (Path file : files) {
            List<String> lines = lines(file);
            logs.add(lines);
            for (String line : lines) {
                origin = Math.min(origin, EventText.read(line, 0, n -> n).at());
            }
        }
        History merged = new History(System::nanoTime, origin == Long.MAX_VALUE ? System.nanoTime() : origin, e -> {});
        int i = 0;
        for (Path file : files) {
            long number = i;
            Set<Long> open = new HashSet<>();
            for (String line : logs.get(i++)) {
                Event event = EventText.read(line, origin, n -> n * logs.size() + number);
                merged.add(event);
                if (event instanceof Event.Invoked e) {
                    open.add(e.operation());
                } else if (event instanceof Event.Returned e) {
                    open.remove(e.operation());
                }
            }
            Long end = killed.get(file);
            if (end != null) {
                long at = end - origin;
                open.forEach(operation -> merged.add(new Event.Abandoned(at, operation)));
            }
        }
        return merged;
    }

    private static List<String> lines(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int end = text.lastIndexOf('\n');
        return end < 0 ? List.of() : text.substring(0, end).lines().toList();
    }
}
