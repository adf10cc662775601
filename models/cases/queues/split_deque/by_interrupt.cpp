// SPDX-License-Identifier: MIT
// Programs of pop_vs_steal.cpp, with fences by interrupt (interrupt.hpp): what membarrier_atomics relies on.
#include "deque_of.hpp"
#include "interrupted_script.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<interrupted_script<deque_of<2, 0>, "p", "g", "o">>({
        .name = "split_deque/interrupt_last_one",
        .property = "owner and thief never both get the last task; fences by interrupt",
        .threads = 2,
        .kept_for = "last_one with fences by interrupt",
    }),
    add_case<interrupted_script<deque_of<4, 0>, "pp", "gpg", "o">>({
        .name = "split_deque/interrupt_seized",
        .property = "a thief takes half of the private tasks while the owner pushes and pops; fences by interrupt",
        .threads = 2,
        .kept_for = "seized with fences by interrupt",
    }),
    add_case<interrupted_script<deque_of<4, 0>, "ppp", "gg", "o">>({
        .name = "split_deque/interrupt_seized_to_the_last",
        .property = "owner and thief share out three private tasks; fences by interrupt",
        .threads = 2,
        .kept_for = "seized_to_the_last with fences by interrupt",
    }),
    add_case<interrupted_script<deque_of<2, 0>, "p", "g", "t", "t">>({
        .name = "split_deque/interrupt_two_thieves",
        .property = "two thieves that want the last task, and the owner: one gets it; fences by interrupt",
        .threads = 3,
        .kept_for = "two_thieves with fences by interrupt",
    }),
};

}  // namespace
}  // namespace runq::model
