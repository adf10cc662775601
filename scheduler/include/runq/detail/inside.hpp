// SPDX-License-Identifier: MIT
// inside: what the headers that users include know of the inside of a scheduler. The rest of it is in
// scheduler/src/inside.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "runq/common.hpp"
#include "runq/detail/frames.hpp"
#include "runq/protocol/time_slice.hpp"
#include "runq/source_place.hpp"

namespace runq::detail {

class core;
struct frame;
struct strand;
class scope_state;

/// What a task owns beside its first coroutine, as the function object that the coroutine may refer to. Destroyed when
/// that coroutine has been destroyed.
struct closure {
  void (*destroy)(closure*) noexcept;
};

/// A closure that a task owns, or none; or the memory of a function object that needs no destructor, whose size lies
/// beside its address.
class owned_closure {
 public:
  static constexpr std::size_t most_plain = 7 * frame_cache::granule;  // bytes

  owned_closure() noexcept = default;  // uninitialised
  [[nodiscard]] static owned_closure none() noexcept { return owned_closure(0); }
  [[nodiscard]] static owned_closure of(closure& c) noexcept {
    return owned_closure(reinterpret_cast<std::uintptr_t>(&c));
  }
  /// `memory` is from allocate_frame(bytes); `bytes` is a multiple of frame_cache::granule, at most most_plain.
  [[nodiscard]] static owned_closure plain(void* memory, std::size_t bytes) noexcept {
    return owned_closure(reinterpret_cast<std::uintptr_t>(memory) | bytes / frame_cache::granule);
  }
  [[nodiscard]] bool is_none() const noexcept { return word_ == 0; }
  /// Must be a closure.
  [[nodiscard]] closure& get() const noexcept { return *reinterpret_cast<closure*>(word_); }
  void destroy() const noexcept;

 private:
  explicit owned_closure(std::uintptr_t word) noexcept : word_(word) {}
  std::uintptr_t word_;
};

/// The closure of a task that a coroutine waits for.
struct awaited_closure : closure {
  union {
    scope_state* scope = nullptr;  // a child: its scope
    frame* awaited_by;             // spawned: the coroutine that awaits the task's handle now, or null
    frame* above;                  // at the end of a run, when the task was tied: the one that it is below
  };
  strand* first_strand = nullptr;  // at the end of a run: see frame_tree
};

/// What go() makes of its argument, a task that no scheduler knows yet: its first coroutine and its closure. This
/// object destroys both, unless it is given to a scheduler.
class new_task {
 public:
  explicit new_task(frame& root) noexcept : root_(&root) {}
  new_task(new_task&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), closure_(std::exchange(other.closure_, owned_closure::none())) {}
  new_task& operator=(new_task&&) = delete;
  ~new_task() {
    if (root_ != nullptr) destroy();
  }
  void owns(owned_closure c) noexcept { closure_ = c; }
  /// The task is a child of the scope that `c` names.
  void is_child(awaited_closure& c) noexcept;
  /// The task is one that spawn() has started.
  void is_spawned(awaited_closure& c) noexcept;

 private:
  friend core;
  void destroy() noexcept;
  frame* root_;
  owned_closure closure_ = owned_closure::none();
};

/// The part of a processor that is compiled into users' programs, because coroutines use it at every call and await.
/// Only the machine that holds the processor may use it, except `home`, and `slice` where it says so.
struct processor_front {
  processor_front(core& scheduler, bool forks_continue) noexcept : home(scheduler), continues_forks(forks_continue) {}
  core& home;
  strand* current = nullptr;  // the strand that runs now
  time_slice<> slice;         // whether its task has run for too long: noticed at the next co_await
  static constexpr std::uint32_t most_transfers = 64;
  std::uint32_t transfers_left = most_transfers;  // until the machine's loop is entered again; see transfer()
  const bool continues_forks;                     // options::forks is fork_policy::continuation
  frame_cache frames;
};

/// The front of the processor that the calling thread holds, or nullptr outside a scheduler.
///
/// After a suspension the same code may run on another thread. LLVM before 17 optimises a coroutine before it splits it
/// and may keep the address of the first thread's variable across the suspension, so for it this function calls one of
/// the library. The library has both, whichever compiler has compiled it.
extern constinit thread_local processor_front* held_here;
[[nodiscard]] processor_front* this_front_by_call() noexcept;
#if defined(__clang__) && __clang_major__ < 17
[[nodiscard]] inline processor_front* this_front() noexcept { return this_front_by_call(); }
#else
[[nodiscard]] inline processor_front* this_front() noexcept { return held_here; }
#endif

[[noreturn]] void throw_no_task();

/// The front of the calling task's processor. Throws runq::misuse where there is none: outside a task, and in a
/// blocking_section.
[[nodiscard]] inline processor_front& own_front() {
  processor_front* const p = this_front();
  if (p == nullptr) throw_no_task();
  return *p;
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

/// Makes a task, runnable next on the calling thread's processor, of which `p` is the front. `at` is where the program
/// starts it. Throws std::bad_alloc.
void spawn(processor_front& p, new_task made, const char* name, source_place at = {});
/// Makes a task from a thread without a processor of `home`, at the end of the global queue. When the scheduler has
/// been destroyed, the task is destroyed instead.
void spawn_outside(core& home, new_task made, const char* name, source_place at = {});

/// Makes `s`, which waits, runnable: next on the calling thread's processor, or, if that belongs to no or another
/// scheduler, at the end of the global queue. Any thread.
void ready(strand& s);

/// Exists while a task waits with a stop token: as long as the token has a source, a thread outside the scheduler may
/// wake the task.
class stop_wait {
 public:
  /// `token` lives as long as this.
  stop_wait(core& home, const std::stop_token& token);
  stop_wait(const stop_wait&) = delete;
  stop_wait& operator=(const stop_wait&) = delete;
  ~stop_wait();

 private:
  friend core;
  void leave() noexcept;
  core& home_;
  const std::stop_token& token_;
  bool listed_ = true;             // under the core's stop_waits_mutex_
  stop_wait* next_ = nullptr;      // under the core's stop_waits_mutex_
  stop_wait* previous_ = nullptr;  // under the core's stop_waits_mutex_
};

// Every await that does not have to wait asks whether the time slice of its task is over, and if so lets the other
// tasks run, by the following three functions. Otherwise a loop of such awaits would keep its processor for ever.

/// Whether the calling task has run for too long. For an await_ready() that would return true otherwise. False outside
/// a scheduler.
[[nodiscard]] inline bool time_slice_over() noexcept {
  const processor_front* const p = this_front();
  return p != nullptr && p->slice.over();
}

/// Puts the task that runs on `p`, and is to go on at `self`, at the end of the global queue: from then on another
/// machine may run it at any moment.
void preempt(processor_front& p, std::coroutine_handle<> self);

/// Calls preempt() if the task has run for too long, and returns whether it did.
[[nodiscard]] inline bool preempt_if_slice_is_over(processor_front& p, std::coroutine_handle<> self) {
  if (!p.slice.over()) return false;
  preempt(p, self);
  return true;
}

/// The part of transfer() that does not go on directly: `h` goes on from the machine's loop, or, if the task has run
/// for too long, from the end of the global queue.
[[nodiscard]] std::coroutine_handle<> transfer_by_loop(processor_front& p, std::coroutine_handle<> h) noexcept;

/// A coroutine that ends or waits returns it from await_suspend() to go on with `h`. Symmetric transfer is a tail call
/// only in optimised builds. So now and then `h` goes on from the machine's loop instead, which bounds the stack in the
/// other builds.
RUNQ_ON_EVERY_CALL [[nodiscard]] inline std::coroutine_handle<> transfer(processor_front& p,
                                                                         std::coroutine_handle<> h) {
  if (!p.slice.over() && --p.transfers_left != 0) return h;
  return transfer_by_loop(p, h);
}

/// `co_await placed(awaiter, at)` waits as `awaiter` does, but dumps say that the task waits at `at`: for coroutines of
/// the library, whose users look for a line of their own.
template <class Awaiter>
class [[nodiscard]] placed {
 public:
  placed(Awaiter&& of, source_place at) noexcept : of_(of), at_(at) {}
  placed(const placed&) = delete;
  placed& operator=(const placed&) = delete;
  [[nodiscard]] bool await_ready() { return of_.await_ready(); }
  template <class Promise>
  [[nodiscard]] auto await_suspend(std::coroutine_handle<Promise> self) {
    return of_.await_suspend(self, at_);
  }
  decltype(auto) await_resume() { return of_.await_resume(); }

 private:
  Awaiter& of_;
  source_place at_;
};

// ---- frames ---------------------------------------------------------------------------------------------------------

/// Memory for a frame: through the cache of the calling thread's processor, if it has one.
[[nodiscard]] inline void* allocate_frame(std::size_t bytes) { return this_frame_cache().allocate(bytes); }
RUNQ_ON_EVERY_CALL inline void deallocate_frame(void* memory, std::size_t bytes) noexcept {
  if (bytes > frame_cache::largest && leave_remains(memory, bytes)) return;
  this_frame_cache().deallocate(memory, bytes);
}

inline void owned_closure::destroy() const noexcept {
  constexpr std::uintptr_t beside_address = frame_cache::granule - 1;
  if (const std::size_t granules = word_ & beside_address; granules != 0) {
    deallocate_frame(reinterpret_cast<void*>(word_ & ~beside_address), granules * frame_cache::granule);
  } else if (!is_none()) {
    get().destroy(&get());
  }
}

/// The base of every promise, by which its coroutine gets memory: a multiple of `Step` bytes, a power of two. A promise
/// is not told the alignment of its frame, and a block is aligned as well as its size allows. g++ makes the size of a
/// frame a multiple of its alignment. clang++ does not, as 14 and 19 show with -O0: 104 bytes for a frame with an
/// object of alignment 32. So it gets multiples of 64, the largest alignment that it heeds (docs/limits.md).
///
/// `Step` is a parameter of the type, so that the functions of two compilers have different names, and no linker takes
/// one for the other.
template <std::size_t Step>
struct frame_memory {
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + Step - 1) & ~(Step - 1);
  }
  // NOLINTNEXTLINE(misc-new-delete-overloads): its delete is the sized one
  RUNQ_ON_EVERY_CALL static void* operator new(std::size_t bytes) { return allocate_frame(rounded(bytes)); }
  RUNQ_ON_EVERY_CALL static void operator delete(void* memory, std::size_t bytes) noexcept {
    deallocate_frame(memory, rounded(bytes));
  }
};
#if defined(__clang__)
using memory_of_frame = frame_memory<64>;
#else
using memory_of_frame = frame_memory<1>;
#endif

}  // namespace runq::detail
