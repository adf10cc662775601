// SPDX-License-Identifier: MIT
// The graphs that wait to be extended. A search takes the one that was left last; a part of a search that is given away
// is the oldest, from which most graphs follow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// A path through the search from its beginning: for each execution, which of the continuations was taken that it left
/// for later.
using way = std::vector<std::uint32_t>;

/// A way through the last of several searches, each of which has begun again when an execution showed a variable that
/// is larger than it had seemed: the ways to these executions, but for the first one, which every search makes.
struct full_way {
  std::vector<way> larger_at;
  way last;
};

class pending_work {
 public:
  struct turn {
    std::shared_ptr<const turn> before;
    std::uint32_t taken = 0;
  };
  struct part {
    std::unique_ptr<graph> from;
    std::shared_ptr<const turn> last;  ///< with keeps_ways: the last turn on the way there
  };

  /// `keeps_ways`: way_here() and way_to_oldest() will be asked.
  explicit pending_work(bool keeps_ways) noexcept : keeps_ways_(keeps_ways) {}

  /// A graph to be overwritten: an old graph may be in it.
  [[nodiscard]] std::unique_ptr<graph> new_graph();
  /// All of it. A few words, from which the graph would be built again, could save 2 % of a search's time (README.md).
  [[nodiscard]] std::unique_ptr<graph> copy(const graph& g);
  void recycle(std::unique_ptr<graph> g) { spare_.push_back(std::move(g)); }

  [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
  [[nodiscard]] graph& operator[](std::size_t which) noexcept { return *pending_[which].from; }
  [[nodiscard]] graph& newest() noexcept { return *pending_.back().from; }
  [[nodiscard]] const graph& oldest() const noexcept { return *pending_.front().from; }

  /// Forgets what waits, and what was done.
  void clear() noexcept;
  /// Makes `p` the only part that waits.
  void begin_with(part p);
  void keep_only(std::size_t which);
  void drop_oldest();
  /// The part that was left last: whoever takes it may begin with it later.
  [[nodiscard]] part set_aside_newest();
  /// The running execution leaves `g` for later, at the event with that stamp.
  void push(std::unique_ptr<graph> g, std::uint32_t stamp);
  /// The graph that was pushed last: it is executed now.
  [[nodiscard]] std::unique_ptr<graph> take();
  /// The execution of `g` has ended. Divides its weight: at each event, each graph that was pushed and the continuation
  /// get the same. Returns the weight that is left at its end.
  double end_of(std::unique_ptr<graph> g);

  [[nodiscard]] way way_here() const { return way_of(turn_.get()); }
  [[nodiscard]] way way_to_oldest() const { return way_of(pending_.front().last.get()); }
  /// How much of the search is done, by weight.
  [[nodiscard]] double weight_done() const noexcept { return weight_done_; }
  void set_weight_done(double weight) noexcept { weight_done_ = weight; }

 private:
  [[nodiscard]] double share_weight(double rest);
  [[nodiscard]] static way way_of(const turn* last);

  const bool keeps_ways_;
  std::vector<part> pending_;
  std::vector<std::unique_ptr<graph>> spare_;
  std::size_t first_ = 0;                 ///< where the graphs that the running execution has pushed begin
  std::vector<std::uint32_t> pushed_at_;  ///< the stamps of the events with which they were pushed
  std::shared_ptr<const turn> turn_;      ///< of the graph that is being executed
  double weight_done_ = 0;
};

}  // namespace runq::model::exact
