// SPDX-License-Identifier: MIT
// What the parts of a session share: the search that is under way, the thread that it runs, and what the checker knows
// of each thread at every step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "alike_threads.hpp"
#include "exact_search.hpp"
#include "frames.hpp"
#include "limits.hpp"
#include "objects.hpp"
#include "reads_in_waits.hpp"
#include "shadow.hpp"
#include "system.hpp"
#include "user_heap.hpp"

namespace runq::model::compiled {

/// One more word of what a sum stands for.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  sum = (sum ^ word) * odd;
  return sum ^ sum >> 32;
}

/// At the end of each stack, never to be touched.
inline constexpr std::size_t guard_bytes = largest_page_bytes;

/// The thread that runs main().
inline constexpr unsigned main_thread = 1;

/// A block of the heap that the thread was known to be allowed to use, when memory had been freed so often.
struct usable_memory {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  std::uint32_t releases = 0;

  [[nodiscard]] bool contains(const void* at, std::size_t size, std::uint32_t freed) const noexcept {
    return at >= begin && static_cast<const std::byte*>(at) + size <= end && releases == freed;
  }
};

struct held_lock {
  const void* lock;
  unsigned times;
  const object_kind* kind;
  code_place since;
};
struct taken_lock {
  const void* lock;
  unsigned position;  ///< events up to it
};

struct shared_access {
  const void* at;
  std::uint8_t bytes;  ///< of its granule
  bool is_write;
  /// Whether everything that races with the other one races with this one, too.
  [[nodiscard]] bool stands_for(const shared_access& other) const noexcept {
    return at == other.at && bytes == other.bytes && (is_write || !other.is_write);
  }
};

struct plain_write {
  const void* at;
  std::size_t size;
};

/// What more than one part of a session asks of a thread.
struct thread_state {
  frame* at = nullptr;                  ///< where in the program's code it is
  std::array<usable_memory, 2> usable;  ///< the last blocks that it has used, the newest first
  bool has_effect = false;              ///< it has done something else than to read since that was asked
  std::uint64_t accesses = 0;           ///< plain ones that others may notice
  bool has_change = false;              ///< it has changed an atomic variable since that was asked
  unsigned changed = 0;                 ///< events up to the last that has changed an atomic variable
  unsigned repeated = 0;                ///< events up to the last store that has left its variable as it was
  /// Plain accesses since it has last had an effect, but for those of a thread that was started to its own stack. If
  /// there is no room left, there were more. Plain hooks note them, which must not allocate memory.
  std::array<shared_access, 64> shared_accesses;
  std::size_t shared_access_count = 0;
  /// The last of all such accesses to each granule; one may have taken the place of another. They are counted from the
  /// search's beginning on, so that nothing has to be cleared before an execution.
  struct last_access {
    std::uintptr_t granule = 0;
    std::uint8_t bytes = 0;
    std::uint8_t written = 0;      ///< some of these
    std::size_t number = 0;        ///< 0: none
    std::size_t write_number = 0;  ///< of the last write
  };
  std::array<last_access, 512> last_accesses{};
  std::size_t access_count = 0;
  std::size_t last_lost = 0;  ///< the number of the last access whose place was taken
  void note_last(std::uintptr_t granule, std::uint8_t bytes, bool is_write) noexcept {
    last_access& a = last_accesses[granule / granule_bytes % last_accesses.size()];
    if (a.granule != granule) {
      last_lost = std::max(last_lost, a.number);
      a = {granule};
    }
    a.bytes |= bytes;
    a.number = ++access_count;
    if (!is_write) return;
    a.written |= bytes;
    a.write_number = access_count;
  }
  /// The last plain writes, but for those to its own stack: the one with number n at n % size.
  std::array<plain_write, 8> writes;
  std::size_t write_count = 0;
  unsigned other_effects = 0;  ///< than plain writes
  /// Before an event.
  struct moment {
    std::uint64_t state = 0;     ///< 0: not known
    const void* code = nullptr;  ///< where its operation returns to
  };
  std::vector<moment> moments;     ///< of each event
  unsigned spurious_failures = 0;  ///< compare-exchanges that have failed for no reason
  unsigned failed_spuriously = 0;  ///< events up to the last of these
  std::vector<held_lock> held;
  std::vector<taken_lock> taken;  ///< and not given back

  void begin(frame* root) noexcept {
    at = root;
    usable = {};
    has_effect = false;
    write_count = 0;
    other_effects = 0;
    moments.clear();
    accesses = 0;
    shared_access_count = 0;
    has_change = false;
    changed = 0;
    repeated = 0;
    spurious_failures = 0;
    failed_spuriously = 0;
    held.clear();
    taken.clear();
  }
};

/// A plain access that the failure is about: the engine's trace has no plain accesses.
struct shown_access {
  event_kind kind{};
  step by;
  const void* at = nullptr;
  std::size_t size = 0;  ///< 0: all that was allocated there
};

/// Is told when the running thread comes to its end, which nobody knows yet; and knows what tells other threads
/// something.
class end_observer {
 public:
  end_observer() = default;
  end_observer(const end_observer&) = delete;
  end_observer& operator=(const end_observer&) = delete;
  virtual void thread_ends(const void* result) = 0;
  /// Whether a write of that value tells other threads anything. That a thread begins to wait for an object, or waits
  /// no longer, stands in a word of the checker: the program does not read it. That it is woken does tell something.
  [[nodiscard]] virtual bool tells(unsigned variable, std::uint64_t value) const noexcept = 0;

 protected:
  ~end_observer() = default;
};

class thread_identities;

/// The execution that is under way, as all parts of a session see it.
struct execution {
  exact::search* search = nullptr;  ///< nullptr: no check is under way
  bounds limits;
  left_out omitted;
  end_observer* at_end = nullptr;
  const thread_identities* identities = nullptr;
  alike_threads alike;
  reads_in_waits waits;                                ///< of the search
  std::array<reads_in_waits::place, 256> last_late{};  ///< of those in `waits`, so that most need not be looked for
  bool is_probing = false;                             ///< exact::shortcut::is_probe
  unsigned unjoined = 0;                               ///< threads that were started in this execution, and not joined
  std::vector<shown_access> shown;                     ///< the one in conflict, if it is plain, and the failing one
  std::array<const frame*, 2> race{};  ///< where the two accesses are of the last race; nullptr: there was none
  std::array<thread_state, exact::thread_slots> threads;
  /// The thread that runs, or has run last.
  struct {
    unsigned number = 0;
    const unsigned* position = nullptr;  ///< its events so far
    thread_state* state = nullptr;
    const std::byte* stack = nullptr;  ///< its lowest address
    // See comes_late():
    unsigned looked_at = ~0U;      ///< by how many events; ~0: not yet
    std::uint64_t late_after = 0;  ///< a bit for each thread
  } self;

  [[nodiscard]] bool is_checked() const noexcept { return search != nullptr; }
  [[nodiscard]] thread_state& running() noexcept { return *self.state; }
  void enter(unsigned thread) noexcept {
    self = {thread, search->position_of(thread), &threads[thread], search->stack_of(thread).lowest()};
  }
  void begin() noexcept {
    is_probing = search->is_probing();
    unjoined = 0;
    shown.clear();
    race = {};
    alike.begin_execution();
  }
  /// The running thread does something that others can notice, or that it can find again.
  void note_effect() noexcept {
    running().has_effect = true;
    ++running().other_effects;
  }
  /// The same: it writes plainly.
  void note_write(const void* at, std::size_t size) noexcept {
    thread_state& t = running();
    t.has_effect = true;
    t.writes[t.write_count++ % t.writes.size()] = {at, size};
  }
  /// It accesses these bytes of a granule plainly.
  void note_access(const void* at, std::uint8_t bytes, bool is_write) noexcept {
    thread_state& t = running();
    ++t.accesses;
    if (self.number != main_thread && on_own_stack(at)) return;
    t.note_last(reinterpret_cast<std::uintptr_t>(at) - offset_in_granule(at), bytes, is_write);
    if (t.shared_access_count != t.shared_accesses.size())
      t.shared_accesses[t.shared_access_count++] = {at, bytes, is_write};
  }
  /// The running thread's last event changes an atomic variable. The graph shows whether another one undoes that.
  void note_change() noexcept {
    running().has_change = true;
    running().changed = search->position();
  }
  /// Whether all other threads have been joined, or none has been started yet: what the running thread does now
  /// happens-before everything that comes, and after everything that was, so that it races with nothing.
  [[nodiscard]] bool is_alone() const noexcept { return unjoined == 0; }
  [[nodiscard]] bool on_own_stack(const void* at) const noexcept {
    return reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(self.stack) <
           exact::fiber_stack_bytes;
  }
  /// The thread on whose stack the address is; 0: on none.
  [[nodiscard]] unsigned thread_with_stack_at(const void* at) const noexcept;
  [[nodiscard]] bool on_a_stack(const void* at) const noexcept { return thread_with_stack_at(at) != 0; }
  [[nodiscard]] bool on_stack_of_another(const void* at) const noexcept { return !on_own_stack(at) && on_a_stack(at); }
  /// The thread whose stack, or thread-local variable, is there; 0: none.
  [[nodiscard]] unsigned thread_with_variable_at(const void* at) const noexcept;
  void show(event_kind kind, const step& by, const void* at, std::size_t size) {
    shown.push_back({kind, by, at, size});
  }
  /// Whether what the running thread does now comes after an event of another thread in (po ∪ rf)+, and does not
  /// happen-after it.
  [[nodiscard]] bool comes_late() noexcept {
    if (self.looked_at != *self.position) look_whether_late();
    return self.late_after != 0;
  }
  /// Whether the running thread's access is late, and was not noted just before.
  [[nodiscard]] bool is_new_late_access(const void* at, std::size_t size, reads_in_waits::manner how) {
    if (!comes_late() || search->on_shortcut() || search->keeps_rounds()) return false;
    for (std::uint64_t left = self.late_after; left != 0; left &= left - 1) {
      const reads_in_waits::place p = place_of(left, at, size, how);
      if (last_late[slot_of(p)] != p) return true;
    }
    return false;
  }
  /// Late: see reads_in_waits. To free memory is to write there. `allocated`: where, if that is a block of the heap;
  /// no loop can have read it before somebody was told of it. The function is called for the line of code.
  template <class Function>
  void note_late_access(const void* at, std::size_t size, reads_in_waits::manner how, const step* allocated,
                        Function&& line) {
    if (!is_new_late_access(at, size, how)) return;
    const exact::clock before = comes_after();
    for (std::uint64_t left = self.late_after; left != 0; left &= left - 1) {
      const reads_in_waits::place p = place_of(left, at, size, how);
      if (allocated != nullptr && !may_have_told_before(*allocated, p.thread, before[p.thread])) continue;
      waits.note_late(p, line);
      last_late[slot_of(p)] = p;
    }
  }
  static constexpr std::uint32_t all_bytes = 0xffff;
  /// An event of the variable that neither happens-before the running thread's next one nor after its `position`-th,
  /// and accesses some of these bytes of it.
  [[nodiscard]] exact::event_id concurrent_event(std::uint16_t variable, bool writes_only, unsigned position,
                                                 std::uint32_t bytes = all_bytes) const;

 private:
  [[nodiscard]] static reads_in_waits::place place_of(std::uint64_t threads, const void* at, std::size_t size,
                                                      reads_in_waits::manner how) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    return {static_cast<unsigned>(std::countr_zero(threads)), begin, begin + size, how};
  }
  [[nodiscard]] std::size_t slot_of(const reads_in_waits::place& p) const noexcept {
    return (p.begin / 4 + p.begin / 1024 + p.thread + 8UL * p.how.is_atomic + 16UL * p.how.is_write) % last_late.size();
  }
  void look_whether_late();
  void look_for_late_threads(const exact::clock& before, const exact::clock& known);
  /// Whether what comes after these events, and knows of those, comes after one of the thread that it does not know of.
  [[nodiscard]] static bool is_late(const exact::clock& before, const exact::clock& known, unsigned thread) noexcept {
    return before[thread] > known[thread];
  }
  /// Whether one of the thread's events from `first` to `end` is a write that tells other threads something.
  [[nodiscard]] bool has_told(unsigned thread, unsigned first, unsigned end) const;
  /// What comes before the running thread's next event in (po ∪ rf)+.
  [[nodiscard]] exact::clock comes_after() const;
  /// Whether the thread of `s` may have told `thread` something after that step, which does not come after the
  /// `events`-th event of `thread` in (po ∪ rf)+. All that counts is in the past of the running thread.
  [[nodiscard]] bool may_have_told_before(const step& s, unsigned thread, unsigned events) const;
};

}  // namespace runq::model::compiled
