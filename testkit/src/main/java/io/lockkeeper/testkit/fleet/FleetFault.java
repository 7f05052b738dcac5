// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

/** Something that goes wrong with a store, and can be mended again. */
public interface FleetFault {
    /** What it is, for the report. */
    String name();

    /** Lets it go wrong. */
    void inflict() throws Exception;

    /** Mends it; called once after each {@link #inflict()}, even if that failed. */
    void heal() throws Exception;

    /** A fault made of two actions. */
    static FleetFault of(String name, Action inflict, Action heal) {
        return new FleetFault() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public void inflict() throws Exception {
                inflict.run();
            }

            @Override
            public void heal() throws Exception {
                heal.run();
            }
        };
    }

    /** A part of a fault. */
    interface Action {
        /** Does it. */
        void run() throws Exception;
    }
}
