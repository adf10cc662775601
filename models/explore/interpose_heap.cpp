// SPDX-License-Identifier: MIT
// malloc and its relatives, and operator new. What the runtime itself allocates comes from a heap of its own.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../compiled/hook.hpp"
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
void free_at(void* p, const void* code) {
  if (p == nullptr) return;
  if (is_in_heap(p)) return heap_free(p, code);
  if (is_of_runtime(p)) return runtime_free(p);
  // The loader's own memory, from before there was this heap, is never given back.
  if (exploring) fail(runq::model::failure::misuse, "what is freed was not allocated", code);
}
void* new_at(std::size_t size, std::size_t alignment, const void* code) {
  void* const p = allocate(size, alignment, code);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

RUNQ_HOOK void* malloc(std::size_t size) { return allocate(size, usual_alignment, RUNQ_CALLER); }
RUNQ_HOOK void free(void* p) { free_at(p, RUNQ_CALLER); }
RUNQ_HOOK void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const p = allocate(bytes, usual_alignment, RUNQ_CALLER);
  if (p != nullptr) std::memset(p, 0, bytes);
  return p;
}
RUNQ_HOOK void* realloc(void* p, std::size_t size) {
  if (p == nullptr) return allocate(size, usual_alignment, RUNQ_CALLER);
  const std::size_t old = heap_size_of(p);
  access(reinterpret_cast<std::uintptr_t>(p), old, 0, RUNQ_CALLER);
  void* const moved = allocate(size, usual_alignment, RUNQ_CALLER);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, p, std::min(old, size));
  free_at(p, RUNQ_CALLER);
  return moved;
}
RUNQ_HOOK void* memalign(std::size_t alignment, std::size_t size) { return allocate(size, alignment, RUNQ_CALLER); }
RUNQ_HOOK void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return allocate(size, alignment, RUNQ_CALLER);
}
RUNQ_HOOK int posix_memalign(void** p, std::size_t alignment, std::size_t size) {
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  *p = allocate(size, alignment, RUNQ_CALLER);
  return *p == nullptr ? ENOMEM : 0;
}
RUNQ_HOOK std::size_t malloc_usable_size(void* p) { return p == nullptr ? 0 : heap_size_of(p); }

#define RUNQ_NEW __attribute__((visibility("default")))
#define RUNQ_AS_NUMBER(alignment) static_cast<std::size_t>(alignment)
RUNQ_NEW void* operator new(std::size_t size) { return new_at(size, usual_alignment, RUNQ_CALLER); }
RUNQ_NEW void* operator new[](std::size_t size) { return new_at(size, usual_alignment, RUNQ_CALLER); }
RUNQ_NEW void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, usual_alignment, RUNQ_CALLER);
}
RUNQ_NEW void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, usual_alignment, RUNQ_CALLER);
}
RUNQ_NEW void* operator new(std::size_t size, std::align_val_t a) {
  return new_at(size, RUNQ_AS_NUMBER(a), RUNQ_CALLER);
}
RUNQ_NEW void* operator new[](std::size_t size, std::align_val_t a) {
  return new_at(size, RUNQ_AS_NUMBER(a), RUNQ_CALLER);
}
RUNQ_NEW void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, RUNQ_AS_NUMBER(a), RUNQ_CALLER);
}
RUNQ_NEW void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, RUNQ_AS_NUMBER(a), RUNQ_CALLER);
}
RUNQ_NEW void operator delete(void* p) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete[](void* p) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete(void* p, std::size_t) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete[](void* p, std::size_t) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete(void* p, const std::nothrow_t&) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete[](void* p, const std::nothrow_t&) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete(void* p, std::align_val_t) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete[](void* p, std::align_val_t) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete(void* p, std::size_t, std::align_val_t) noexcept { free_at(p, RUNQ_CALLER); }
RUNQ_NEW void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { free_at(p, RUNQ_CALLER); }
