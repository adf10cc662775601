// SPDX-License-Identifier: MIT
// All of the scheduler's interface.
#pragma once

#include "runq/blocking.hpp"
#include "runq/channel.hpp"
#include "runq/fork.hpp"
#include "runq/mutex.hpp"
#include "runq/net.hpp"
#include "runq/options.hpp"
#include "runq/scheduler.hpp"
#include "runq/select.hpp"
#include "runq/task.hpp"
#include "runq/timer.hpp"
#include "runq/wait_group.hpp"
