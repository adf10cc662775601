// SPDX-License-Identifier: MIT
// The vocabulary of the property suites: what can be asked of a queue, what it may answer, and what a candidate is, a
// queue that the laws are run on. Nothing here depends on a test framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace runq::props {

/// The values that the suites put in a queue. They never put 0, which means "nothing" to some queues.
using value = std::uint32_t;
using values = std::vector<value>;

/// Every operation that a suite knows. A candidate says which ones it has.
enum class verb : std::uint8_t {
  push,         ///< the value `first`
  push_run,     ///< `n` values from `first` on, one at a time
  push_batch,   ///< `n` values from `first` on, at once
  push_front,   ///< `n` values from `first` on, at once, before everything else
  push_next,    ///< the value `first`, to be taken before everything else
  pop,          ///< the owner takes one
  pop_run,      ///< the owner takes `n`, one at a time
  steal,        ///< `actor` takes one from `victim`
  steal_half,   ///< `actor` takes half of `victim`, at most `n`, into its own; `m` is 1 where runnext may be taken too
  steal_out,    ///< `actor` takes half of `victim`, at most `n`, into its hands
  steal_next,   ///< `actor` takes victim's next-to-run after `n` pauses
  shed_half,    ///< the owner takes the older half
  drain,        ///< the owner takes all
  take_batch,   ///< a share of the queue for one of `n`, at most `m`
  take_from,    ///< a share of the global queue for one of `n`; the first is returned, the others are queued
  global_put,   ///< `n` values from `first` on, at once, into the global queue
  global_take,  ///< one from the global queue
  room,
  has_work,         ///< of `victim`'s queue: asked before sleeping
  has_work_approx,  ///< of `victim`'s queue: a hint, but exact when nobody else is there
  size_approx,      ///< of `victim`'s queue
  hand_over,        ///< the owner handle is moved
  observe,          ///< of `victim`'s queue: was it empty
  pushed_since,     ///< into `victim`'s queue, since `actor` observed it
};

[[nodiscard]] inline const char* name_of(verb v) noexcept {
  static constexpr const char* names[] = {"push",        "push_run",    "push_batch", "push_front",  "push_next",
                                          "pop",         "pop_run",     "steal",      "steal_half",  "steal_out",
                                          "steal_next",  "shed_half",   "drain",      "take_batch",  "take_from",
                                          "global_put",  "global_take", "room",       "has_work",    "has_work_approx",
                                          "size_approx", "hand_over",   "observe",    "pushed_since"};
  return names[static_cast<std::size_t>(v)];
}

/// One call. `actor` calls, and is the number of its own queue; `victim` is the queue that a thief looks at.
struct operation {
  verb what = verb::push;
  std::uint8_t actor = 0;
  std::uint8_t victim = 0;
  std::uint16_t n = 0;
  std::uint16_t m = 0;
  value first = 0;
};

enum class answer : std::uint8_t { done, empty, lost };

/// What a call returned. `taken` holds the elements that the caller got; `count` is the number that the call returned.
struct outcome {
  answer what = answer::done;
  std::size_t count = 0;
  values taken{};
  bool from_next = false;

  friend bool operator==(const outcome&, const outcome&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const operation& o) {
  return out << "{verb::" << name_of(o.what) << ", " << int{o.actor} << ", " << int{o.victim} << ", " << o.n << ", "
             << o.m << "}";
}

inline std::ostream& operator<<(std::ostream& out, const outcome& o) {
  static constexpr const char* words[] = {"done", "empty", "lost"};
  out << words[static_cast<std::size_t>(o.what)] << " count=" << o.count << " [";
  for (std::size_t i = 0; i != o.taken.size(); ++i) out << (i == 0 ? "" : " ") << o.taken[i];
  return out << "]" << (o.from_next ? " from runnext" : "");
}

/// A queue, or several that steal from each other, behind one function.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  virtual outcome apply(const operation& o) = 0;
  /// The next thread that uses an owner's operations becomes the owner.
  virtual void rebind() {}
};

/// Text that makes a recorded run into a unit test.
struct paste {
  std::string at_namespace_scope;  ///< declarations before the test
  std::string setup;               ///< the test's first lines: makes owner0, owner1, …
  std::string cleanup;             ///< its last lines
  std::size_t capacity = 0;
  std::string thief = ".make_thief()";  ///< what makes a thief out of `owner0`; empty where the owner is one
};

inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

/// A queue that laws are run on: how to make it, and what it is supposed to be.
struct candidate {
  std::string name;                ///< by which reports name it
  std::size_t capacity = 0;        ///< `unbounded` where there is no limit
  unsigned index_bits = 0;         ///< width of its counters; 0 where it has none, or where they never wrap
  bool owner_pops_newest = false;  ///< LIFO for the owner, as a Chase-Lev deque
  std::size_t run = 0;             ///< elements that the owner of a split ring claims at once; 0 for other queues
  std::vector<verb> verbs;         ///< what it can do
  std::string expression;          ///< C++ that makes this candidate, for a repro
  std::function<std::unique_ptr<subject>(std::uint64_t start, std::size_t queues)> make;
  std::function<paste(std::uint64_t start, std::size_t queues)> code;

  [[nodiscard]] bool has(verb v) const noexcept {
    for (const verb mine : verbs) {
      if (mine == v) return true;
    }
    return false;
  }
};

}  // namespace runq::props
