// SPDX-License-Identifier: MIT
#include "runq/detail/timers.hpp"

template class runq::timer_heap<runq::detail::policy, runq::detail::timer_list>;
