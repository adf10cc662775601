// SPDX-License-Identifier: MIT
// One owner and its thieves: a line for each program (script.hpp says what the letters mean).
#include "script.hpp"

namespace runq::model {
namespace {

constexpr auto relaxed = std::memory_order::relaxed;

template <std::size_t Capacity>
using object_of = ring_of<Capacity, std::uint64_t, 0, order_judged::yes, form::one_object>;

const bool added[] = {
    // -- a thief that takes half into a ring of its own ---------------------------------------------------------------
    add_case<script<ring_of<2>, "", "ppg", steal>>({
        .name = "ring/push_vs_steal",
        .property = "every task runs exactly once, its contents visible, in FIFO order: push push pop ‖ steal-half",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "small enough for Relacy's full search",
    }),
    add_case<script<ring_of<2>, "p", "gpp", "t">>({
        .name = "ring/steal_one_vs_pop",
        .property = "every task runs exactly once, its contents visible, in FIFO order: pop push push ‖ steal of one",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a thief takes one task, not half",
    }),
    add_case<script<ring_of<4>, "", "[ppp]g", steal>>({
        .name = "ring/batch_vs_steal",
        .property = "a batch is published at once: a thief sees none of it or takes the older half of all of it",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push_batch.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a batch is published while a thief looks",
    }),
    add_case<script<ring_of<4>, "pp", "pd", "h">>({
        .name = "ring/drain_vs_steal",
        .property = "a drain and a thief share out the tasks: each exactly once, contents visible",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<script<ring_of<2>, "pp", "spp", "h">>({
        .name = "ring/shed_vs_steal",
        .property = "the older half of a full ring and a thief's half are disjoint: each task exactly once",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner sheds while a thief takes half",
    }),

    // -- what a thief may answer: "empty" only when the ring was, and within a bounded number of steps
    add_case<script<ring_of<4>, "pp", "pgg", "w!l!">>({
        .name = "ring/never_empty",
        .property = "a ring that is never empty is never called empty: push pop pop ‖ has_work, steal",
        .threads = 2,
        .mutants = {{"steal_head_relaxed", "ring.steal.head", relaxed}, {"claim_relaxed", "ring.pop.claim", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost",
    }),
    // shed_half moves the head by more than one.
    add_case<script<ring_of<4>, "pp", "[pp]s", "w!t!">>({
        .name = "ring/never_empty_shed",
        .property = "a ring that is never empty is never called empty: batch shed ‖ has_work, steal",
        .threads = 2,
        .mutants = {{"steal_head_relaxed", "ring.steal.head", relaxed},
                    {"shed_claim_relaxed", "ring.shed.claim", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost; the owner sheds",
    }),
    // A thief may read an old head and a new tail.
    add_case<script<ring_of<2>, "pp", "gpgp", "h">>({
        .name = "ring/steps_are_bounded",
        .property = "steal-half ends within its documented number of steps, whatever the owner does meanwhile",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief that retries for ever would be noticed",
    }),
    // The owner is idle: nothing can disturb the thief, so the count is exact.
    add_case<script<ring_of<4>, "ppp", "", "h+r">>({
        .name = "ring/exact_half",
        .property = "of three tasks a lone thief takes two",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "nobody disturbs the thief, so the number is exact",
    }),

    // -- the counters wrap around, and slots are used again, while a thief looks on
    add_case<script<ring_of<2, std::uint8_t, 254>, "", "ppgpg", steal>>({
        .name = "ring/wrap_around",
        .property = "every task runs exactly once, in FIFO order, while an 8-bit index passes from 255 to 0",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "an 8-bit index passes from 255 to 0",
    }),
    // The owner pushes into slots that the thief may be reading.
    add_case<script<ring_of<2>, "pp", "pp", "h">>({
        .name = "ring/slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner only pushes, into slots that the thief may read",
    }),
    // While the thief sleeps between its look and its claim, eight tasks pass.
    add_case<script<ring_of<2, narrow<4>>, "p", "gpgpgpgpgpgpgpgp", "t">>({
        .name = "ring/index_comes_back_4_bits",
        .property = "a thief's claim fails when the head has moved, by up to 15 tasks, since the thief looked",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "8 tasks pass while a thief sleeps",
    }),
    add_case<script<ring_of<2, narrow<3>>, "p", "gpgpgpgpgpgpgpgp", "t">>({
        .name = "ring/index_comes_back_3_bits",
        .property = "with a 3-bit index the head comes back after 8 tasks and a sleeping thief's claim succeeds: ABA",
        .threads = 2,
        .seeded_bug = true,
    }),

    // -- several thieves
    add_case<script<ring_of<2>, "", "ppgp", steal, steal>>({
        .name = "ring/two_thieves",
        .property = "two thieves and the owner together run every task exactly once",
        .threads = 3,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves meet",
    }),
    // The second thief steals from the first one.
    add_case<script<ring_of<4>, "", "pppg", "h", "h1r">>({
        .name = "ring/thief_of_a_thief",
        .property = "a thief of a thief sees the contents of the tasks that the first thief took over",
        .threads = 3,
        .mutants = {{"thief_publish_relaxed", "ring.steal.publish", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a third thread sees a task through two rings",
    }),
    // Two owners steal from each other: what was stolen comes behind what was there, so order cannot be judged.
    add_case<script<ring_of<4, std::uint64_t, 0, order_judged::no>, "pppp1", "h1g", "hp">>({
        .name = "ring/from_and_into",
        .property = "a ring may be stolen from while its owner steals into it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "two owners steal from each other",
    }),

    // -- a thief without a ring takes half into plain memory
    add_case<script<ring_of<2>, "", "ppg", "o">>({
        .name = "ring/half_to_memory_vs_push",
        .property = "every task runs exactly once, its contents visible, in FIFO order: push push pop ‖ half to memory",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "half to memory, the smallest program",
    }),
    add_case<script<ring_of<4>, "pp", "pgg", "u!">>({
        .name = "ring/half_to_memory_never_empty",
        .property = "a ring that is never empty is never called empty: push pop pop ‖ half to memory for one",
        .threads = 2,
        .mutants = {{"steal_head_relaxed", "ring.steal.head", relaxed}, {"claim_relaxed", "ring.pop.claim", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a wrong \"empty\" fails, although no task is lost; half to memory",
    }),
    // A thief may read an old head and a new tail.
    add_case<script<ring_of<2, std::uint8_t, 254>, "pp", "gpgp", "o">>({
        .name = "ring/half_to_memory_wraps_around",
        .property = "half to memory is half, in bounded steps, while an 8-bit index passes from 255 to 0",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "half to memory while the index wraps around",
    }),
    add_case<script<ring_of<2>, "pp", "pp", "o">>({
        .name = "ring/half_to_memory_slot_reuse",
        .property = "a thief never runs what the owner wrote into a slot after the thief had claimed it",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "the owner only pushes, into slots that the thief may read",
    }),
    add_case<script<ring_of<4>, "ppp", "pg", "o", steal>>({
        .name = "ring/half_to_memory_vs_thief",
        .property = "a thief with a ring, one without and the owner together run every task exactly once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "both kinds of thieves meet",
    }),
    // The owner is idle: nothing can disturb the thief, so the counts are exact.
    add_case<script<ring_of<4>, "pppp", "u+o+", "">>({
        .name = "ring/half_to_memory_is_half",
        .property = "of four tasks a lone thief with room for one takes one, and of the other three two",
        .threads = 2,
        .progress = progress_claim::lock_free,
        .kept_for = "nobody disturbs the thief: the number is exact",
    }),

    // -- one_object, without handles: the same algorithm, so the counts are those of the same programs above ----------
    // The program of ring/steal_one_vs_pop.
    add_case<script<object_of<2>, "p", "gpp", "t">>({
        .name = "ring/one_object",
        .property = "a one_object of a ring: every task runs exactly once, in FIFO order: pop push push ‖ steal",
        .threads = 2,
        .mutants = {{"publish_relaxed", "ring.push.publish", relaxed},
                    {"grab_tail_relaxed", "ring.steal.tail", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "steal_one_vs_pop without handles: the algorithm is the same",
    }),
    add_case<script<object_of<4>, "pp", "pgg", "w!t!">>({
        .name = "ring/one_object_never_empty",
        .property = "a one_object of a ring that is never empty is never called empty: push pop pop ‖ empty, steal",
        .threads = 2,
        .mutants = {{"steal_head_relaxed", "ring.steal.head", relaxed}, {"claim_relaxed", "ring.pop.claim", relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "empty() is asked instead of has_work()",
    }),
};

}  // namespace
}  // namespace runq::model
