// SPDX-License-Identifier: MIT
// The operations of a thread: replayed while the graph has the event already, and then added to the graph.
#include <algorithm>
#include <string_view>

#include "exact_search.hpp"

namespace runq::model::exact {

namespace {

/// A location's record holds its init event; bit 32 tells whether a plain variable has been written.
constexpr std::uintptr_t written_flag = std::uintptr_t{1} << 32;

void* to_record(event_id e, bool written) {
  const std::uintptr_t number = (std::uintptr_t{e.thread} << 16 | e.index) + 1;
  return reinterpret_cast<void*>(number | (written ? written_flag : 0));
}
event_id from_record(void* record) {
  const std::uintptr_t number = (reinterpret_cast<std::uintptr_t>(record) & ~written_flag) - 1;
  return {static_cast<std::uint16_t>(number >> 16), static_cast<std::uint16_t>(number)};
}

std::string to_text(site where) {
  const std::string_view path = where.file;
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
         std::to_string(where.line);
}

}  // namespace

// --- replay ------------------------------------------------------------------------------------------------------

/// Other threads cannot tell how far a thread has come but by what it has written: so it may stop before a write only.
void search::stop_or_go_on(site where) {
  if (program_->may_stop(current_) && choose(2, event_kind::stop, where) == 1) stop_running_thread(status::frozen);
}

/// Performs the operation; returns its (first) event.
event_id search::perform(const operation& wanted, site where) {
  if (may_stop_ != 0 && current_ == may_stop_ && (wanted.kind == node_kind::write || wanted.change != update::none)) {
    stop_or_go_on(where);
  }
  thread_state& t = threads_[current_];
  const event_id e{static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(t.position)};
  if (thread_index() == options_.freeze_thread && options_.freeze_thread >= 0 &&
      t.operations == options_.freeze_after) {
    statistics_.froze = true;
    stop_running_thread(status::frozen);
  }
  ++t.operations;
  if (!replay(wanted, where)) extend(wanted, where);
  return e;
}

bool search::happened_before(moment end, moment begin) const noexcept {
  if (end.thread == begin.thread) return end.steps <= begin.steps;
  // A thread that has made no event yet has nothing that a clock could cover: its first event stands for that time.
  const event_id last{static_cast<std::uint16_t>(end.thread),
                      static_cast<std::uint16_t>(end.steps == 0 ? 0 : end.steps - 1)};
  // Before its first event, a thread knows what it began with: in a scenario the construction, in a program what came
  // before the start of the thread. finish() knows everything.
  if (begin.steps == 0) {
    return end.thread == static_cast<int>(constructing) || begin.thread == static_cast<int>(finishing) ||
           g_->beginning_of(static_cast<unsigned>(begin.thread)).covers(last);
  }
  return g_->at(static_cast<unsigned>(begin.thread), begin.steps - 1).hb.covers(last);
}

/// Follows the graph. Returns false when the thread is at its frontier and may add the event.
bool search::replay(const operation& wanted, site where) {
  thread_state& t = threads_[current_];
  if (t.position < g_->size(current_)) {
    const node& n = g_->at(current_, t.position);
    if (!wanted.repeats(n) &&
        !adapt({static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(t.position)}, wanted)) {
      report_here(failure::misuse, "the scenario is not deterministic: replayed, a thread does something else", where);
    }
    const bool delayed =
        g_->delayed == event_id{static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(t.position)};
    if ((n.kind == node_kind::read && !delayed) || n.kind == node_kind::join) await_source(n);
    note_executed(where);
    if (n.kind == node_kind::read && n.exclusive) note_executed(where);
    return true;
  }
  if (!extending_ && current_ != constructing) {
    t.now = status::frontier;
    t.stack.suspend();
  }
  if (g_->size(current_) + 2 > std::min(options_.max_events_per_thread, max_thread_events)) {
    const char* const advice =
        program_ != nullptr
            ? "; a loop that may go on for ever cannot be explored to its end; otherwise raise --max-events"
            : "; a loop that waits must be an await, one that may retry for ever a retry_loop (waiting.hpp); otherwise "
              "raise it";
    cut_short("limit reached: max_events_per_thread = " + std::to_string(options_.max_events_per_thread) + advice);
    abandon();
  }
  // The operation adds up to two events, and a revisit may turn a failed compare-exchange into a successful one.
  if (g_->sequential().size() + 3 > max_sequential) {
    cut_short("limit reached: max_sequential = " + std::to_string(max_sequential) +
              " seq_cst events; make the scenario smaller");
    abandon();
  }
  return false;
}

/// Waits until the source of `read` has been replayed: then plain memory holds what was written before it, too.
void search::await_source(const node& read) {
  const event_id source = read.source;
  while (threads_[source.thread].position <= source.index) threads_[current_].stack.suspend();
}

/// The next event of the running thread has been replayed or added.
void search::note_executed(site where) {
  thread_state& t = threads_[current_];
  executed_.push_back({static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(t.position)});
  if (t.sites.size() <= t.position) t.sites.resize(t.position + 1);
  t.sites[t.position++] = where;
}

// --- what must hold of an access ---------------------------------------------------------------------------------

event_id search::variable_of(const location& at, site where) {
  if (at.record == nullptr) report_here(failure::misuse, "a variable is used before it is constructed", where);
  return from_record(at.record);
}

/// The variable's construction happens-before the access, and its memory has not been freed.
void search::require_live(event_id e, site where) {
  const node& n = g_->at(e);
  const node& init = g_->at(n.variable);
  if (!n.hb.covers(n.variable)) {
    set_partner(n.variable);
    if (init.memory != nobody) {
      report_here(failure::unpublished_allocation, "memory is used by a thread that cannot know that it is initialised",
                  where);
    }
    report_here(failure::data_race, "a variable is used by a thread that cannot know that it is initialised", where);
  }
  if (init.memory == nobody) return;
  const heap::block* const block = heap_.find(init.memory);
  if (block != nullptr && block->release != nobody) {
    set_partner(block->release);
    report_here(failure::use_after_free, "memory is used after or while it is freed", where);
  }
}

/// No conflicting access to the plain variable is concurrent. A new event has no successors, so hb can only lead to it.
void search::require_no_race(event_id e, site where) {
  const node& n = g_->at(e);
  for (unsigned t = 0; t != thread_slots; t = g_->next_thread(t)) {
    for (unsigned i = n.hb[t]; i < g_->size(t); ++i) {
      const node& other = g_->at(t, i);
      if (!other.accesses(n.variable)) continue;
      if (n.kind == node_kind::cell_read && other.kind == node_kind::cell_read) continue;
      const site there = threads_[t].sites[i];
      set_partner({static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)});
      report_here(failure::data_race, "data race with the access at " + to_text(there), where);
    }
  }
}

// --- atomics -----------------------------------------------------------------------------------------------------

void search::atomic_init(location& at, bool initialised, std::uint64_t value, site where) {
  operation o;
  o.kind = node_kind::init;
  o.shown = event_kind::store;
  o.initialised = initialised;
  o.value = value;
  o.operand = at.mask;
  o.variable = {static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(threads_[current_].position)};
  const event_id e = perform(o, where);
  at.record = to_record(e, initialised);
  if (const heap::block* const block = heap_.find(&at)) g_->at(e).memory = block->allocation;
}

std::uint64_t search::load(location& at, std::memory_order order, site where) { return load(at, order, nobody, where); }

std::uint64_t search::load(location& at, std::memory_order order, event_id like, site where) {
  operation o;
  o.like = like;
  o.kind = node_kind::read;
  o.shown = event_kind::load;
  o.order = order;
  o.variable = variable_of(at, where);
  return g_->at(perform(o, where)).value;
}

void search::store(location& at, std::uint64_t value, std::memory_order order, site where) {
  operation o;
  o.kind = node_kind::write;
  o.shown = event_kind::store;
  o.order = order;
  o.variable = variable_of(at, where);
  o.value = value;
  perform(o, where);
}

std::uint64_t search::rmw(location& at, rmw_op op, std::uint64_t operand, std::memory_order order, site where) {
  operation o;
  o.kind = node_kind::read;
  o.shown = event_kind::rmw;
  o.change = update::modify;
  o.op = op;
  o.operand = operand;
  o.order = order;
  o.variable = variable_of(at, where);
  return g_->at(perform(o, where)).value;
}

bool search::exchange(location& at, std::uint64_t& expected, operation o, site where) {
  o.kind = node_kind::read;
  o.change = update::exchange;
  o.expected = expected;
  o.variable = variable_of(at, where);
  const node& n = g_->at(perform(o, where));
  expected = n.value;
  return n.exclusive;
}

bool search::compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                              std::memory_order success, std::memory_order failure, site where) {
  return compare_exchange(at, expected, desired, weak, success, failure, nobody, where);
}

bool search::compare_exchange(location& at, std::uint64_t& expected, std::uint64_t desired, bool weak,
                              std::memory_order success, std::memory_order failure, event_id like, site where) {
  operation o;
  o.like = like;
  o.shown = event_kind::cas_success;
  o.operand = desired;
  o.weak = weak;
  o.order = success;
  o.failure_order = failure;
  return exchange(at, expected, o, where);
}

void search::fence(std::memory_order order, site where) {
  operation o;
  o.kind = node_kind::fence;
  o.shown = event_kind::fence;
  o.order = order;
  perform(o, where);
}

// --- mutexes: an atomic that holds the number of its holder, 0 when unlocked ---------------------------------------

void search::mutex_init(location& at, site where) { atomic_init(at, true, 0, where); }

bool search::lock(location& at, bool blocking, event_id like, site where) {
  operation o;
  o.like = like;
  o.shown = event_kind::lock;
  o.operand = current_ + 1;
  o.order = std::memory_order::acquire;
  o.blocking = blocking;
  std::uint64_t expected = 0;
  return exchange(at, expected, o, where);
}

bool search::mutex_try_lock(location& at, site where) { return lock(at, false, nobody, where); }
bool search::mutex_try_lock(location& at, event_id like, site where) { return lock(at, false, like, where); }

void search::mutex_lock(location& at, site where) {
  await_begin();
  if (lock(at, true, nobody, where)) return;
  await_failed(where);
}

void search::mutex_unlock(location& at, site where) {
  const event_id variable = variable_of(at, where);
  clock own;
  own[current_] = static_cast<std::uint16_t>(threads_[current_].position);
  const event_id last = last_access(*g_, current_, own, variable);
  if (last == nobody || !g_->at(last).exclusive) {
    report_here(failure::misuse, "a mutex is unlocked by a thread that does not hold it", where);
  }
  operation o;
  o.kind = node_kind::write;
  o.shown = event_kind::unlock;
  o.order = std::memory_order::release;
  o.variable = variable;
  perform(o, where);
}

// --- plain memory ------------------------------------------------------------------------------------------------

void search::cell_init(location& at, bool initialised, site where) {
  operation o;
  o.kind = node_kind::cell_init;
  o.shown = event_kind::cell_write;
  o.initialised = initialised;
  o.variable = {static_cast<std::uint16_t>(current_), static_cast<std::uint16_t>(threads_[current_].position)};
  const event_id e = perform(o, where);
  at.record = to_record(e, initialised);
  if (const heap::block* const block = heap_.find(&at)) g_->at(e).memory = block->allocation;
}

void search::cell_read(location& at, std::uint64_t value, site where) {
  operation o;
  o.kind = node_kind::cell_read;
  o.shown = event_kind::cell_read;
  o.variable = variable_of(at, where);
  o.value = value;
  perform(o, where);
  // Without a race, every write that was executed before happens-before this read.
  if ((reinterpret_cast<std::uintptr_t>(at.record) & written_flag) == 0) {
    report_here(failure::uninitialised_read, "plain memory is read before it is written", where);
  }
}

void search::cell_write(location& at, std::uint64_t value, site where) {
  operation o;
  o.kind = node_kind::cell_write;
  o.shown = event_kind::cell_write;
  o.variable = variable_of(at, where);
  o.value = value;
  perform(o, where);
  at.record = to_record(o.variable, true);
}

void search::add_cell_access(const operation& wanted, site where) {
  const event_id e = g_->append(current_, wanted);
  note_executed(where);
  require_live(e, where);
  require_no_race(e, where);
}

// --- programs: threads, variables that are found, choices ------------------------------------------------------------

bool search::take(location& at, std::uint64_t first, std::uint64_t count, std::uint64_t delta, bool blocking,
                  site where) {
  if (blocking) await_begin();
  operation o;
  o.kind = node_kind::read;
  o.shown = event_kind::cas_success;
  o.change = update::take;
  o.op = rmw_op::add;
  o.expected = first;
  o.count = count;
  o.operand = delta;
  o.order = std::memory_order::acquire;
  o.blocking = blocking;
  o.variable = variable_of(at, where);
  const bool done = g_->at(perform(o, where)).exclusive;
  if (!done && blocking) await_failed(where);
  return done;
}

location search::find_variable(unsigned index, std::uint64_t mask, std::uint64_t value, site where) {
  if (!g_->find_variable(index, mask, value)) {
    report_here(failure::misuse, "the program is not deterministic: replayed, a variable begins with another value",
                where);
  }
  return known_variable(index, mask);
}

location search::known_variable(unsigned index, std::uint64_t mask) noexcept {
  return {to_record({static_cast<std::uint16_t>(constructing), static_cast<std::uint16_t>(index)}, true), mask};
}

clock search::knows() const noexcept {
  const thread_state& t = threads_[current_];
  return t.position == 0 ? g_->beginning_of(current_) : g_->at(current_, t.position - 1).hb;
}

void search::spawn(unsigned thread, site where) {
  operation o;
  o.kind = node_kind::spawn;
  o.shown = event_kind::spawn;
  o.operand = thread;
  o.value = thread - 1;
  perform(o, where);
  threads_[thread].now = status::ready;
  threads_[thread].stack.prepare(&thread_entry, this);
}

void search::finish_thread() {
  operation o;
  o.kind = node_kind::end;
  o.shown = event_kind::pause;
  perform(o, {});
  stop_running_thread(status::finished);
}

void search::join(unsigned thread, site where) {
  operation o;
  o.kind = node_kind::join;
  o.shown = event_kind::join;
  o.operand = thread;
  o.value = thread - 1;
  perform(o, where);
}

void search::add_join(const operation& wanted, site where) {
  const auto thread = static_cast<unsigned>(wanted.operand);
  thread_state& t = threads_[current_];
  while (!g_->has_ended(thread)) {
    t.now = status::joining;
    t.joined = thread;
    t.where = where;
    t.stack.suspend();
  }
  g_->join(g_->append(current_, wanted), g_->last_of(thread));
  note_executed(where);
}

unsigned search::choose(unsigned alternatives, site where) { return choose(alternatives, event_kind::choice, where); }

unsigned search::choose(unsigned alternatives, event_kind shown, site where) {
  operation o;
  o.kind = node_kind::choice;
  o.shown = shown;
  o.operand = alternatives;
  return static_cast<unsigned>(g_->at(perform(o, where)).value);
}

void search::wait_unjudged(unsigned since, site where) {
  await_since(since);
  threads_[current_].where = where;
  stop_running_thread(status::discarded);
}

void search::give_up(std::string message) {
  cut_short(std::move(message));
  abandon();
}

// --- heap --------------------------------------------------------------------------------------------------------

void* search::allocate(std::size_t size, site where) {
  operation o;
  o.kind = node_kind::allocate;
  o.shown = event_kind::allocate;
  o.value = size;
  void* const p = heap_.allocate(current_, size, perform(o, where));
  if (p != nullptr) return p;
  cut_short("limit reached: arena_bytes = " + std::to_string(arena_bytes) +
            " of heap memory per thread; make the scenario smaller");
  abandon();
}

void search::deallocate(void* p, site where) {
  if (p == nullptr) return;
  heap::block* const block = heap_.find(p);
  if (block == nullptr || block->begin != p) {
    report_here(failure::misuse, "what is freed was not allocated", where);
  }
  operation o;
  o.kind = node_kind::deallocate;
  o.shown = event_kind::deallocate;
  o.variable = block->allocation;
  const event_id allocation = block->allocation;
  const event_id e = perform(o, where);
  // Found again: other threads may have allocated while this one waited for its turn.
  heap_.find(allocation)->release = e;
}

void search::add_deallocate(const operation& wanted, site where) {
  const event_id e = g_->append(current_, wanted);
  note_executed(where);
  const node& n = g_->at(e);
  if (heap_.find(n.variable)->release != nobody) report_here(failure::double_free, "memory is freed twice", where);
  if (!n.hb.covers(n.variable)) {
    report_here(failure::unpublished_allocation, "memory is freed by a thread that cannot know of it", where);
  }
  for (unsigned t = 0; t != thread_slots; t = g_->next_thread(t)) {
    for (unsigned i = n.hb[t]; i < g_->size(t); ++i) {
      const event_id variable = g_->at(t, i).variable;
      if (variable == nobody || g_->at(variable).memory != n.variable) continue;
      const site there = threads_[t].sites[i];
      set_partner({static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)});
      report_here(failure::use_after_free, "memory is freed while in use at " + to_text(there), where);
    }
  }
}

// --- the rest ----------------------------------------------------------------------------------------------------

void search::fail(failure what, const char* text, site where) { report_here(what, text, where); }

int search::thread_index() const noexcept {
  return current_ == constructing || current_ == finishing ? -1 : static_cast<int>(current_) - 1;
}

void search::await_begin() { threads_[current_].await_begin = threads_[current_].position; }

void search::await_failed(site where) {
  threads_[current_].where = where;
  if (thread_index() < 0) {
    result_.stuck.push_back({-1, -1, false, threads_[current_].await_begin});
    report_here(failure::deadlock, "no thread is left that could end this wait", where);
  }
  stop_running_thread(status::waiting);
}

void search::discard(site where) {
  threads_[current_].where = where;
  if (thread_index() < 0) report_here(failure::misuse, "assume() is for threads only", where);
  await_begin();
  stop_running_thread(status::discarded);
}

}  // namespace runq::model::exact
