// SPDX-License-Identifier: MIT
#include "execution.hpp"

namespace runq::model::compiled {

using exact::event_id;
using exact::node;

event_id execution::concurrent_event(std::uint16_t variable, bool writes_only, unsigned position,
                                     std::uint32_t bytes) const {
  const exact::graph& graph = search->current_graph();
  const exact::clock known = search->knows();
  const unsigned running = search->running();
  const event_id init{static_cast<std::uint16_t>(exact::constructing), variable};
  for (unsigned t = 1; t <= max_threads; ++t) {
    if (t == running) continue;
    for (unsigned i = known[t]; i < graph.size(t); ++i) {
      const node& n = graph.at(t, i);
      if (!n.accesses(init) || (writes_only && !n.changes_memory()) || (n.accessed.bytes() & bytes) == 0) continue;
      if (n.hb[running] <= position) return {static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
    }
  }
  if (!writes_only && graph.was_awaited_beside(init, running, known)) {
    search->give_up_waits_in_place(
        "a thread waits in place for a variable that is freed, or written otherwise than atomically, beside "
        "that; check with --waits-in-place off");
  }
  return exact::nobody;
}

exact::clock execution::comes_after() const {
  const exact::graph& graph = search->current_graph();
  const unsigned events = *self.position;
  return events == 0 ? graph.before_beginning_of(self.number) : graph.at(self.number, events - 1).porf;
}

/// Plain hooks call this, so it must not allocate memory.
void execution::look_whether_late() {
  self.looked_at = *self.position;
  self.late_after = 0;
  const exact::graph& graph = search->current_graph();
  if (self.looked_at == 0) return look_for_late_threads(comes_after(), search->knows());
  const node& last = graph.at(self.number, self.looked_at - 1);
  if (last.porf.exceeds(last.hb)) look_for_late_threads(last.porf, last.hb);
}

void execution::look_for_late_threads(const exact::clock& before, const exact::clock& known) {
  const unsigned end = search->current_graph().end_of_threads();
  for (unsigned t = main_thread; t != end; ++t) {
    if (is_late(before, known, t) && has_told(t, known[t], before[t])) self.late_after |= std::uint64_t{1} << t;
  }
}

bool execution::has_told(unsigned thread, unsigned first, unsigned end) const {
  const exact::graph& graph = search->current_graph();
  for (unsigned i = first; i != end; ++i) {
    const node& n = graph.at(thread, i);
    const bool writes = n.kind != exact::node_kind::read && n.variable != exact::nobody;
    if (writes && at_end->tells(n.variable.index, n.value)) return true;
  }
  return false;
}

bool execution::may_have_told_before(const step& s, unsigned thread, unsigned events) const {
  if (s.thread == thread) return s.position < events;
  const unsigned end = comes_after()[s.thread];
  for (unsigned i = s.position; i < end; ++i) {
    const node& n = search->current_graph().at(s.thread, i);
    if (!exact::only_reads(n)) return n.porf[thread] < events;
  }
  return false;
}

unsigned execution::thread_with_stack_at(const void* at) const noexcept {
  for (unsigned t = 1; t <= max_threads; ++t) {
    const std::byte* const stack = search->stack_of(t).lowest();
    if (stack != nullptr && at >= stack && at < stack + exact::fiber_stack_bytes) return t;
  }
  return 0;
}

unsigned execution::thread_with_variable_at(const void* at) const noexcept {
  const unsigned owner = thread_with_stack_at(at);
  return owner != 0 ? owner : identities->thread_with_variable_at(at);
}

}  // namespace runq::model::compiled
