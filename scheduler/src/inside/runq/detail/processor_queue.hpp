// SPDX-License-Identifier: MIT
// processor_queue: the run queue of one processor, for all tasks but forks. A build with another one has a header of
// this name in a folder that it searches first: see scheduler/queues/.
#pragma once

#include "runq/detail/strand.hpp"
#include "runq/local_queue.hpp"

namespace runq::detail {

using processor_queue = local_queue<&strand::link>;

}  // namespace runq::detail
