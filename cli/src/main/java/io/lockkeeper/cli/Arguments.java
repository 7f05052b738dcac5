// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Our arguments as UTF-8. Java reads them by the locale, and replaces what it cannot read; on
 * Linux the kernel has them as they were. (macOS is always UTF-8.)
 */
final class Arguments {
    private static final Path KERNELS = Path.of("/proc/self/cmdline");

    private Arguments() {}

    static String[] exact(String[] args) {
        if (Arrays.stream(args).allMatch(a -> a.chars().allMatch(c -> c < 0x80))) {
            return args;
        }
        String all;
        try {
            all = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(Files.readAllBytes(KERNELS)))
                    .toString();
        } catch (CharacterCodingException e) {
            // Java would pass on something other than it was given.
            throw new Failure(Exit.USAGE, "an argument is not valid UTF-8");
        } catch (IOException e) {
            return args;
        }
        List<String> words = Arrays.asList(all.split("\0", -1)); // each ends with a zero, so that the last is empty
        int end = words.size() - 1;
        return words.subList(end - args.length, end).toArray(String[]::new);
    }
}
