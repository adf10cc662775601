// SPDX-License-Identifier: MIT
// The overflow of with_split_ring.cpp with fences by interrupt (interrupt.hpp): what membarrier_atomics relies on.
#include "interrupt.hpp"
#include "split_model.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<interrupted<overflow<interrupt_atomics>, 2>>({
        .name = "local_queue/interrupt_split_overflow",
        .property = "with a split_ring, what overflows and what is stolen are disjoint; fences by interrupt",
        .threads = 2,
        .kept_for = "the ring is a split_ring, with fences by interrupt",
    }),
};

}  // namespace
}  // namespace runq::model
