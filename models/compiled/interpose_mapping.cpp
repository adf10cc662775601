// SPDX-License-Identifier: MIT
// Memory that the program takes from the system itself: in a check it comes from the program's heap, so that it lies at
// the same addresses in each execution, and is judged as other memory is.
#include <cstring>

#include <sys/mman.h>

#include "interpose.hpp"
#include "system.hpp"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::page_bytes;

RUNQ_HOOK void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const bool is_plain_memory =
      at == nullptr && (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS);
  if (!this_process.in_program || !is_plain_memory) {
    static auto* const original = real<decltype(mmap)>("mmap");
    return original(at, size, protection, flags, file, offset);
  }
  const checker_scope scope;
  void* const p = current_session().allocate(size, page_bytes, RUNQ_CALLER);
  if (p == nullptr) return MAP_FAILED;
  return std::memset(p, 0, size);
}

// A part of what was mapped stays with the program.
RUNQ_HOOK int munmap(void* p, std::size_t size) noexcept {
  if (!owned_by_program(p)) {
    static auto* const original = real<decltype(munmap)>("munmap");
    return original(p, size);
  }
  const either_scope scope;
  session& s = current_session();
  const bool is_whole =
      s.memory().heap().size_of(p) <= size && s.memory().heap().size_of(static_cast<std::byte*>(p) - 1) == 0;
  if (is_whole) s.free(p, RUNQ_CALLER);
  return 0;
}
