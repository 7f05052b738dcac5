// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

abstract class NoOrphansContract extends Contract {}
