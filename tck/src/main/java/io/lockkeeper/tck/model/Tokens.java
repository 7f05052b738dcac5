// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck.model;

import io.lockkeeper.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tokens of a script's names, as the model and as the store has them. They differ, but are in the same order: those of
 * conflicting holds rise as the model's do, those of holds that may coexist are unique.
 */
final class Tokens {
    private final boolean fenced;
    private final Map<Integer, List<Seen>> ofNames = new HashMap<>();
    private final Map<Integer, List<Floor>> floors = new HashMap<>();

    /** Tokens that the model gave out above {@code model} are above {@code store} in the store. */
    private record Floor(long model, long store) {}

    /** A hold's token with what is known of the block that begins there. */
    private record Seen(int hold, Mode mode, long model, long store, int block) {
        long last() {
            return store + block - 1;
        }

        boolean conflictsWith(Mode other) {
            return mode == Mode.EXCLUSIVE || other == Mode.EXCLUSIVE;
        }

        boolean disjoint(long first, long last) {
            return last < store || last() < first;
        }
    }

    Tokens(boolean fenced) {
        this.fenced = fenced;
    }

    /** A hold was shown with these tokens; the block is 1 where it was not told. */
    void seen(int name, int hold, Mode mode, long model, long store, int block) {
        List<Seen> all = ofNames.computeIfAbsent(name, n -> new ArrayList<>());
        ScriptMismatch.unless(store > 0, "token " + store + " is not positive");
        boolean ofOwnBlock = false;
        for (Seen other : all) {
            if (other.hold == hold && other.model == model) {
                ScriptMismatch.unless(
                        other.store == store,
                        "the hold of claim " + hold + " had token " + other.store + ", now " + store);
                if (other.block < block) {
                    all.remove(other);
                    break;
                }
                return;
            } else if (other.hold == hold) {
                ScriptMismatch.unless(
                        other.model < model == other.store < store,
                        "the token of claim " + hold + " went from " + other.store + " to " + store);
                ofOwnBlock |= !other.disjoint(store, store);
            }
        }
        if (fenced && !ofOwnBlock) {
            for (Floor floor : floors.getOrDefault(name, List.of())) {
                ScriptMismatch.unless(
                        model <= floor.model || store > floor.store,
                        "token " + store + " is not above " + floor.store + ", to which tokens were raised");
            }
            requireOrder(all, hold, mode, model, store, store + block - 1);
        }
        all.add(new Seen(hold, mode, model, store, block));
    }

    private static void requireOrder(List<Seen> all, int hold, Mode mode, long model, long first, long last) {
        for (Seen other : all) {
            if (other.hold == hold) {
                continue;
            }
            String both = "tokens " + first + ".." + last + " of claim " + hold + " and " + other.store + ".."
                    + other.last() + " of claim " + other.hold;
            ScriptMismatch.unless(other.disjoint(first, last), both + " overlap");
            ScriptMismatch.unless(
                    !other.conflictsWith(mode) || other.model < model == other.store < first,
                    both + " are not in the order of the holds");
        }
    }

    /** Later tokens of the name are to be greater. */
    void raised(int name, long model, long store) {
        floors.computeIfAbsent(name, n -> new ArrayList<>()).add(new Floor(model, store));
    }
}
