// SPDX-License-Identifier: Apache-2.0

module smoke {
    requires io.lockkeeper.core;
}
