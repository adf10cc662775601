// SPDX-License-Identifier: MIT
// A script (split_script.hpp) with fences by interrupt (interrupt.hpp): thread 0 is the owner, the others are thieves.
#pragma once

#include "interrupt.hpp"
#include "split_script.hpp"

namespace runq::model {

template <class Queue, moves Before, moves... Threads>
using interrupted_script = interrupted<script_over<Queue, interrupt_atomics, Before, Threads...>, sizeof...(Threads)>;

}  // namespace runq::model
