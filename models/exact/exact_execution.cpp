// SPDX-License-Identifier: MIT
#include "exact_execution.hpp"

#include <algorithm>

namespace runq::model::exact {

void execution::begin() noexcept {
  executed.clear();
  heap.begin_execution();
  extending = false;
  complete = false;
  may_stop = 0;
  joined = {};
  for (thread_state& t : threads) {
    t.now = status::ready;
    t.position = 0;
    t.operations = 0;
  }
}

void execution::take_back_wait() {
  thread_state& t = running();
  g->take_back_wait(current);
  --t.position;
  --t.operations;
  const event_id read = next_event();
  executed.erase(std::find(executed.rbegin(), executed.rend(), read).base() - 1);
}

void execution::abandon() {
  for (;;) threads[current == finishing ? constructing : current].stack.suspend();
}

void execution::stop_running_thread(status why) {
  threads[current].now = why;
  abandon();
}

}  // namespace runq::model::exact
