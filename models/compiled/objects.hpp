// SPDX-License-Identifier: MIT
// The objects of <pthread.h> and <semaphore.h>, which lie in the program's own memory: what each has been through.
//
// An object says so itself, by a mark in 8 bytes of it that the checker does not need otherwise. So the mark goes where
// the object's memory goes: a constructor that fills the memory with zeros makes a new object, and a copy of the bytes
// has the mark of another address.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>
#include <semaphore.h>

namespace runq::model::compiled {

struct object_kind {
  const char* name;
  std::size_t size;
  std::size_t alignment;
  std::size_t mark;   ///< where in the object
  bool may_be_zeros;  ///< there is an initialiser of zeros, so that an object needs no call before it is used
};

/// The object is too small for a mark, which is kept elsewhere.
inline constexpr std::size_t mark_elsewhere = 0xff;

inline constexpr object_kind a_mutex{"mutex", sizeof(pthread_mutex_t), alignof(pthread_mutex_t), 24, true};
inline constexpr object_kind a_read_write_lock{"read-write lock", sizeof(pthread_rwlock_t), alignof(pthread_rwlock_t),
                                               40, true};
inline constexpr object_kind a_spin_lock{"spin lock", sizeof(pthread_spinlock_t), alignof(pthread_spinlock_t),
                                         mark_elsewhere, false};
inline constexpr object_kind a_condition_variable{"condition variable", sizeof(pthread_cond_t), alignof(pthread_cond_t),
                                                  16, true};
inline constexpr object_kind a_barrier{"barrier", sizeof(pthread_barrier_t), alignof(pthread_barrier_t), 24, false};
inline constexpr object_kind a_semaphore{"semaphore", sizeof(sem_t), alignof(sem_t), 16, false};

/// What the mark says of an object at `at`.
enum class object_state : unsigned char { zeros, initialised, destroyed, something_else };

namespace marks {

inline constexpr std::uint64_t initialised = 0x6d1f'9ab3'52c4'e087;
inline constexpr std::uint64_t destroyed = 0x91c7'3e5d'08fb'a264;

[[nodiscard]] inline std::uint64_t of(const void* at, std::uint64_t kind) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) ^ kind;
}
[[nodiscard]] inline object_state state_of(const void* at, std::uint64_t mark) noexcept {
  if (mark == 0) return object_state::zeros;
  if (mark == of(at, initialised)) return object_state::initialised;
  return mark == of(at, destroyed) ? object_state::destroyed : object_state::something_else;
}
/// Where the object is, or was, that was initialised and then copied; otherwise an address that means nothing.
[[nodiscard]] inline const void* original(std::uint64_t mark) noexcept {
  return reinterpret_cast<const void*>(mark ^ initialised);
}

}  // namespace marks

}  // namespace runq::model::compiled
