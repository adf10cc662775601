// SPDX-License-Identifier: MIT
// Fibers that can be abandoned: a thread of a scenario stops for good in the middle of a noexcept function, without
// unwinding, and its stack is used again for the next execution.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "exact_fiber_switch.hpp"
#include "system.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define RUNQ_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNQ_MODEL_ASAN 1
#endif
#endif
#ifdef RUNQ_MODEL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace runq::model::exact {

/// The stack of one thread of a scenario.
#ifndef RUNQ_MODEL_STACK_BYTES
#define RUNQ_MODEL_STACK_BYTES (256 * 1024)
#endif
inline constexpr std::size_t fiber_stack_bytes = RUNQ_MODEL_STACK_BYTES;

class fiber {
 public:
  using entry = void (*)(void* argument);

  fiber() : stack_(new (std::align_val_t{stack_alignment}) std::byte[fiber_stack_bytes]) {}

  /// The lowest address of the stack, which is aligned to pages.
  [[nodiscard]] std::byte* lowest() const noexcept { return stack_.get(); }

  /// Makes the next resume() call `function(argument)` on the empty stack, and forgets what ran there before.
  void prepare(entry function, void* argument) {
    forget_frames();
    // What earlier executions have left there: the registers with which the fiber begins, and bytes of their frames.
    std::memset(stack_.get() + used_from_, 0, fiber_stack_bytes - used_from_);
    begin_with(function, argument);
  }
  /// The same on a stack at which nobody looks: what lies there stays. To clear it takes up to 8 % of a short
  /// execution.
  void prepare_unseen(entry function, void* argument) {
    forget_frames();
    begin_with(function, argument);
  }

  /// Somebody looks at the stack from there up, and must not find what an earlier execution has left.
  void note_use(const std::byte* from) noexcept {
    const auto at = static_cast<std::size_t>(from - stack_.get());
    if (at < used_from_ + below_bytes) used_from_ = at < below_bytes ? 0 : at - below_bytes;
  }

  /// Runs the fiber until it calls suspend(). `function` must not return.
  void resume() {
#ifdef RUNQ_MODEL_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, stack_.get(), fiber_stack_bytes);
#endif
    runq_switch_stack(&outside_, inside_);
#ifdef RUNQ_MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  }

  /// Called on the fiber: returns to where resume() was called.
  void suspend() {
#ifdef RUNQ_MODEL_ASAN
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, outside_stack_, outside_size_);
#endif
    runq_switch_stack(&inside_, outside_);
#ifdef RUNQ_MODEL_ASAN
    __sanitizer_finish_switch_fiber(fake, &outside_stack_, &outside_size_);
#endif
  }

 private:
  static constexpr std::size_t stack_alignment = largest_page_bytes;
  static constexpr std::size_t below_bytes = 4096;  ///< for an execution that goes deeper than those before
  struct release_stack {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{stack_alignment}); }
  };

  void forget_frames() noexcept {
#ifdef RUNQ_MODEL_ASAN
    __asan_unpoison_memory_region(stack_.get(), fiber_stack_bytes);
#endif
  }
  void begin_with(entry function, void* argument) noexcept {
    function_ = function;
    argument_ = argument;
    inside_ = new_stack(stack_.get() + fiber_stack_bytes, &start, this);
  }

  static void start(void* argument) {
    auto* self = static_cast<fiber*>(argument);
#ifdef RUNQ_MODEL_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self->outside_stack_, &self->outside_size_);
#endif
    self->function_(self->argument_);
  }

  std::unique_ptr<std::byte[], release_stack> stack_;
  std::size_t used_from_ = fiber_stack_bytes - below_bytes;  ///< what lies above this begins as zeros
  void* inside_ = nullptr;                                   ///< where it goes on, and
  void* outside_ = nullptr;                                  ///< where it was resumed
  entry function_ = nullptr;
  void* argument_ = nullptr;
#ifdef RUNQ_MODEL_ASAN
  const void* outside_stack_ = nullptr;
  std::size_t outside_size_ = 0;
#endif
};

}  // namespace runq::model::exact
