// SPDX-License-Identifier: MIT
// malloc and its relatives, and operator new. The program's memory comes from its own heap, in which every execution
// finds the same addresses. The C library and the checker keep using the C library's heap, because what they allocate
// outlives an execution.
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hook.hpp"
#include "session.hpp"
#include "start.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* p);
}

namespace runq::model::compiled {

namespace {

/// Whether a call from there allocates for the program.
[[nodiscard]] bool is_for_program(const void* code) {
  if (!this_process.in_program && !this_process.initialising) return false;
  return !is_system_code(code);
}

void* allocate(std::size_t size, std::size_t alignment, const void* code) {
  const either_scope scope;
  return current_session().allocate(size, alignment, code);
}

constexpr std::size_t usual_alignment = 16;

void* malloc_at(std::size_t size, const void* code) {
  return is_for_program(code) ? allocate(size, usual_alignment, code) : __libc_malloc(size);
}
void* aligned_at(std::size_t alignment, std::size_t size, const void* code) {
  if (!is_for_program(code)) return __libc_memalign(alignment, size);
  if (!std::has_single_bit(alignment)) {
    const either_scope scope;
    session& s = current_session();
    if (s.checking())
      s.code().fail(failure::misuse, fmt::format("an alignment of {} bytes, no power of two", alignment), code);
    return nullptr;
  }
  return allocate(size, alignment, code);
}
/// The C library frees what it has allocated for the program, as a copy of a string, and aborts at a variable.
void require_from_heap(const void* p, const void* code) {
  if (!this_process.in_program || !current_session().memory().is_variable(p)) return;
  const checker_scope scope;
  current_session().code().fail(failure::misuse, "what is freed was not allocated", code);
}
void free_at(void* p, const void* code) {
  if (p == nullptr) return;
  if (!owned_by_program(p)) {
    require_from_heap(p, code);
    __libc_free(p);
  } else if (this_process.in_program || this_process.initialising) {
    const either_scope scope;
    current_session().free(p, code);
  }
}

void* new_at(std::size_t size, const void* code) {
  void* const p = malloc_at(size, code);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* new_at(std::size_t size, std::align_val_t alignment, const void* code) {
  void* const p = aligned_at(static_cast<std::size_t>(alignment), size, code);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

}  // namespace runq::model::compiled

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names

#include "heap_functions.hpp"

RUNQ_HOOK void* calloc(std::size_t count, std::size_t size) {
  const void* const code = RUNQ_CALLER;
  if (!is_for_program(code)) return __libc_calloc(count, size);
  return zeroed_at(count, size, code);
}
RUNQ_HOOK void* realloc(void* p, std::size_t size) {
  const void* const code = RUNQ_CALLER;
  if (p == nullptr) return malloc_at(size, code);
  if (!owned_by_program(p)) {
    require_from_heap(p, code);
    return __libc_realloc(p, size);
  }
  std::size_t old = 0;
  {
    const either_scope scope;
    old = current_session().memory().heap().size_of(p);
    if (current_session().checking()) current_session().memory().access(p, old, false, code);
  }
  return moved_at(p, old, size, code);
}
RUNQ_HOOK int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  const void* const code = RUNQ_CALLER;
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const block = aligned_at(alignment, size, code);
  if (block == nullptr) return ENOMEM;
  if (is_for_program(code)) {
    const either_scope scope;
    if (current_session().checking()) current_session().memory().access(p, sizeof *p, true, code);
  }
  *p = block;
  return 0;
}
RUNQ_HOOK std::size_t malloc_usable_size(void* p) {
  if (p == nullptr) return 0;
  if (!owned_by_program(p)) {
    static const auto real = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    return real(p);
  }
  return current_session().memory().heap().size_of(p);
}
