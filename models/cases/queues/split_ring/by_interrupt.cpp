// SPDX-License-Identifier: MIT
// Programs of owner_vs_thieves.cpp, with fences by interrupt (interrupt.hpp): what membarrier_atomics relies on. They
// run there with fences of the language, too, because neither model covers the other. Fences of the language order more
// than the kernel promises: light fences among themselves. They also order less: they do not make the owner's accesses
// happen before the thief's.
#include "interrupted_script.hpp"
#include "ring_of.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<interrupted_script<ring_of<2, 2>, "ppg", "g", "o">>({
        .name = "split_ring/interrupt_last_of_the_run",
        .property = "owner and thief never both get the last task of the owner's run; fences by interrupt",
        .threads = 2,
        .kept_for = "last_of_the_run with fences by interrupt",
    }),
    add_case<interrupted_script<ring_of<4, 4>, "pppg", "gg", "o">>({
        .name = "split_ring/interrupt_run_seized",
        .property = "a thief takes half of the owner's run while the owner pops it; fences by interrupt",
        .threads = 2,
        .kept_for = "run_seized with fences by interrupt",
    }),
    add_case<interrupted_script<ring_of<4, 4>, "pgp", "pp", "o">>({
        .name = "split_ring/interrupt_pushed_while_seized",
        .property = "a thief sees the contents of what was pushed while it seized the run; fences by interrupt",
        .threads = 2,
        .kept_for = "pushed_while_seized with fences by interrupt",
    }),
    add_case<interrupted_script<ring_of<4, 3>, "ppppgt", "gg", "o">>({
        .name = "split_ring/interrupt_behind_a_gap",
        .property =
            "the rest of a run is taken once after thieves have taken the tasks that followed it; fences by interrupt",
        .threads = 2,
        .kept_for = "behind_a_gap with fences by interrupt",
    }),
    add_case<interrupted_script<ring_of<4, 4>, "pppg", "", "a">>({
        .name = "split_ring/interrupt_passive_owner",
        .property = "a lone thief takes everything from an owner that has ended; fences by interrupt",
        .threads = 2,
        .kept_for = "the owner has ended",
    }),
    add_case<interrupted_script<ring_of<2, 2>, "ppg", "g", "t", "t">>({
        .name = "split_ring/interrupt_two_thieves",
        .property = "two thieves that want the owner's run, and the owner: each task runs once; fences by interrupt",
        .threads = 3,
        .kept_for = "two thieves want the run",
    }),
};

}  // namespace
}  // namespace runq::model
