// SPDX-License-Identifier: MIT
// A fork, as in in_order.cpp, and a task that yields, as in yields.cpp, with fences by interrupt (interrupt.hpp) in
// park and in the fork deques.
#include "interrupt.hpp"
#include "vs_last_spinner.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<interrupted<fork_vs_last_spinner<chase_lev_of<interrupt_atomics>>, 2>>({
        .name = "machine_loop/interrupt_fork",
        .property = "a fork is found: fork ‖ the last spinning machine goes idle; fences by interrupt",
        .threads = 2,
        .kept_for = "fences by interrupt: its fences are park's, which the mutant park/idle_by_a_light_fence breaks",
    }),
    add_case<interrupted<fork_vs_last_spinner<split_deque_of<interrupt_atomics>>, 2>>({
        .name = "machine_loop/interrupt_fork_in_a_split_deque",
        .property = "a fork in a split_deque is found: fork ‖ the last spinning machine goes idle; fences by interrupt",
        .threads = 2,
        .kept_for = "fences by interrupt: its fences are park's and split_deque's, which have mutants there",
    }),
    add_case<interrupted<fork_vs_doze<chase_lev_of<interrupt_atomics>>, 2>>({
        .name = "machine_loop/interrupt_fork_vs_doze",
        .property = "a fork is found: fork ‖ the last spinning machine dozes; fences by interrupt",
        .threads = 2,
        .kept_for = "fences by interrupt: its fences are park's, which the mutant park/idle_by_a_light_fence breaks",
    }),
    add_case<interrupted<yield_vs_last_spinner<true, interrupt_atomics>, 2>>({
        .name = "machine_loop/interrupt_yield_vs_doze",
        .property =
            "a task that yields is found: yield ‖ the last spinning machine begins to doze; fences by interrupt",
        .threads = 2,
    }),
    add_case<interrupted<yield_vs_last_spinner<false, interrupt_atomics>, 2>>({
        .name = "machine_loop/interrupt_yield",
        .property = "a task that yields is found: yield ‖ the last spinning machine goes idle; fences by interrupt",
        .threads = 2,
        .kept_for = "fences by interrupt: its fences are park's, which the mutant park/idle_by_a_light_fence breaks",
    }),
};

}  // namespace
}  // namespace runq::model
