// SPDX-License-Identifier: MIT
// malloc and its relatives, and operator new. What the runtime itself allocates comes from a heap of its own.
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "heap.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "shadow.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names

namespace {

constexpr std::size_t usual_alignment = 16;

void* allocate(std::size_t size, std::size_t alignment, const void* code) {
  if (in_runtime) return runtime_allocate(size, alignment);
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  void* const p = heap_allocate(size, alignment, code);
  if (p == nullptr) errno = ENOMEM;
  return p;
}
void* malloc_at(std::size_t size, const void* code) { return allocate(size, usual_alignment, code); }
void* aligned_at(std::size_t alignment, std::size_t size, const void* code) { return allocate(size, alignment, code); }
void free_at(void* p, const void* code) {
  if (p == nullptr) return;
  if (is_in_heap(p)) return heap_free(p, code);
  if (is_of_runtime(p)) return runtime_free(p);
  // The loader's own memory, from before there was this heap, is never given back.
  if (exploring) fail(runq::model::failure::misuse, "what is freed was not allocated", code);
}
void* new_at(std::size_t size, std::align_val_t alignment, const void* code) {
  void* const p = aligned_at(static_cast<std::size_t>(alignment), size, code);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* new_at(std::size_t size, const void* code) { return new_at(size, std::align_val_t{usual_alignment}, code); }

}  // namespace

#include "../compiled/heap_functions.hpp"

RUNQ_HOOK void* calloc(std::size_t count, std::size_t size) { return zeroed_at(count, size, RUNQ_CALLER); }
RUNQ_HOOK void* realloc(void* p, std::size_t size) {
  if (p == nullptr) return malloc_at(size, RUNQ_CALLER);
  const std::size_t old = heap_size_of(p);
  access(reinterpret_cast<std::uintptr_t>(p), old, 0, RUNQ_CALLER);
  return moved_at(p, old, size, RUNQ_CALLER);
}
RUNQ_HOOK int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  *p = allocate(size, alignment, RUNQ_CALLER);
  return *p == nullptr ? ENOMEM : 0;
}
RUNQ_HOOK std::size_t malloc_usable_size(void* p) { return p == nullptr ? 0 : heap_size_of(p); }
