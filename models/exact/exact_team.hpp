// SPDX-License-Identifier: MIT
// One search by several processes, on the kit's own queues.
//
// Graphs that wait are independent of each other, so any process may go on with any of them. Each process keeps its own
// stack, as a search alone does; one that has nothing left takes a graph that another has put into its runq::ring. A
// process puts graphs there only while another one is idle, and then the oldest, from which most graphs follow: so few
// graphs travel, and each brings much work.
//
// Processes, not threads: a graph's values are addresses of the scenario's memory, and after fork() all have that
// memory at the same address; and scenarios may use global variables. The rings and the graphs that travel lie in
// memory that all share; a queue of std::atomics works there as it does between threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "exact.hpp"
#include "exact_graph.hpp"
#include "runq/ring.hpp"
#include "runtime.hpp"

namespace runq::model::exact {

/// Graphs of a search that one process makes alone, before it asks others to help: most searches end there.
inline constexpr std::uint64_t graphs_before_team = 1'000;
/// More processes than this are not asked.
inline constexpr unsigned max_jobs = 64;

/// A set of numbers in shared memory. Its capacity is fixed.
class shared_set {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 22;

  enum class answer : std::uint8_t { added, was_there, full };
  answer insert(std::uint64_t number) noexcept;

 private:
  std::atomic<std::size_t> size_;
  std::array<std::atomic<std::uint64_t>, 2 * capacity> slots_;  ///< 0: free
};

/// The processes of one search: member 0 is the one that began it.
class team {
 public:
  enum class ending : std::uint8_t {
    none,           ///< has not ended, or died
    no_more_work,   ///< all graphs were visited, or another member has ended the search
    out_of_budget,  ///< a limit of how long to search
    decided         ///< it found a failure, or reached another limit
  };
  /// What a member leaves behind.
  struct summary {
    ending how = ending::none;
    bool failed = false;
    std::uint64_t executions = 0;
    std::uint64_t blocked = 0;
    std::uint64_t spurious = 0;
    std::uint64_t cut_off = 0;
    exact_statistics statistics;
    std::array<char, 256> message{};
    runtime_notes notes;
  };

  /// `sets`: whether seen() will be asked.
  team(unsigned jobs, bool sets);
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team();
  /// Whether there was memory to share.
  [[nodiscard]] bool exists() const noexcept { return shared_ != nullptr; }

  /// Forks the other members. Returns this process's number.
  unsigned fork_members();
  /// Waits for the others; for member 0 only.
  void wait_for_members() noexcept;
  /// Whether a member died without leaving a summary.
  [[nodiscard]] bool lost_a_member() const noexcept { return lost_; }

  [[nodiscard]] summary& own() noexcept { return members()[self_].left; }
  [[nodiscard]] const std::vector<const summary*>& others() const noexcept { return others_; }

  /// Whether one of the others waits for work and finds none in this process's ring.
  [[nodiscard]] bool wants_graphs() const noexcept;
  /// Offers a graph to the others; false when it is too large, or too many are on offer.
  [[nodiscard]] bool offer(const graph& g) noexcept;
  /// Waits until there is a graph to go on with. False: the search is over. `has_worked`: since the last call.
  [[nodiscard]] bool take(graph& g, bool has_worked);

  // [team.stop] relaxed, unmodelled: nothing is published with it; a member that learns of it late searches in vain.
  void stop() noexcept { shared_->stop.store(true, std::memory_order::relaxed); }
  // [team.stopped] relaxed, unmodelled: see [team.stop].
  [[nodiscard]] bool stopped() const noexcept { return shared_->stop.load(std::memory_order::relaxed); }
  void publish(std::uint64_t executions, double weight_done) noexcept {
    // [team.executions] relaxed, unmodelled: for progress and limits, which may be a moment late.
    members()[self_].executions.store(executions, std::memory_order::relaxed);
    // [team.weight] relaxed, unmodelled: for progress, which may be a moment late.
    members()[self_].weight_done.store(weight_done, std::memory_order::relaxed);
  }
  /// The executions of all members, as far as the members have published them.
  [[nodiscard]] std::uint64_t executions() const noexcept;
  [[nodiscard]] double weight_done() const noexcept;

  /// Complete graphs; and load buffering's starting points.
  [[nodiscard]] shared_set& seen(unsigned which) noexcept { return sets_[which]; }

 private:
  static constexpr std::size_t parcel_bytes = 256 * 1024;
  static constexpr std::size_t parcels = 32;
  static constexpr unsigned number_of_sets = 2;

  /// A graph that travels. It belongs to the member in whose memory it lies until it is in the ring; then to the member
  /// that takes it out, which gives it back.
  struct parcel {
    std::atomic<bool> used{false};
    alignas(cache_line) std::array<std::byte, parcel_bytes> packed;
  };
  using ring = basic_ring<parcel*, parcels>;
  struct member {
    ring offered;
    alignas(cache_line) std::atomic<std::uint64_t> executions{0};
    std::atomic<double> weight_done{0};
    summary left;
    std::array<parcel, parcels> outgoing;
  };
  struct shared_state {
    /// The number of members at work and of graphs on offer. Only a member at work puts graphs on offer, so at 0 all is
    /// done.
    alignas(cache_line) std::atomic<std::uint64_t> work{1};
    alignas(cache_line) std::atomic<unsigned> idle{0};
    std::atomic<bool> stop{false};
  };

  [[nodiscard]] member* members() const noexcept { return members_; }
  [[nodiscard]] parcel* find_work(unsigned& victim) noexcept;
  void look_after_members() noexcept;

  const unsigned jobs_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  shared_state* shared_ = nullptr;
  member* members_ = nullptr;
  shared_set* sets_ = nullptr;
  unsigned self_ = 0;
  std::optional<ring::owner> owner_;  ///< of the own ring
  std::vector<pid_t> pids_;           ///< of the others that have not ended
  std::vector<const summary*> others_;
  bool lost_ = false;
};

}  // namespace runq::model::exact
