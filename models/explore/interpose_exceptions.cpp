// SPDX-License-Identifier: MIT
// Exceptions that several threads have. The C++ library counts who holds one, with read-modify-writes of order acq_rel
// that are not instrumented: what a thread has done before it lets go happens before the exception is destroyed.
#include <exception>

#include <dlfcn.h>

#include "../compiled/hook.hpp"
#include "locks.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"

namespace {

void let_go_of(const void* exception) {
  if (exception == nullptr) return;
  runq::model::explore::step();
  const runq::model::explore::runtime_scope scope;
  runq::model::explore::add_to(exception);
  runq::model::explore::acquire(exception);
}

/// The exception that is handled, which a std::exception_ptr points to.
[[nodiscard]] const void* handled() {
  const std::exception_ptr current = std::current_exception();
  const void* exception = nullptr;
  static_assert(sizeof current == sizeof exception);
  __builtin_memcpy(&exception, &current, sizeof exception);
  return exception;
}

template <class Function>
[[nodiscard]] Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

RUNQ_HOOK void __cxa_end_catch() {
  static auto* const end = next<void()>("__cxa_end_catch");
  if (runq::model::explore::exploring && !runq::model::explore::in_runtime) let_go_of(handled());
  end();
}

/// std::exception_ptr::_M_release(), whose only member is the pointer.
extern "C" __attribute__((visibility("default"))) void runq_release_exception(const void* const* pointer) __asm__(
    "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
extern "C" void runq_release_exception(const void* const* pointer) {
  static auto* const release = next<void(const void* const*)>("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
  if (runq::model::explore::exploring && !runq::model::explore::in_runtime) let_go_of(*pointer);
  release(pointer);
}
