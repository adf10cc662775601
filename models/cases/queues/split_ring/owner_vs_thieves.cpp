// SPDX-License-Identifier: MIT
// One owner and its thieves: a line for each program (split_script.hpp says what the letters mean).
#include "ring_of.hpp"

namespace runq::model {
namespace {

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acq_rel = std::memory_order::acq_rel;

const bool added[] = {
    // -- public tasks -------------------------------------------------------------------------------------------------
    add_case<script<ring_of<2, 1>, "", "pppg", "h">>({
        .name = "split_ring/push_vs_steal",
        .property = "every task runs exactly once, its contents visible, oldest first: push push push pop ‖ steal-half",
        .threads = 2,
        .mutants = {{"publish_relaxed", "split_ring.push.publish", relaxed},
                    {"steal_tail_relaxed", "split_ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<script<ring_of<2, 1>, "", "bgb", "o">>({
        .name = "split_ring/batch_vs_steal",
        .property = "a thief sees the tasks of a batch that it takes, and the pusher keeps what does not fit",
        .threads = 2,
        .mutants = {{"batch_publish_relaxed", "split_ring.push_batch.publish", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "tasks are pushed as a batch",
    }),
    add_case<script<ring_of<2, 1>, "pp", "gpgp", "o">>({
        .name = "split_ring/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief reads slots while the owner pushes",
    }),
    add_case<script<ring_of<4, 2>, "pp", "pgg", "w!o!">>({
        .name = "split_ring/never_empty",
        .property = "a ring that is never empty is never called empty: push pop pop ‖ has_work, steal",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost",
    }),

    add_case<script<ring_of<4, 4>, "pgp", "pgpg", "w!t!">>({
        .name = "split_ring/never_empty_run",
        .property = "a ring whose tasks are all in the owner's run is not called empty: push pop push pop ‖ ask, steal",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost; all tasks are in the owner's run",
    }),
    add_case<script<ring_of<2, 1, 0xFFFF'FFFE>, "", "ppgppg", "o">>({
        .name = "split_ring/wrap_around",
        .property = "every task runs exactly once while the index passes from 2^32-1 to 0, and its lower half, too",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the index passes from 2^32-1 to 0",
    }),
    add_case<script<ring_of<4, 2>, "pp", "gpgg", "oo">>({
        .name = "split_ring/nothing_is_left",
        .property = "an owner that finds everything stolen opens a run, and what it pushes then is taken once",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "everything was stolen",
    }),
    // Two owners steal from each other.
    add_case<script<ring_of<4, 2>, "pppp", "gh1", "kg">>({
        .name = "split_ring/from_and_into",
        .property = "a ring may be stolen from while its owner steals into it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "two owners steal from each other",
    }),

    // -- the owner's run ----------------------------------------------------------------------------------------------
    add_case<script<ring_of<2, 2>, "ppg", "g", "o">>({
        .name = "split_ring/last_of_the_run",
        .property = "owner and thief never both get the last task of the owner's run",
        .threads = 2,
        .mutants = {{"pop_fence_acq_rel", "split_ring.pop.fence", acq_rel},
                    {"seize_fence_acq_rel", "split_ring.seize.fence", acq_rel}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<script<ring_of<4, 4>, "pppg", "gg", "oo">>({
        .name = "split_ring/run_seized",
        .property = "a thief takes half of the owner's run, and the rest, while the owner pops it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief takes half of the run",
    }),
    add_case<script<ring_of<4, 2>, "pg", "pgpg", "o">>({
        .name = "split_ring/run_beyond_the_tail",
        .property = "tasks that are pushed into the owner's run are taken once, by the owner or by a thief",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner pushes into its run",
    }),
    // The owner pushes into its run while the thief seizes it.
    add_case<script<ring_of<4, 4>, "pgp", "pp", "o">>({
        .name = "split_ring/pushed_while_seized",
        .property = "a thief that finds more in the run when it seizes it than when it asked sees their contents",
        .threads = 2,
        .mutants = {{"seize_tail_relaxed", "split_ring.seize.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a thief seizes more than it asked for",
    }),
    add_case<script<ring_of<2, 2>, "ppg", "gpp", "o">>({
        .name = "split_ring/slot_of_the_run_reused",
        .property = "a thief never runs what the owner wrote into a slot of its run after the thief had seized it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief reads slots of the run while the owner pushes",
    }),
    add_case<script<ring_of<4, 2>, "ppppg", "gg", "ooo">>({
        .name = "split_ring/behind_a_gap",
        .property = "the rest of a run is taken once after thieves have taken the tasks that followed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "thieves have taken what followed the run",
    }),
    // What a steal of one takes behind a gap is the newest task of the run, so that the others stay next to each other.
    add_case<script<ring_of<4, 3>, "ppppgt", "g", "t", "t">>({
        .name = "split_ring/two_thieves_behind_a_gap",
        .property = "two thieves that take one task each from a run behind a gap, and the owner: each task runs once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "each of two thieves takes one",
    }),
    // A thief that asks first looks whether the owner answers, and a steal is tried twice.
    add_case<script<ring_of<4, 4, 0, 2, 1>, "pppg", "gg", "t">>({
        .name = "split_ring/patient_thief",
        .property = "a thief that waits for an answer of the owner gets a task of the run once",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief waits for the owner's answer",
    }),

    // -- the tag of the shared word. A thief sleeps before its claim; the owner withdraws the request; another thief
    // asks.
    add_case<script<ring_of<4, 3>, "ppppgt", "g", "o", "t">>({
        .name = "split_ring/asked_twice",
        .property = "a thief's claim fails when another request has taken the place of its own",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a request takes the place of another one",
    }),
    add_case<script<ring_of<4, 3, 0, 1, 0, 1>, "ppppgt", "g", "o", "t">>({
        .name = "split_ring/asked_twice_1_bit",
        .property =
            "with a tag of one bit the word is the same after two changes and a sleeping thief's claim succeeds",
        .threads = 3,
        .seeded_bug = true,
    }),

    // -- the owner does nothing, so the counts are exact
    add_case<script<ring_of<4, 2>, "ppppg", "", "a">>({
        .name = "split_ring/passive_owner",
        .property = "a lone thief takes everything from an owner that does nothing",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner does nothing",
    }),

    // -- several thieves
    add_case<script<ring_of<2, 1>, "pp", "g", "o", "o">>({
        .name = "split_ring/two_thieves",
        .property = "two thieves and the owner together run every task exactly once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves take public tasks",
    }),
    // The second thief steals from the first one.
    add_case<script<ring_of<4, 1>, "", "pppg", "k", "o1">>({
        .name = "split_ring/thief_of_a_thief",
        .property = "a thief of a thief sees the contents of the tasks that the first thief took over",
        .threads = 3,
        .mutants = {{"thief_publish_relaxed", "split_ring.steal.publish", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a third thread sees a task through two rings",
    }),
    add_case<script<ring_of<2, 2>, "ppg", "g", "t", "t">>({
        .name = "split_ring/two_thieves_of_a_run",
        .property = "two thieves that want the owner's run, and the owner: each task runs exactly once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves want the run",
    }),
    // Thread 1 may stop for ever at any of its steps: the last thread must get a task all the same.
    add_case<script<ring_of<4, 4>, "pppg", "", "t", "t+">>({
        .name = "split_ring/frozen_thief",
        .property = "a thief that stops in the middle of a steal keeps no other thief from the run of a passive owner",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief that stops must hold nobody up",
    }),

    // -- one_object, without handles: the same algorithm, so the counts are those of the same programs above ----------
    // As split_ring/batch_vs_steal.
    add_case<script<object_of<ring_of<2, 1>>, "", "bgb", "o">>({
        .name = "split_ring/one_object",
        .property = "a one_object of a ring: a thief sees the tasks of a batch that it takes, and no task is lost",
        .threads = 2,
        .mutants = {{"batch_publish_relaxed", "split_ring.push_batch.publish", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "batch_vs_steal without handles: the algorithm is the same",
    }),
    add_case<script<object_of<ring_of<4, 4>>, "pgp", "pgpg", "w!t!">>({
        .name = "split_ring/one_object_never_empty",
        .property = "a one_object of a ring whose tasks are all in the owner's run is not called empty",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "never_empty_run without handles: the algorithm is the same",
    }),
    // When it is moved, the run has a task, thieves have taken the one behind it, and another one is public.
    add_case<script<object_of<ring_of<4, 2, 0xFFFF'FFFE>>, "ppppgtm", "pgg", "o">>({
        .name = "split_ring/one_object_moved",
        .property =
            "a one_object of a ring is moved while no thread uses it, and keeps its tasks and who may take which",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
