// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.testkit;

import io.lockkeeper.StoreUnavailableException;
import java.util.function.Supplier;

/** What goes wrong with one step of a {@link FaultyStore}. */
interface StepFault {
    /** Carries the step out, or not, and answers or fails. */
    <T> T apply(Supplier<T> step);

    /** The request is lost: the step is not carried out. */
    static StepFault requestLost() {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw unavailable("the request was lost");
            }
        };
    }

    /** The step fails with this, which may be anything, and is not carried out. */
    static StepFault failure(Throwable failure) {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw StepFault.<RuntimeException>undeclared(failure);
            }
        };
    }

    /** The step is carried out, and then fails with this, which may be anything. */
    static StepFault failureAfter(Throwable failure) {
        return new StepFault() {
            @Override
            @SuppressWarnings("ReturnValueIgnored") // the answer is lost
            public <T> T apply(Supplier<T> step) {
                T unused = step.get();
                throw StepFault.<RuntimeException>undeclared(failure);
            }
        };
    }

    /** The step is carried out, and its answer is lost. */
    static StepFault replyLost() {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                throw unavailable("the reply was lost: " + step.get());
            }
        };
    }

    /** The step waits at the gate before it is carried out. */
    static StepFault pauseBefore(Gate gate) {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                gate.pass();
                return step.get();
            }
        };
    }

    /** The step is carried out, and its answer waits at the gate. */
    static StepFault pauseAfter(Gate gate) {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                T answer = step.get();
                gate.pass();
                return answer;
            }
        };
    }

    /** The step is carried out, its answer waits at the gate, and is lost there. */
    static StepFault replyLostAfter(Gate gate) {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                T answer = step.get();
                gate.pass();
                throw unavailable("the reply was lost: " + answer);
            }
        };
    }

    /** The step fails for its sender, and is on its way to the store until {@code late} delivers it. */
    static StepFault sentLate(LateStep late) {
        return new StepFault() {
            @Override
            public <T> T apply(Supplier<T> step) {
                late.send(step);
                throw unavailable("no answer in time");
            }
        };
    }

    /** The exception of a step that was made to fail. */
    static StoreUnavailableException unavailable(String why) {
        return new StoreUnavailableException("injected: " + why, null);
    }

    /** Throws anything where the compiler expects an unchecked exception; it never returns. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E undeclared(Throwable failure) throws E {
        throw (E) failure;
    }
}
