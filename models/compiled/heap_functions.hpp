// SPDX-License-Identifier: MIT
// C's and C++'s functions of the heap that a program finds in place of the C library's, for both runtimes. The source
// that includes this has defined, each with the place of the call as its last argument:
//   malloc_at(size), aligned_at(alignment, size)                    a block, or a null pointer
//   new_at(size), new_at(size, std::align_val_t)                    a block, or std::bad_alloc
//   free_at(pointer)
// and defines calloc(), realloc(), posix_memalign() and malloc_usable_size() itself.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "hook.hpp"

namespace {

/// calloc()
void* zeroed_at(std::size_t count, std::size_t size, const void* code) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const p = malloc_at(bytes, code);
  if (p != nullptr) std::memset(p, 0, bytes);
  return p;
}

/// realloc() of a block that has `old` bytes
void* moved_at(void* p, std::size_t old, std::size_t size, const void* code) {
  void* const moved = malloc_at(size, code);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, p, old < size ? old : size);
  free_at(p, code);
  return moved;
}

}  // namespace

RUNQ_HOOK void* malloc(std::size_t size) { return malloc_at(size, RUNQ_CALLER); }
RUNQ_HOOK void free(void* p) { free_at(p, RUNQ_CALLER); }
RUNQ_HOOK void* memalign(std::size_t alignment, std::size_t size) { return aligned_at(alignment, size, RUNQ_CALLER); }
RUNQ_HOOK void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return aligned_at(alignment, size, RUNQ_CALLER);
}

#define RUNQ_NEW __attribute__((visibility("default")))
RUNQ_NEW void* operator new(std::size_t size) { return new_at(size, RUNQ_CALLER); }
RUNQ_NEW void* operator new[](std::size_t size) { return new_at(size, RUNQ_CALLER); }
RUNQ_NEW void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return malloc_at(size, RUNQ_CALLER); }
RUNQ_NEW void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return malloc_at(size, RUNQ_CALLER); }
RUNQ_NEW void* operator new(std::size_t size, std::align_val_t a) { return new_at(size, a, RUNQ_CALLER); }
RUNQ_NEW void* operator new[](std::size_t size, std::align_val_t a) { return new_at(size, a, RUNQ_CALLER); }
RUNQ_NEW void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return aligned_at(static_cast<std::size_t>(a), size, RUNQ_CALLER);
}
RUNQ_NEW void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return aligned_at(static_cast<std::size_t>(a), size, RUNQ_CALLER);
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
