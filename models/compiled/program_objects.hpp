// SPDX-License-Identifier: MIT
// The objects of pthreads in a compiled program: what became of each.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "execution.hpp"
#include "objects.hpp"
#include "program_code.hpp"
#include "program_locks.hpp"
#include "program_memory.hpp"
#include "program_waits.hpp"

namespace runq::model::compiled {

/// Objects that the program initialises, uses, and destroys: each use is an access to the object's memory.
class program_objects {
 public:
  program_objects(execution& now, program_code& code, program_memory& memory, program_waits& waits,
                  program_locks& locks)
      : now_(now), code_(code), memory_(memory), waits_(waits), locks_(locks) {}

  /// When a check begins. Spin locks that were initialised before it and are unlocked: the C library's hold another
  /// value than the checker's.
  void take_over_spin_locks();
  void begin_execution();

  /// An initialised object is all zeros, but for its mark.
  void initialise(const object_kind& kind, void* at, const void* code);
  void destroy(const object_kind& kind, void* at, const void* code);
  /// The object is there, and may be used: it is initialised, and not destroyed.
  void use(const object_kind& kind, const void* at, const void* code);
  /// Nobody uses what lies in that memory, of which `what` is about to happen.
  void require_idle(const void* begin, std::size_t size, const char* what, const void* code);
  /// The memory is freed: what is there next is another object.
  void forget(const void* begin, const void* end);
  /// It was initialised outside of a check, and is as the C library has left it. By any thread.
  void note_outside(const object_kind& kind, void* at);
  /// It was destroyed outside of a check.
  void forget_outside(const void* at);

  /// How many objects have been initialised there in this execution.
  [[nodiscard]] unsigned lives_of(const void* at) const {
    const auto known = objects_.find(at);
    return known == objects_.end() ? 0 : known->second.lives;
  }
  /// The object whose mark lies at an address outside of the program's memory; nullptr: that is no such address.
  [[nodiscard]] const void* marked_at(const void* mark) const noexcept;

 private:
  struct object_history {
    step initialised;
    step destroyed;
    unsigned lives = 0;
  };
  struct small_object {
    std::uint64_t now = 0;
    std::uint64_t at_start = 0;  ///< of main()
  };

  [[nodiscard]] void* mark_of(const object_kind& kind, const void* at);
  void require_memory(const object_kind& kind, const void* at, bool is_write, const void* code);
  void require_object(const object_kind& kind, const void* at, const char* call, const void* code);
  [[noreturn]] void fail_as_destroyed(const object_kind& kind, const void* at, const char* call, const void* code);
  [[noreturn]] void fail_as_unknown(const object_kind& kind, const void* at, const char* call, const void* code);
  /// Conflicts with other threads' initialisation and destruction, and with their free(). Only the object as a whole
  /// can be written: its words are used by atomic operations, which other threads may make at the same time.
  void read(const object_kind& kind, const void* at, const void* code);
  void write(const object_kind& kind, const void* at, const char* call, const void* code);
  [[nodiscard]] std::string where_it_began(const void* at);

  execution& now_;
  program_code& code_;
  program_memory& memory_;
  program_waits& waits_;
  program_locks& locks_;
  std::map<const void*, object_history> objects_;      ///< that were initialised or destroyed in this execution
  std::map<const void*, small_object> small_objects_;  ///< the marks of those that have no room for one
  std::mutex outside_;                                 ///< while real threads may note one there
};

}  // namespace runq::model::compiled
