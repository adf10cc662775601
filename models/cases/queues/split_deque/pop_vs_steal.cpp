// SPDX-License-Identifier: MIT
// One owner and its thieves: a line for each program (split_script.hpp says what the letters mean).
#include "deque_of.hpp"

namespace runq::model {
namespace {

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acq_rel = std::memory_order::acq_rel;

const bool added[] = {
    // -- public tasks -------------------------------------------------------------------------------------------------
    add_case<script<deque_of<4, 2>, "", "pppg", "o">>({
        .name = "split_deque/push_vs_steal",
        .property = "every task runs exactly once, its contents visible, from both ends: push push push pop ‖ steal",
        .threads = 2,
        .mutants = {{"change_relaxed", "split_deque.slow.change", relaxed},
                    {"steal_word_relaxed", "split_deque.steal.word", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program with public tasks",
    }),
    add_case<script<deque_of<2, 2>, "pp", "ppg", "o">>({
        .name = "split_deque/full",
        .property = "a push into a full deque says no, and a slot is used again only when its task has been taken",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a push is refused",
    }),
    // The last push writes to the slot of the task that the thief takes.
    add_case<script<deque_of<4, 2>, "ppp", "pp", "t">>({
        .name = "split_deque/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief reads slots while the owner pushes",
    }),
    add_case<script<deque_of<4, 2>, "ppp", "ggg", "o">>({
        .name = "split_deque/taken_back",
        .property = "the owner takes public tasks back while a thief takes them",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner takes public tasks back",
    }),
    add_case<script<deque_of<2, 2, 0xFFFF'FFFE>, "", "ppgppg", "o">>({
        .name = "split_deque/wrap_around",
        .property = "every task runs exactly once while the index passes from 2^32-1 to 0, and its lower half, too",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the index passes from 2^32-1 to 0",
    }),
    add_case<script<deque_of<4, 2>, "pp", "pg", "w!t!">>({
        .name = "split_deque/never_empty",
        .property = "a deque that is never empty is never called empty: push pop ‖ has_work, steal",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost",
    }),
    add_case<script<deque_of<2, 2>, "", "gpg", "t">>({
        .name = "split_deque/pop_on_empty",
        .property = "a pop from an empty deque at index 0 finds nothing and breaks nothing",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the deque is empty, and its index 0",
    }),
    // Two owners steal from each other.
    add_case<script<deque_of<4, 2>, "pppp", "gh1", "kg">>({
        .name = "split_deque/from_and_into",
        .property = "a deque may be stolen from while its owner steals into it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "two owners steal from each other",
    }),

    // -- private tasks: nothing is made public unless a thief asks ----------------------------------------------------
    add_case<script<deque_of<2, 0>, "p", "g", "o">>({
        .name = "split_deque/last_one",
        .property = "owner and thief never both get the last task",
        .threads = 2,
        .mutants = {{"pop_fence_acq_rel", "split_deque.pop.fence", acq_rel},
                    {"seize_fence_acq_rel", "split_deque.seize.fence", acq_rel}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<script<deque_of<4, 0>, "pp", "gpgg", "oo">>({
        .name = "split_deque/seized",
        .property = "a thief takes half of the private tasks, and the rest, while the owner pushes and pops",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner pushes while a thief seizes",
    }),
    add_case<script<deque_of<4, 0>, "ppp", "gg", "ooo">>({
        .name = "split_deque/seized_to_the_last",
        .property = "owner and thief share out three private tasks",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "no task is left private",
    }),
    add_case<script<deque_of<4, 0>, "p", "pp", "o">>({
        .name = "split_deque/pushed_while_seized",
        .property = "a thief that finds more when it seizes than when it asked sees their contents",
        .threads = 2,
        .mutants = {{"publish_relaxed", "split_deque.push.publish", relaxed},
                    {"seize_tail_relaxed", "split_deque.seize.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a thief seizes more than it asked for",
    }),
    add_case<script<deque_of<4, 0>, "ppp", "g", "t", "t">>({
        .name = "split_deque/two_thieves",
        .property = "two thieves that want private tasks, and the owner: each task runs exactly once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves want private tasks",
    }),
    add_case<script<deque_of<4, 0>, "", "ppp", "o", "o">>({
        .name = "split_deque/what_a_thief_makes_public",
        .property = "a thief sees the contents of the tasks that another thief made public",
        .threads = 3,
        .mutants = {{"seize_claim_relaxed", "split_deque.seize.claim", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a third thread sees a task through two others",
    }),
    // The second thief steals from the first one.
    add_case<script<deque_of<4, 2>, "", "pppp", "k", "o1">>({
        .name = "split_deque/thief_of_a_thief",
        .property = "a thief of a thief sees the contents of the tasks that the first thief took over",
        .threads = 3,
        .progress = progress_claim::lock_free,
    }),
    // Thread 1 may stop for ever at any of its steps: the last thread must get a task all the same.
    add_case<script<deque_of<4, 0>, "ppp", "", "t", "t+">>({
        .name = "split_deque/frozen_thief",
        .property =
            "a thief that stops in the middle of a steal keeps no other thief from the tasks of a passive owner",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief that stops must hold nobody up",
    }),
    add_case<script<deque_of<4, 0, 0, 2, 1>, "pp", "gpg", "t">>({
        .name = "split_deque/patient_thief",
        .property = "a thief that waits for an answer of the owner gets a private task once",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief waits for the owner's answer",
    }),
    add_case<script<deque_of<4, 0>, "pppp", "", "a">>({
        .name = "split_deque/passive_owner",
        .property = "a lone thief takes everything from an owner that does nothing",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner does nothing",
    }),

    // -- the tag of the shared word. A thief sleeps before its claim of the oldest; the owner takes the tasks back, and
    // publishes others.
    add_case<script<deque_of<4, 2>, "ppp", "gggppp", "t">>({
        .name = "split_deque/published_twice",
        .property = "a thief's claim fails when other tasks have been made public at the same place",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "other tasks are made public at the same place",
    }),
    add_case<script<deque_of<4, 2, 0, 1, 0, 1>, "ppp", "gggppp", "t">>({
        .name = "split_deque/published_twice_1_bit",
        .property =
            "with a tag of one bit the word is the same after two changes and a sleeping thief's claim succeeds",
        .threads = 2,
        .seeded_bug = true,
    }),

    // -- one_object, without handles: the same algorithm, so the counts are those of the same programs above ----------
    // As split_deque/push_vs_steal.
    add_case<script<object_of<deque_of<4, 2>>, "", "pppg", "o">>({
        .name = "split_deque/one_object",
        .property = "a one_object of a deque: every task runs exactly once, its contents visible, from both ends",
        .threads = 2,
        .mutants = {{"change_relaxed", "split_deque.slow.change", relaxed},
                    {"steal_word_relaxed", "split_deque.steal.word", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "push_vs_steal without handles: the algorithm is the same",
    }),
    add_case<script<object_of<deque_of<4, 2>>, "pp", "pg", "w!t!">>({
        .name = "split_deque/one_object_never_empty",
        .property = "a one_object of a deque that is never empty is never called empty",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "never_empty without handles: the algorithm is the same",
    }),
    // When it is moved, the oldest task is taken, the next one is public, and two are private; the last push says no.
    add_case<script<object_of<deque_of<4, 2, 0xFFFF'FFFE>>, "ppptpm", "ppg", "o">>({
        .name = "split_deque/one_object_moved",
        .property =
            "a one_object of a deque is moved while no thread uses it, and keeps its tasks and which are public",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
