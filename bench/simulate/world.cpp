// SPDX-License-Identifier: MIT
#include "world.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

namespace runq::simulate {
namespace {

constexpr std::size_t bits = 64;

[[nodiscard]] constexpr std::size_t at(spent what) noexcept { return static_cast<std::size_t>(what); }

}  // namespace

void world::free_bytes::operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{line_bytes}); }

world::world(const costs& machine, unsigned processors) : machine_(machine) {
  if (here_ != nullptr) throw std::logic_error("there is a world already");
  if (processors == 0 || processors > most_processors) throw std::invalid_argument("1 to 256 virtual processors");
  processors_.resize(processors);
  here_ = this;
}

world::~world() { here_ = nullptr; }

// ---- what the report calls the memory ----

std::uint32_t world::number_of_name(std::string_view what) {
  const auto found = std::find(names_.begin(), names_.end(), what);
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.emplace_back(what);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void world::name(const void* begin, std::size_t bytes, std::string_view what, std::size_t every) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  if (first % line_bytes != 0) throw std::logic_error("an object does not begin at the boundary of a cache line");
  const object one{first, first + bytes, every, number_of_name(what)};
  objects_.insert(std::upper_bound(objects_.begin(), objects_.end(), one,
                                   [](const object& a, const object& b) { return a.begin < b.begin; }),
                  one);
}

void* world::allocate(std::size_t bytes, std::string_view what, std::size_t every) {
  bytes = (bytes + line_bytes - 1) / line_bytes * line_bytes;
  auto& memory = memory_.emplace_back(new (std::align_val_t{line_bytes}) std::byte[bytes]);
  name(memory.get(), bytes, what, every);
  return memory.get();
}

world::cache_line_state& world::line_of(const void* where) {
  const auto number = reinterpret_cast<std::uintptr_t>(where) / line_bytes;
  const auto [found, first_use] = lines_.try_emplace(number);
  cache_line_state& line = found->second;
  if (first_use) {
    const std::uintptr_t begin = number * line_bytes;
    auto behind = std::upper_bound(objects_.begin(), objects_.end(), begin,
                                   [](std::uintptr_t a, const object& b) { return a < b.begin; });
    if (behind != objects_.begin() && begin < (--behind)->end) {
      line.name = behind->name;
      line.offset = (begin - behind->begin) % behind->every / line_bytes * line_bytes;
    }
  }
  return line;
}

std::uint64_t world::number_of_file(const char* file) {
  const auto [found, first_use] = files_.try_emplace(file);
  if (first_use) {
    const auto same = std::find(file_names_.begin(), file_names_.end(), file);
    found->second = static_cast<std::uint64_t>(same - file_names_.begin());
    if (same == file_names_.end()) file_names_.emplace_back(file);
  }
  return found->second;
}

std::size_t world::place_of(const cache_line_state& line, site where) {
  const std::uint64_t key = std::uint64_t{line.name} << 56 | std::uint64_t{line.offset / line_bytes} << 32 |
                            number_of_file(where.file) << 20 | static_cast<std::uint64_t>(where.line);
  const auto [found, first_use] = place_numbers_.try_emplace(key, places_.size());
  if (first_use) places_.push_back({names_[line.name], line.offset, where, 0, 0, 0});
  return found->second;
}

// ---- turns ----

void world::start(unsigned i, std::function<void()> body, picoseconds from) {
  processor& p = processors_.at(i);
  p.clock = p.uses[at(spent::asleep)] = from;
  p.body = std::move(body);
  p.stack.prepare(&enter, nullptr);
  p.is = processor::condition::ready;
  go_on_at(from, static_cast<int>(i));
}

void world::enter(void*) {
  world& w = here();
  w.me().body();
  w.me().is = processor::condition::ended;
  w.abandon();
}

void world::abandon() {
  for (;;) me().stack.suspend();
}

void world::go_on_at(picoseconds at, int i) {
  turns_.emplace_back(at, i);
  std::push_heap(turns_.begin(), turns_.end(), std::greater{});
}

// A processor that sleeps until a time may be woken before.
void world::forget_alarm(int i) {
  if (std::erase_if(turns_, [i](const auto& turn) { return turn.second == i; }) == 0) return;
  std::make_heap(turns_.begin(), turns_.end(), std::greater{});
}

void world::run() {
  while (!turns_.empty() && !stopped_) {
    std::pop_heap(turns_.begin(), turns_.end(), std::greater{});
    self_ = turns_.back().second;
    turns_.pop_back();
    me().stack.resume();
  }
  self_ = -1;
  apply_stores(std::numeric_limits<picoseconds>::max());
}

// Every operation on shared memory begins with this: after it, no other processor's clock is behind the caller's.
void world::take_turn() {
  if (stopped_) abandon();
  ++operations_;
  if (me().interrupted != 0) spend(spent::calls, std::exchange(me().interrupted, 0));
  if (!turns_.empty() && turns_.front() < std::pair{me().clock, self_}) {
    go_on_at(me().clock, self_);
    me().stack.suspend();
  }
  apply_stores(me().clock);
}

void world::stop() {
  if (self_ < 0) return;
  stopped_ = true;
  end_ = me().clock;
}

// ---- what time is spent on ----

void world::spend(spent what, picoseconds how_long) noexcept {
  me().clock += how_long;
  me().uses[at(what)] += how_long;
}

void world::wait(std::size_t at_place, picoseconds how_long, picoseconds queued) noexcept {
  spend(spent::lines, how_long);
  places_[at_place].waited += how_long;
  places_[at_place].queued += queued;
  ++places_[at_place].times;
}

void world::pause(bool for_lock) {
  if (self_ < 0) return;
  if (for_lock) {
    nap(machine_.pause);
  } else {
    spend(spent::looking, machine_.pause);
  }
}

void world::nap(picoseconds how_long) {
  if (self_ < 0) return;
  spend(spent::locks, how_long);
  place& lock = places_[place_of(line_of(me().last_at), me().last_site)];
  lock.waited += how_long;
  lock.queued += how_long;
}

void world::yield_call() { nap(machine_.yield_call); }

void world::work(picoseconds how_long) {
  if (self_ >= 0) spend(spent::work, how_long);
}

// Returns whether the caller was woken. If not, its clock goes on when a woken thread's would, had it been woken then.
bool world::fall_asleep(picoseconds until) {
  me().is = processor::condition::falling_asleep;
  me().woken = false;
  drain_stores();
  spend(spent::calls, machine_.sleep_call);
  take_turn();
  if (!me().woken) {
    me().is = processor::condition::sleeping;
    if (until != never) go_on_at(std::max(until, me().clock), self_);
    me().stack.suspend();
    if (!me().woken) spend(spent::asleep, std::max(until - me().clock, picoseconds{0}) + machine_.wake_up);
  }
  me().is = processor::condition::ready;
  return me().woken;
}

void world::wake(int i) {
  if (self_ < 0) return;
  drain_stores();
  take_turn();
  const picoseconds begin = me().clock;
  spend(spent::calls, machine_.wake_call);
  if (i < 0) return;
  processor& other = processors_[static_cast<std::size_t>(i)];
  other.woken = true;
  if (other.is != processor::condition::sleeping) return;
  const picoseconds until = std::max(other.clock, begin) + machine_.wake_up;
  other.uses[at(spent::asleep)] += until - other.clock;
  other.clock = until;
  other.is = processor::condition::ready;
  forget_alarm(i);
  go_on_at(until, i);
}

// ---- cache lines ----

bool world::has(const cache_line_state& line) const noexcept {
  return (line.holders[index() / bits] >> index() % bits & 1) != 0;
}

bool world::has_alone(const cache_line_state& line) const noexcept {
  for (std::size_t i = 0; i != line.holders.size(); ++i) {
    const std::uint64_t mine = i == index() / bits ? std::uint64_t{1} << index() % bits : 0;
    if (line.holders[i] != mine) return false;
  }
  return true;
}

void world::own(cache_line_state& line, int processor) noexcept {
  const auto i = static_cast<std::size_t>(processor);
  line.holders.fill(0);
  line.holders[i / bits] = std::uint64_t{1} << i % bits;
  line.modified = true;
}

// Whether a processor of [begin, end) is in the set.
bool world::any_in(const set_of_processors& of, unsigned begin, unsigned end) noexcept {
  for (std::size_t word = begin / bits; word * bits < end && word != of.size(); ++word) {
    std::uint64_t in = of[word];
    if (word * bits < begin) in &= ~std::uint64_t{0} << begin % bits;
    if (end - word * bits < bits) in &= (std::uint64_t{1} << end % bits) - 1;
    if (in != 0) return true;
  }
  return false;
}

// From where a line that travels will come: from the last one that has asked for it.
world::set_of_processors world::sources(const cache_line_state& line) const noexcept {
  if (!travels(line)) return line.holders;
  set_of_processors last{};
  const auto i = static_cast<std::size_t>(line.asked_last);
  last[i / bits] = std::uint64_t{1} << i % bits;
  return last;
}

world::neighbourhood world::neighbours() const noexcept {
  const auto self = static_cast<unsigned>(self_);
  const unsigned socket = self / machine_.socket * machine_.socket;
  const unsigned socket_end = socket + machine_.socket;
  const unsigned group = socket + (self - socket) / machine_.group * machine_.group;
  return {socket, socket_end, group, std::min(group + machine_.group, socket_end)};
}

// A load is answered by the nearest holder.
picoseconds world::from_nearest(const cache_line_state& line) const noexcept {
  const neighbourhood near = neighbours();
  const set_of_processors from = sources(line);
  if (any_in(from, near.group, near.group_end)) return machine_.same_group;
  if (any_in(from, near.socket, near.socket_end)) return machine_.same_socket;
  return machine_.other_socket;
}

// A write must reach all holders, and so takes as long as it takes to the farthest.
picoseconds world::from_farthest(const cache_line_state& line) const noexcept {
  const neighbourhood near = neighbours();
  const set_of_processors from = sources(line);
  if (any_in(from, 0, near.socket) || any_in(from, near.socket_end, most_processors)) return machine_.other_socket;
  if (any_in(from, near.socket, near.group) || any_in(from, near.group_end, near.socket_end)) {
    return machine_.same_socket;
  }
  return machine_.same_group;
}

world::cache_line_state& world::begin_operation(const void* where, site called) {
  take_turn();
  me().last_at = where;
  me().last_site = called;
  return line_of(where);
}

// If the line is on its way here for a store in the buffer, the caller waits for it.
void world::await_own_store(cache_line_state& line, site called) {
  if (!travels(line) || line.asked_last != self_ || !line.to_write) return;
  wait(place_of(line, called), line.free_at - me().clock, 0);
  take_turn();
}

// Each operation that needs a line of others asks for it at once, and waits in the line's queue: its clock goes forward
// to the moment when the line is there. Then the others have their turns, up to that moment, and only then it takes
// effect.
bool world::load(const void* where, site called, std::uint64_t& value) {
  if (self_ < 0) return false;
  cache_line_state& line = begin_operation(where, called);
  processor& p = me();
  const auto own_store =
      std::find_if(p.stores.rbegin(), p.stores.rend(), [where](const buffered_store& s) { return s.to == where; });
  if (own_store != p.stores.rend()) {
    value = own_store->bits;
    spend(spent::own_lines, machine_.hit);
    return true;
  }
  await_own_store(line, called);
  const bool to_be_written = travels(line) && line.to_write;
  const bool untouched = line.holders == set_of_processors{} && !to_be_written;
  if (untouched || (has(line) && !to_be_written)) {
    spend(spent::own_lines, machine_.hit);
    if (untouched) own(line, self_);
    return false;
  }
  const picoseconds begin = std::max(p.clock, line.free_at);
  const picoseconds end = begin + from_nearest(line);
  // The processor that has changed the line sends it to one reader, one transfer after the other. Readers that copy the
  // line from that reader do not wait for each other.
  if (to_be_written || (line.modified && !travels(line))) {
    line.free_at = end;
    line.asked_last = self_;
    line.to_write = false;
  }
  wait(place_of(line, called), end - p.clock, begin - p.clock);
  take_turn();
  line.modified = false;
  line.holders[index() / bits] |= std::uint64_t{1} << index() % bits;
  return false;
}

// A store waits in the store buffer for its line, and only a fence or a read-modify-write waits for it. It asks for its
// line at once, also behind others, but stores leave the buffer in order.
void world::store(void* where, site called, const void* value, std::size_t size) {
  if (self_ < 0) {
    std::memcpy(where, value, size);
    return;
  }
  cache_line_state& line = begin_operation(where, called);
  processor& p = me();
  const bool free = !travels(line) && (line.holders == set_of_processors{} || has_alone(line));
  if (free && p.stores.empty()) {
    own(line, self_);
    std::memcpy(where, value, size);
  } else {
    const bool takes_line = !free && !(travels(line) && line.asked_last == self_ && line.to_write);
    if (takes_line) {
      const picoseconds begin = std::max(p.clock, line.free_at);
      const picoseconds end = begin + from_farthest(line);
      if (end > p.stores_done) {
        p.last_store = place_of(line, called);
        p.store_queued = begin - p.clock;
        p.stores_done = end;
      }
      line.free_at = p.stores_done;
      line.asked_last = self_;
      line.to_write = true;
    }
    buffered_store& last = p.stores.emplace_back(buffered_store{where, 0, size, takes_line});
    std::memcpy(&last.bits, value, size);
    drains_.emplace_back(std::max(p.stores_done, p.clock), ++stores_, self_);
    std::push_heap(drains_.begin(), drains_.end(), std::greater{});
  }
  spend(spent::own_lines, machine_.hit);
}

// The oldest store of a processor becomes visible.
void world::leave_buffer(int of) {
  processor& p = processors_[static_cast<std::size_t>(of)];
  const buffered_store store = p.stores.front();
  p.stores.pop_front();
  std::memcpy(store.to, &store.bits, store.size);
  if (store.takes_line) own(line_of(store.to), of);
}

void world::apply_stores(picoseconds until) {
  while (!drains_.empty() && std::get<0>(drains_.front()) <= until) {
    std::pop_heap(drains_.begin(), drains_.end(), std::greater{});
    const int of = std::get<2>(drains_.back());
    drains_.pop_back();
    leave_buffer(of);
  }
}

void world::drain_stores() {
  processor& p = me();
  if (p.stores_done <= p.clock) return;
  const picoseconds left = p.stores_done - p.clock;
  wait(p.last_store, left, std::min(left, p.store_queued));
}

void world::read_modify_write(const void* where, site called) {
  if (self_ < 0) return;
  drain_stores();
  cache_line_state& line = begin_operation(where, called);
  processor& p = me();
  if (!travels(line) && (line.holders == set_of_processors{} || has_alone(line))) {
    spend(spent::own_lines, machine_.rmw);
  } else {
    const picoseconds begin = std::max(p.clock, line.free_at);
    const picoseconds end = begin + from_farthest(line);
    line.free_at = end;
    line.asked_last = self_;
    line.to_write = true;
    wait(place_of(line, called), end - p.clock, begin - p.clock);
    take_turn();
  }
  own(line, self_);
}

void world::fence() {
  if (self_ < 0) return;
  drain_stores();
  spend(spent::own_lines, machine_.fence);
}

// Another processor's store that is in its buffer now is visible at the end, and all that it loads later, it loads
// after the caller's stores.
void world::heavy_fence() {
  if (self_ < 0) return;
  drain_stores();
  take_turn();
  picoseconds end = me().clock + machine_.heavy_fence;
  for (processor& other : processors_) {
    end = std::max(end, other.stores_done);
    if (&other != &me() && other.is == processor::condition::ready) other.interrupted += machine_.interrupt;
  }
  spend(spent::calls, end - me().clock);
  take_turn();
}

// ---- the report ----

std::array<double, static_cast<std::size_t>(spent::count)> world::shares() const {
  std::array<double, static_cast<std::size_t>(spent::count)> all{};
  double sum = 0;
  for (const processor& p : processors_) {
    for (std::size_t i = 0; i != all.size(); ++i) all[i] += static_cast<double>(p.uses[i]);
    if (p.is != processor::condition::ready && p.clock < end_) {
      all[at(spent::asleep)] += static_cast<double>(end_ - p.clock);
    }
  }
  for (const double use : all) sum += use;
  for (double& use : all) use = sum > 0 ? use / sum : 0;
  return all;
}

std::vector<world::place> world::places() const {
  std::vector<place> worst = places_;
  std::stable_sort(worst.begin(), worst.end(), [](const place& a, const place& b) { return a.waited > b.waited; });
  return worst;
}

}  // namespace runq::simulate
