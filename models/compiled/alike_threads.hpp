// SPDX-License-Identifier: MIT
// Which threads of a program begin alike, and whether the program can tell them apart: the front end's half of
// exact_symmetry.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "exact_graph.hpp"
#include "user_heap.hpp"

namespace runq::model::compiled {

struct execution;

/// Threads begin alike if one thread has started them one right after the other, with the same function, and with the
/// same argument, or with blocks of the heap that hold the same. Each function below that is given what the running
/// thread does gives up exact_options::up_to_symmetry if that tells such threads apart.
class alike_threads {
 public:
  void begin_execution() noexcept;
  /// The running thread is about to start `thread`. Returns the first of the threads that begin alike, or 0. `bytes`:
  /// what the argument points to, if that counts.
  [[nodiscard]] unsigned first_like(execution& now, unsigned thread, void* (*function)(void*), const void* argument,
                                    std::span<const std::byte> bytes);
  /// Whether there are any such threads.
  [[nodiscard]] bool any() const noexcept { return any_; }

  /// It asks for its identity, or does something else that has to do with it.
  void use_identity(execution& now, const char* what);
  /// It accesses what `old` has accessed, at `at`.
  void access_after(execution& now, const step& old, const step& access, const void* at) {
    if (any_ && !starts_[access.thread].has_captured(at)) compare(now, old, access);
  }
  /// It accesses memory of an atomic variable without an atomic operation.
  void access_atomic(execution& now, const step& access);
  /// It accesses memory on the stack of `owner`, which is another thread, or another one has.
  void share_stack(execution& now, unsigned owner);
  /// It has written `size` bytes by an atomic operation.
  void write(execution& now, const void* at, unsigned size);
  /// It has joined a thread, which has returned that.
  void look_at_result(execution& now, unsigned thread, const void* result);

 private:
  struct start {
    unsigned by = 0;  ///< 0: it was not started in this execution
    unsigned position = 0;
    void* (*function)(void*) = nullptr;
    const void* argument = nullptr;
    std::vector<std::byte> bytes;
    unsigned first = 0;  ///< of those that begin alike
    unsigned last = 0;   ///< of the first: the position at which the last one was started
    bool has_others = false;
    const char* identity = nullptr;  ///< how it has used its identity
    bool is_joined = false;          ///< of the first: one of them is
    const void* result = nullptr;    ///< of that

    [[nodiscard]] bool has_captured(const void* at) const noexcept {
      return by != 0 && at >= argument && at < static_cast<const std::byte*>(argument) + bytes.size();
    }
  };

  [[nodiscard]] bool is_one(unsigned thread) const noexcept {
    return starts_[thread].by != 0 && starts_[starts_[thread].first].has_others;
  }
  [[nodiscard]] bool is_between_starts(unsigned thread, const step& access) const noexcept;
  void compare(execution& now, const step& old, const step& access);

  std::array<start, exact::thread_slots> starts_;
  bool any_ = false;
};

}  // namespace runq::model::compiled
