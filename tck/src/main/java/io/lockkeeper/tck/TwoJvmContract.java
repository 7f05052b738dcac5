// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

abstract class TwoJvmContract extends Contract {}
