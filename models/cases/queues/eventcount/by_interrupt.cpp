// SPDX-License-Identifier: MIT
// Some of the programs of await_vs_notify.cpp with fences by interrupt (interrupt.hpp): what an eventcount with
// membarrier_atomics relies on.
#include "eventcount_model.hpp"
#include "interrupt.hpp"

namespace runq::model {
namespace {

// The maker, thread 0, makes light fences; the workers, which go to sleep, interrupt it.
struct one_worker_interrupts : workers_and_makers<interrupt_atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      interrupts::point();
      make_one();
    } else {
      run_one();
    }
  }
};

struct news_by_interrupt : sees_the_news<interrupt_atomics> {
  void begins() override { interrupts::point(); }
};

const bool added[] = {
    add_case<interrupted<one_worker_interrupts, 2>>({
        .name = "eventcount/interrupt_one_worker",
        .property = "a thread that sleeps, or is about to, wakes when there is a task; fences by interrupt",
        .threads = 2,
        .kept_for = "membarrier_atomics",
    }),
    add_case<interrupted<news_by_interrupt, 2>>({
        .name = "eventcount/interrupt_sees_the_news",
        .property = "what happened before a notification happens before the return of the wait that it ends, although "
                    "the light fence is nothing; fences by interrupt",
        .threads = 2,
        .mutants = {{"advance_relaxed", "eventcount.advance", std::memory_order::relaxed}},
        .kept_for = "membarrier_atomics",
    }),
};

}  // namespace
}  // namespace runq::model
