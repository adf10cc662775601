// SPDX-License-Identifier: MIT
// Small programs, generated one after the other rather than at random: all critical cycles of accesses up to six edges,
// and all pairs and triples of short thread bodies over alphabets that stand for a feature each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../program.hpp"

namespace runq::model::selftest {

using program_sink = std::function<void(const program&)>;

/// A cycle, as diy writes them (Alglave, Maranget, Sarkar, Sewell: "Fences in weak memory models", CAV 2010): each
/// thread has one or two accesses, and what leads from the last one of a thread to the first one of the next is a
/// communication. Threads, and edges within them, count as edges.
struct cycle {
  enum class between : unsigned char { rfe, fre, wse };      ///< reads from, from read, write to write
  enum class inside : unsigned char { one, pod, pos, rmw };  ///< one access; two, of other or the same location
  struct thread {
    inside has{};
    between leads{};  ///< to the next thread
    [[nodiscard]] unsigned number() const { return static_cast<unsigned>(has) * 3 + static_cast<unsigned>(leads); }
  };
  std::vector<thread> threads;

  [[nodiscard]] unsigned edges() const;
  [[nodiscard]] std::string name() const;  ///< "rfe pod fre pod"
};

/// All cycles of 2 to 4 threads and at most `most_edges` edges, one of each set of rotations.
[[nodiscard]] std::vector<cycle> all_cycles(unsigned most_edges = 6);

/// Which orders the accesses of a cycle get.
enum class orders : unsigned char {
  all,        ///< each access all that it can have, between two of a thread each fence or none; each kind of RMW
  typical,    ///< of each thread a dozen combinations, some with an RMW in the place of a load or a store
  sequential  ///< at least one access of each thread is seq_cst, beside one that acquires, releases, or is relaxed
};

/// The programs of a cycle; of those that are rotations of each other, one.
void for_each_program(const cycle& c, orders which, const program_sink& sink);
/// Its plain twins: the same programs, with one location, which no RMW accesses, turned into plain memory. After a
/// load, a thread touches it only if it has read an odd value. All stored values are odd.
void for_each_plain_twin(const cycle& c, orders which, const program_sink& sink);

/// A set of programs about one feature of the language.
struct family {
  const char* name;
  std::function<void(const program_sink&)> each;
  unsigned most_spurious = 0;  ///< each program is compared with 0 … that many spurious failures
};

/// All of them, in the order in which they are printed.
[[nodiscard]] const std::vector<family>& families();

}  // namespace runq::model::selftest
