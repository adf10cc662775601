// SPDX-License-Identifier: MIT
// The queues as a C++20 module: `import runqkit;` in place of the includes. The macros RUNQ_VERSION are in
// <runq/version.hpp> only.
module;

#include "runq/all_empty.hpp"
#include "runq/boxed.hpp"
#include "runq/chase_lev.hpp"
#include "runq/eventcount.hpp"
#include "runq/inject.hpp"
#include "runq/local_queue.hpp"
#include "runq/membarrier.hpp"
#include "runq/one_object.hpp"
#include "runq/ring.hpp"
#include "runq/runnext.hpp"
#include "runq/shared_fifo.hpp"
#include "runq/split_deque.hpp"
#include "runq/split_ring.hpp"

export module runqkit;

export namespace runq {

// What a steal and a batch return, and what all queues share.
using runq::batch_pushed;
using runq::batch_result;
using runq::cache_line;
using runq::memory_source;
using runq::steal_result;
using runq::steal_status;

// Atomics policies.
using runq::membarrier_atomics;
using runq::std_atomics;
using runq::unchecked_owner;

// The queues.
using runq::basic_chase_lev;
using runq::basic_local_queue;
using runq::basic_ring;
using runq::basic_runnext;
using runq::basic_shared_fifo;
using runq::basic_split_deque;
using runq::basic_split_ring;
using runq::bounded_chase_lev;
using runq::chase_lev;
using runq::default_split_deque;
using runq::default_split_ring;
using runq::inject;
using runq::inject_chain;
using runq::inject_link;
using runq::local_queue;
using runq::popped;
using runq::ring;
using runq::runnext;
using runq::shared_fifo;
using runq::split_deque;
using runq::split_deque_options;
using runq::split_ring;
using runq::split_ring_options;
using runq::steal_runnext;
using runq::stolen;
using runq::when_full;

// Over them.
using runq::all_empty;
using runq::box;
using runq::box_pool;
using runq::boxed;
using runq::counted;
using runq::observable;
using runq::one_object;

// Threads that wait for work.
using runq::basic_eventcount;
using runq::eventcount;

}  // namespace runq
