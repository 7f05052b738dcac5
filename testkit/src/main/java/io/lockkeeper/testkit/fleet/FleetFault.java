// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit.fleet;

/** A fault of a store, which can be repaired again. */
public interface FleetFault {
    /** Its name, for the report. */
    String name();

    /** Causes the fault. */
    void inflict() throws Exception;

    /** Repairs it; called once after each {@link #inflict()}, even if that failed. */
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
        /** Carries it out. */
        void run() throws Exception;
    }
}
