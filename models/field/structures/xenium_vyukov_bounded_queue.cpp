// SPDX-License-Identifier: MIT
// xenium::vyukov_bounded_queue: Vyukov's ring for many producers and consumers.
#include <xenium/vyukov_bounded_queue.hpp>

#include "../field.hpp"

class queue : public runq::field::tried<xenium::vyukov_bounded_queue<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
