// SPDX-License-Identifier: MIT
// What the locks, semaphores and barriers of the program hand on. Their states lie in the objects themselves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pairs.hpp"
#include "shadow.hpp"

namespace runq::model::explore {

/// What those who acquire an object learn: what was done before it was released.
struct lock_record {
  std::uintptr_t address;
  lock_record* next;  ///< in the same cell; or a free one
  message* by_writers;
  message* by_readers;
  origin last_call;
};

/// The running thread calls for the object; only for pairs.
void note_call_for(const volatile void* object, const void* code);
/// The running thread acquires what others have released by way of the object.
void acquire(const void* object);
/// So that writers and readers learn it; the object is released by nobody else at the time.
void hand_on(const void* object);
/// So that those learn it that come after all who add.
void add_to(const void* object);
/// So that writers learn it.
void hand_on_as_reader(const void* object);
void acquire_as_writer(const void* object);

void forget_locks(cell& c);
void forget_written_locks(cell& c, std::uintptr_t address, std::size_t size);

}  // namespace runq::model::explore
