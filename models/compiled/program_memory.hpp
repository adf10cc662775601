// SPDX-License-Identifier: MIT
// The memory of a compiled program, as it is accessed without atomic operations.
//
// Plain accesses are no events of the graph: the program's memory holds the values, because a thread is executed in an
// order that respects what it has read, and the shadow memory compares each access with the clocks of the graph. Memory
// is only wrong where there is a race, which ends the check.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "beginning.hpp"
#include "execution.hpp"
#include "identities.hpp"
#include "process.hpp"
#include "program_code.hpp"
#include "program_heap.hpp"
#include "shadow.hpp"
#include "wide_values.hpp"

namespace runq::model::compiled {

/// Plain accesses to the program's memory: each must be allowed there, and race with none.
class program_memory {
 public:
  program_memory(execution& now, program_code& code, thread_identities& identities, wide_values& wide)
      : now_(now), code_(code), identities_(identities), wide_(wide) {}

  /// When a check begins.
  void find_libraries() { standard_library_ = memory_of_standard_library(); }
  void begin_execution();

  [[nodiscard]] program_heap& heap() noexcept { return heap_; }
  [[nodiscard]] program_beginning& beginning() noexcept { return beginning_; }
  [[nodiscard]] granule& at(const void* p) { return shadow_.of(p); }
  /// Something else lives from now on where that atomic variable is, which has bytes in the granule.
  void end_atomic(granule& g, const std::byte* granule_begin, const atomic_place& place);

  // --- accesses -----------------------------------------------------------------------------------------------------
  [[gnu::always_inline]] void access(const void* at, std::size_t size, bool is_write, const void* code) {
    if (size == 0) return;
    if (now_.is_probing) look_before_probe_accesses(at, is_write);
    if (is_write && !now_.on_own_stack(at)) now_.note_write(at, size);
    access_plainly(at, size, is_write, code);
  }
  /// The same for an access by the running program. Most accesses take few instructions and call no function.
  [[gnu::always_inline]] void access_by_program(const void* at, std::size_t size, bool is_write, const void* code) {
    const unsigned first = offset_in_granule(at);
    if (first + size > granule_bytes) return access_slowly(at, size, is_write, code);
    granule* const g = look_quickly(at, size, at, size, is_write, code);
    if (g == nullptr) return access_slowly(at, size, is_write, code);
    if (!now_.is_alone() && now_.is_new_late_access(at, size, {false, is_write}))
      return access_slowly(at, size, is_write, code);
    if (is_write && !now_.on_own_stack(at)) now_.note_write(at, size);
    if (now_.is_alone()) return;
    if (!code_.is_surely_own(code)) return access_slowly(at, size, is_write, code);
    const byte_mask bytes = bytes_from(first, size);
    const plain_access a = access_by_own(at, bytes, is_write, code);
    if (!g->notes_quickly(a)) access_beside(*g, at, a);
  }
  /// What a compare-exchange expects may be shared memory, as the link of a node: compilers show no access to it.
  enum class expected_access : std::uint8_t { read, left, changed };
  void access_expected(const void* at, std::size_t size, expected_access how, const void* code);
  /// Faults as the program's access would. Its compiler has removed the access, because the value is not needed.
  static void touch(const void* at, std::size_t size, const void* code) {
    const auto* const begin = static_cast<const volatile std::byte*>(at);
    this_process.touched = {static_cast<const std::byte*>(at), size, code};
    std::atomic_signal_fence(std::memory_order::seq_cst);
    static_cast<void>(*begin);
    static_cast<void>(begin[size - 1]);
    std::atomic_signal_fence(std::memory_order::seq_cst);
  }
  /// The running thread, which comes late, accesses these bytes of a granule.
  void note_late_access(const void* part, byte_mask bytes, reads_in_waits::manner how, const void* code);
  /// Whether the access, which is one of the running thread, races with an earlier one to the same granule.
  void check_against(const plain_access& old, const plain_access& a, const void* at, bool is_plain) {
    const bool conflicts = (old.bytes & a.bytes) != 0 && (old.is_write || a.is_write) && old.thread != a.thread;
    if (conflicts) now_.alike.access_after(now_, old, a, at);
    if (!conflicts || now_.search->knows(old.thread, old.position) || is_of_standard_library(at)) return;
    if (now_.search->on_shortcut()) return;  // another execution shows it
    report_race(old, a, at, is_plain);
  }
  /// Whether it is a global variable, or lies on the stack of a thread.
  [[nodiscard]] bool is_variable(const void* p) const noexcept { return beginning_.is_global(p) || now_.on_a_stack(p); }

  // --- names --------------------------------------------------------------------------------------------------------
  /// Of what lies there; empty if that is unknown. No size: all that begins there is meant.
  [[nodiscard]] std::string name_of(const void* at, std::size_t size) { return shown_at(at, size).name; }
  [[nodiscard]] shown_part shown_at(const void* at, std::size_t size);
  [[nodiscard]] std::string name_of_object(const object_kind& kind, const void* at);
  /// The call that initialises or destroys an object, while its access is compared with others.
  struct object_call {
    const object_kind* kind = nullptr;  ///< nullptr: a key
    const void* at = nullptr;
    const char* what = nullptr;
  };
  /// The same as access(), as that call.
  void access_in_call(const object_call& call, const void* at, std::size_t size, bool is_write, const void* code);

 private:
  /// Of the access to `size` bytes at `at`, the `part_size` bytes at `part` lie in one granule: returns that if the
  /// thread is known to be allowed to use them, and no atomic variable is there. Otherwise, and where more has to be
  /// noted, it returns nullptr.
  [[nodiscard, gnu::always_inline]] granule* look_quickly(const void* part, std::size_t part_size, const void* at,
                                                          std::size_t size, bool is_write, const void* code) {
    if (size == 0 || now_.is_probing || code_.executed().is_recording() ||
        (is_write && !beginning_.is_of_whole_program()))
      return nullptr;
    granule* const g = shadow_.find_quickly(part);
    if (g == nullptr) return nullptr;
    if (!shadow_.is_current(*g)) {
      const bool before = std::exchange(this_process.in_program, false);
      touch(at, size, code);
      this_process.in_program = before;
      shadow_.begin(*g);
    }
    if (heap_.owns(part) && !heap_.may_use(*g, part, part_size)) return nullptr;
    return g->atomics != nullptr ? nullptr : g;
  }
  /// `code` is the program's own.
  [[nodiscard]] plain_access access_by_own(const void* at, byte_mask bytes, bool is_write, const void* code) noexcept {
    now_.note_access(at, bytes, is_write);
    return {
        {{now_.running().at, code}, *now_.self.position, static_cast<std::uint8_t>(now_.self.number)}, bytes, is_write};
  }
  [[gnu::always_inline]] void access_plainly(const void* at, std::size_t size, bool is_write, const void* code) {
    const unsigned first = offset_in_granule(at);
    if (first + size > granule_bytes) return access_parts(at, size, is_write, code);
    access_part(at, bytes_from(first, size), at, size, is_write, code);
  }
  /// From a hook: access().
  void access_slowly(const void* at, std::size_t size, bool is_write, const void* code);
  /// From a hook: the thread may use the bytes; others, or it itself, have accessed some in the granule.
  void access_beside(granule& g, const void* at, const plain_access& a);
  void access_parts(const void* at, std::size_t size, bool is_write, const void* code);
  /// Of the access to `size` bytes at `at`, the part that lies in one granule.
  [[gnu::always_inline]] void access_part(const void* part, byte_mask bytes, const void* at, std::size_t size,
                                          bool is_write, const void* code) {
    // Memory that was accessed before is there.
    granule& g = shadow_.of(part, [=] { touch(at, size, code); });
    heap_.check(g, part, bytes, at, size, {is_write, true}, code);
    if (is_write && part == at) beginning_.keep(at, size);
    if (now_.is_alone() && !g.has_atomics()) return;
    now_.note_access(part, bytes, is_write);
    if (now_.comes_late()) note_late_access(part, bytes, {false, is_write}, code);
    if (g.atomics != nullptr && now_.search->takes_shortcuts()) require_no_variable(g, part, bytes, is_write);
    const plain_access a{code_.step_here(code), bytes, is_write};
    if (g.has_atomics() || !g.notes_quickly(a)) access_shared(g, part, a);
  }
  void look_before_probe_accesses(const void* at, bool is_write);
  void access_shared(granule& g, const void* part, const plain_access& a);
  void require_own_stack(granule& g, const void* part, const plain_access& a);
  void require_no_variable(const granule& g, const void* part, byte_mask bytes, bool is_write);
  void access_atomics(granule& g, const void* at, const plain_access& a);
  void check_against_atomic(atomic_place& place, const std::byte* granule_begin, const plain_access& a,
                            std::uint32_t bytes);
  [[nodiscard]] bool is_of_standard_library(const void* at) const noexcept {
    return std::any_of(standard_library_.begin(), standard_library_.end(),
                       [at](const address_range& r) { return r.contains(at); });
  }
  [[noreturn]] void report_race(const plain_access& old, const plain_access& a, const void* at, bool is_plain);
  [[nodiscard]] std::string while_in_use();
  [[nodiscard]] shown_part shown_on_heap(const std::byte* at, std::size_t size);
  [[nodiscard]] shown_part shown_on_stack(const std::byte* at, std::size_t size, unsigned thread);
  [[nodiscard]] const void* code_within(const frame* call, unsigned thread);

  execution& now_;
  program_code& code_;
  thread_identities& identities_;
  wide_values& wide_;
  shadow shadow_;
  program_heap heap_{now_, code_, shadow_};
  program_beginning beginning_{now_, identities_, shadow_, heap_.blocks()};
  std::vector<address_range> standard_library_;  ///< see memory_of_standard_library()
  object_call object_call_;
};

}  // namespace runq::model::compiled
