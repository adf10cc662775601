// SPDX-License-Identifier: MIT
#include "exact_graph.hpp"

#include <cstring>
#include <type_traits>

namespace runq::model::exact {

event_id graph::append(unsigned thread, const operation& o) {
  const event_id e = next_of(thread);
  threads_.include(thread);
  node& n = threads_[thread].emplace_back(o);
  if (n.kind == node_kind::init || n.kind == node_kind::cell_init) n.variable = n.newest = e;
  n.stamp = next_stamp_++;
  inherit(e);
  if (n.kind == node_kind::spawn) {
    spawners_[n.thread()] = e;
    threads_.include(n.thread());
  }
  const bool sc = n.order == std::memory_order::seq_cst || n.failure_order == std::memory_order::seq_cst;
  if (sc && thread != constructing && thread != finishing && !is_alone(n)) sequential_.push_back(e);
  return e;
}

bool graph::is_alone(const node& n) const noexcept {
  if (!finds_variables) return false;
  for (unsigned t = constructing + 1; t != end_of_threads(); ++t) {
    if (spawners_[t] != nobody && !(has_ended(t) && n.hb.covers(last_of(t)))) return false;
  }
  return true;
}

bool graph::find_variable(unsigned index, std::uint64_t mask, std::uint64_t value) {
  std::vector<node>& variables = threads_[constructing];
  while (variables.size() <= index) {
    const event_id e = next_of(constructing);
    node& n = variables.emplace_back();
    n.kind = node_kind::init;
    n.shown = event_kind::store;
    n.initialised = true;
    n.variable = n.newest = e;
  }
  const event_id e{static_cast<std::uint16_t>(constructing), static_cast<std::uint16_t>(index)};
  node& init = at(e);
  init.set_mask(mask);
  if (init.value == value) return true;
  init.value = value;
  for (unsigned t = constructing + 1; t != end_of_threads(); ++t) {
    for (const node& n : threads_[t]) {
      if (n.kind == node_kind::read && n.source == e) return false;
    }
  }
  return true;
}

clock graph::beginning_of(unsigned thread) const noexcept {
  if (spawners_[thread] != nobody) return at(spawners_[thread]).hb;
  clock known;
  if (thread != constructing) {
    known[constructing] = finds_variables ? all_events : static_cast<std::uint16_t>(size(constructing));
  }
  return known;
}

clock graph::before_beginning_of(unsigned thread) const noexcept {
  return spawners_[thread] == nobody ? beginning_of(thread) : at(spawners_[thread]).porf;
}

void graph::join(event_id e, event_id end) {
  node& n = at(e);
  n.source = end;
  n.hb.join(at(end).hb);
  n.porf.join(at(end).porf);
}

void graph::join_everything(node& first) const {
  for (unsigned t = 0; t != end_of_threads(); ++t) {
    if (size(t) == 0) continue;
    first.hb.join(at(last_of(t)).hb);
    first.porf.join(at(last_of(t)).porf);
  }
}

void graph::inherit(event_id e) {
  node& n = at(e);
  if (e.index != 0) {
    const node& before = at(e.thread, e.index - 1U);
    n.hb = before.hb;
    n.porf = before.porf;
    n.to_acquire = before.to_acquire;
    n.release_fence = before.release_fence;
  } else {
    n.hb = n.porf = n.to_acquire = n.release_fence = clock{};
    if (e.thread == finishing) {
      join_everything(n);
    } else {
      n.hb = beginning_of(e.thread);
      n.porf = before_beginning_of(e.thread);
    }
  }
  n.hb[e.thread] = n.porf[e.thread] = static_cast<std::uint16_t>(e.index + 1);
  if (n.kind != node_kind::fence) return;
  if (acquires(n.order)) n.hb.join(n.to_acquire);
  if (releases(n.order)) n.release_fence = n.hb;
}

void graph::set_source(event_id read, event_id source) {
  inherit(read);
  node& r = at(read);
  const node& w = at(source);
  r.source = source;
  r.value = w.value;
  r.exclusive = r.succeeds();
  r.porf.join(w.porf);
  if (r.overwrites) return;
  const auto acquire = [&r](const clock& released) {
    if (acquires(r.applied_order())) r.hb.join(released);
    r.to_acquire.join(released);
  };
  if (w.accessed.is_whole()) return acquire(w.released);
  acquire(released_to(r.accessed, source));
}

clock graph::released_to(part bytes, event_id source) const noexcept {
  const node& w = at(source);
  if (w.accessed.is_whole()) return w.released;
  clock released;
  std::uint32_t left = bytes.bytes();
  for (event_id e = source; left != 0;) {
    const node& n = at(e);
    if ((left & n.accessed.bytes()) != 0) released.join(n.released);
    left &= ~n.accessed.bytes();
    if (left != 0) e = at(e.thread, e.index - 1U).source;  // a write to a part comes right after what it has read
  }
  return released;
}

unsigned graph::spurious_failures() const noexcept {
  unsigned n = 0;
  for (unsigned t = constructing + 1; t != end_of_threads(); ++t) n += spurious_failures_of(t);
  return n;
}

unsigned graph::spurious_failures_of(unsigned thread) const noexcept {
  unsigned n = 0;
  for (const node& of : threads_[thread]) n += of.spurious ? 1U : 0U;
  return n;
}

void graph::set_released(event_id write) {
  node& w = at(write);
  w.released = releases(w.order) ? w.hb : w.release_fence;
  // C++20 [intro.races]: only read-modify-writes continue a release sequence.
  if (w.exclusive && !w.overwrites) w.released.join(released_to(w.accessed, at(write.thread, write.index - 1U).source));
}

void graph::place_after(event_id write, event_id older) {
  node& w = at(write);
  node& before = at(older);
  w.older = older;
  w.newer = before.newer;
  w.place = before.place + 1;
  before.newer = write;
  if (w.newer == nobody) {
    at(w.variable).newest = write;
    return;
  }
  at(w.newer).older = write;
  // Removals leave gaps between places: only neighbours without a gap between them have to move up.
  std::uint32_t place = w.place;
  for (event_id e = w.newer; e != nobody && at(e).place == place; e = at(e).newer) at(e).place = ++place;
}

void graph::displace(event_id write) {
  const node& w = at(write);
  at(w.older).newer = w.newer;
  if (w.newer == nobody) {
    at(w.variable).newest = w.older;
  } else {
    at(w.newer).older = w.older;
  }
}

void graph::restrict_to(const clock& keep) {
  for (unsigned t = 0; t != thread_slots; t = next_thread(t)) {
    std::vector<node>& events = threads_[t];
    while (events.size() > keep[t]) {
      const node& gone = events.back();
      // A write that has not been placed yet has no predecessor in mo.
      if (gone.kind == node_kind::write && gone.older != nobody && contains(gone.variable)) displace(last_of(t));
      events.pop_back();
    }
  }
  std::erase_if(sequential_, [this](event_id e) { return !contains(e); });
  for (event_id& e : spawners_) {
    if (!contains(e)) e = nobody;
  }
}

void graph::take_back_wait(unsigned thread) {
  const event_id read = last_of(thread);
  const node& n = at(read);
  waits_.push_back({read, n.source, n.stamp, next_stamp_++});
  std::erase(sequential_, read);
  threads_[thread].pop_back();
}

std::uint32_t graph::tried_until(event_id read) const noexcept {
  const std::uint32_t before = contains(read) ? at(read).stamp : next_stamp_;
  std::uint32_t result = 0;
  for (const vain_wait& w : waits_) {
    if (w.read == read && w.until < before) result = std::max(result, w.until);
  }
  return result;
}

void graph::forget_waits_after(std::uint32_t stamp) {
  std::erase_if(waits_, [stamp](const vain_wait& w) { return w.added > stamp; });
}

bool graph::was_read_in_vain(event_id write) const noexcept {
  const std::uint32_t stamp = at(write).stamp;
  return std::any_of(waits_.begin(), waits_.end(),
                     [&](const vain_wait& w) { return w.source == write && w.added < stamp; });
}

bool graph::was_awaited_beside(event_id variable, unsigned thread, const clock& known) const noexcept {
  return std::any_of(waits_.begin(), waits_.end(), [&](const vain_wait& w) {
    const node& source = at(w.source);
    return source.variable == variable && w.read.thread != thread && !known.covers(w.read);
  });
}

static_assert(std::is_trivially_copyable_v<node> && std::is_trivially_copyable_v<event_id>);

std::size_t graph::packed_bytes() const noexcept {
  std::size_t events = 0;
  for (unsigned t = 0; t != thread_slots; t = next_thread(t)) events += size(t);
  return sizeof(packed_head) + events * sizeof(node) + sequential_.size() * sizeof(event_id) +
         waits_.size() * sizeof(vain_wait);
}

void graph::pack(std::byte* where) const noexcept {
  packed_head head{{},
                   static_cast<std::uint32_t>(sequential_.size()),
                   static_cast<std::uint32_t>(waits_.size()),
                   next_stamp_,
                   fixed_until,
                   unfinished_rmw,
                   deviations,
                   weight,
                   delayed,
                   finds_variables,
                   spawners_};
  for (unsigned t = 0; t != thread_slots; ++t) head.sizes[t] = size(t);
  const auto put = [&where](const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(where, from, bytes);
    where += bytes;
  };
  put(&head, sizeof head);
  for (unsigned t = 0; t != thread_slots; t = next_thread(t)) put(threads_[t].data(), size(t) * sizeof(node));
  put(sequential_.data(), sequential_.size() * sizeof(event_id));
  put(waits_.data(), waits_.size() * sizeof(vain_wait));
}

void graph::unpack(const std::byte* where) {
  packed_head head;
  std::memcpy(&head, where, sizeof head);
  const auto* events = reinterpret_cast<const node*>(where + sizeof head);
  for (unsigned t = 0; t != thread_slots; ++t) {
    if (head.sizes[t] != 0) threads_.include(t);
    threads_[t].assign(events, events + head.sizes[t]);
    events += head.sizes[t];
  }
  const auto* sc = reinterpret_cast<const event_id*>(events);
  sequential_.assign(sc, sc + head.sequential);
  const auto* waits = reinterpret_cast<const vain_wait*>(sc + head.sequential);
  waits_.assign(waits, waits + head.waits);
  next_stamp_ = head.next_stamp;
  fixed_until = head.fixed_until;
  unfinished_rmw = head.unfinished_rmw;
  deviations = head.deviations;
  weight = head.weight;
  delayed = head.delayed;
  finds_variables = head.finds_variables;
  spawners_ = head.spawners;
  for (unsigned t = 0; t != thread_slots; ++t) {
    if (spawners_[t] != nobody) threads_.include(t);
  }
}

std::uint64_t fingerprint(const graph& g) noexcept {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t x) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    hash = (hash ^ x) * odd;
    hash ^= hash >> 29;
  };
  const auto number = [](event_id e) { return std::uint64_t{e.thread} << 16 | e.index; };
  for (unsigned t = g.finds_variables ? constructing + 1 : constructing; t != finishing; ++t) {
    mix(g.size(t));
    for (unsigned i = 0; i != g.size(t); ++i) {
      const node& n = g.at(t, i);
      mix(static_cast<std::uint64_t>(n.kind) << 8 | (n.spurious ? 1 : 0));
      mix(number(n.variable) << 32 | number(n.kind == node_kind::read ? n.source : n.older));
      if (n.kind == node_kind::choice) mix(n.value);
    }
  }
  return hash;
}

event_id last_access(const graph& g, unsigned thread, const clock& seen, event_id variable) noexcept {
  if (thread == constructing && g.finds_variables) return nobody;  // a construction that only creates variables
  for (unsigned i = seen[thread]; i-- != 0;) {
    if (g.at(thread, i).accesses(variable)) return {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(i)};
  }
  return nobody;
}

}  // namespace runq::model::exact
