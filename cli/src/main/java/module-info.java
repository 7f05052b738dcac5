// SPDX-License-Identifier: Apache-2.0
/** The command line. */
module io.lockkeeper.cli {
    requires io.lockkeeper.core;
    requires static org.jspecify;
    requires info.picocli;
    requires jdk.unsupported;

    uses io.lockkeeper.spi.StoreProvider;

    opens io.lockkeeper.cli to
            info.picocli;

    provides System.LoggerFinder with
            io.lockkeeper.cli.Warnings;
}
