// SPDX-License-Identifier: MIT
// What instrumented code calls for plain accesses. Included once, by a source that has defined for them
//
//   access<SIZE, IS_WRITE>(at, code)        of the sizes 1, 2, 4, 8 and 16
//   access(at, size, is_write, code)
#pragma once

#include <cstddef>
#include <cstring>

#include "hook.hpp"

#define RUNQ_ACCESS(size)                                                                             \
  RUNQ_HOOK void __tsan_read##size(void* at) { access<size, false>(at, RUNQ_CALLER); }                \
  RUNQ_HOOK void __tsan_write##size(void* at) { access<size, true>(at, RUNQ_CALLER); }                \
  RUNQ_HOOK void __tsan_unaligned_read##size(void* at) { access<size, false>(at, RUNQ_CALLER); }      \
  RUNQ_HOOK void __tsan_unaligned_write##size(void* at) { access<size, true>(at, RUNQ_CALLER); }      \
  RUNQ_HOOK void __tsan_volatile_read##size(void* at) { access<size, false>(at, RUNQ_CALLER); }       \
  RUNQ_HOOK void __tsan_volatile_write##size(void* at) { access<size, true>(at, RUNQ_CALLER); }       \
  RUNQ_HOOK void __tsan_read_write##size(void* at) { access<size, true>(at, RUNQ_CALLER); }           \
  RUNQ_HOOK void __tsan_unaligned_read_write##size(void* at) { access<size, true>(at, RUNQ_CALLER); } \
  RUNQ_HOOK void __tsan_read##size##_pc(void* at, void* code) { access<size, false>(at, code); }      \
  RUNQ_HOOK void __tsan_write##size##_pc(void* at, void* code) { access<size, true>(at, code); }

RUNQ_ACCESS(1)
RUNQ_ACCESS(2)
RUNQ_ACCESS(4)
RUNQ_ACCESS(8)
RUNQ_ACCESS(16)

RUNQ_HOOK void __tsan_read_range(void* at, unsigned long size) { access(at, size, false, RUNQ_CALLER); }
RUNQ_HOOK void __tsan_write_range(void* at, unsigned long size) { access(at, size, true, RUNQ_CALLER); }
RUNQ_HOOK void __tsan_vptr_read(void** at) { access<sizeof(void*), false>(at, RUNQ_CALLER); }
RUNQ_HOOK void __tsan_vptr_update(void** at, void* value) {
  // Constructors of one object may write the same pointer again, which no thread can notice.
  if (*at != value) access<sizeof(void*), true>(at, RUNQ_CALLER);
}

// Calls of the linker's --wrap: compilers do not instrument these functions.
RUNQ_HOOK void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  access(from, size, false, RUNQ_CALLER);
  access(to, size, true, RUNQ_CALLER);
  return std::memcpy(to, from, size);
}
RUNQ_HOOK void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  access(from, size, false, RUNQ_CALLER);
  access(to, size, true, RUNQ_CALLER);
  return std::memmove(to, from, size);
}
RUNQ_HOOK void* __wrap_memset(void* to, int value, std::size_t size) {
  access(to, size, true, RUNQ_CALLER);
  return std::memset(to, value, size);
}
RUNQ_HOOK int __wrap_memcmp(const void* a, const void* b, std::size_t size) {
  access(a, size, false, RUNQ_CALLER);
  access(b, size, false, RUNQ_CALLER);
  return std::memcmp(a, b, size);
}
RUNQ_HOOK void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  access(from, size, false, RUNQ_CALLER);
  access(to, size, true, RUNQ_CALLER);
  return std::memcpy(to, from, size);
}
RUNQ_HOOK void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  access(from, size, false, RUNQ_CALLER);
  access(to, size, true, RUNQ_CALLER);
  return std::memmove(to, from, size);
}
RUNQ_HOOK void* __tsan_memset(void* to, int value, std::size_t size) {
  access(to, size, true, RUNQ_CALLER);
  return std::memset(to, value, size);
}
