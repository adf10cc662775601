// SPDX-License-Identifier: MIT
// Ways through the tree of all executions. Its inner nodes are events that can go on in several ways, its leaves the
// executions. A search walks it in order; here is what a part of a search needs, a random walk, and how large the tree
// is by what was seen of it (Knuth: "Estimating the efficiency of backtrack programs", 1975).
#include <algorithm>

#include "exact_search.hpp"
#include "exact_team.hpp"

namespace runq::model::exact {

namespace {

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): the same everywhere.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  /// From 0 up to `end`, without it.
  [[nodiscard]] double below(double end) {
    constexpr unsigned spare_bits = 11;
    constexpr double unit = 1.0 / (std::uint64_t{1} << (64 - spare_bits));
    return end * unit * static_cast<double>(next() >> spare_bits);
  }

 private:
  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace

void search::begin_at_root() {
  pending_.clear();
  pending_.push_back({std::make_unique<graph>(), nullptr});
  pending_.back().from->finds_variables = program_ != nullptr;
}

void search::go_on_with_only(std::size_t which) {
  std::swap(pending_[which], pending_.front());
  for (; pending_.size() > 1; pending_.pop_back()) recycle(std::move(pending_.back().from));
}

/// What the running execution leaves for later.
void search::push(std::unique_ptr<graph> g) {
  g->deviations = g_->deviations + (ends_wait_ ? 0 : 1);
  if (g->deviations > options_.bound) {
    ++result_.cut_off;
    return recycle(std::move(g));
  }
  pending_.push_back({std::move(g), nullptr});
  pushed_at_.push_back(g_->next_stamp());
}

double search::explore_next() {
  g_ = std::move(pending_.back().from);
  turn_ = std::move(pending_.back().last);
  pending_.pop_back();
  pushed_at_.clear();
  const std::size_t first = pending_.size();
  run_graph();
  const double rest = share_weight(first);
  weight_done_ += rest;
  recycle(std::move(g_));
  return rest;
}

/// Divides the weight of the running graph: at each event, each graph that was pushed and the continuation get the
/// same. `first`: where the graphs that this execution has pushed begin. Returns the weight that is left at its end.
double search::share_weight(std::size_t first) {
  double rest = g_->weight;
  for (std::size_t i = 0; i != pushed_at_.size();) {
    std::size_t end = i;
    while (end != pushed_at_.size() && pushed_at_[end] == pushed_at_[i]) ++end;
    rest /= static_cast<double>(end - i + 1);
    for (; i != end; ++i) {
      part& p = pending_[first + i];
      p.from->weight = rest;
      if (program_ != nullptr) p.last = std::make_shared<turn>(turn{turn_, static_cast<std::uint32_t>(i)});
    }
  }
  return rest;
}

way search::way_of(const turn* last) {
  way result;
  for (; last != nullptr; last = last->before.get()) result.push_back(last->taken);
  std::reverse(result.begin(), result.end());
  return result;
}

way search::way_here() const { return way_of(turn_.get()); }

// --- a part of a search ----------------------------------------------------------------------------------------------

/// Makes the graph at the end of that way the only pending one. Returns false if there is none. The executions on the
/// way are not counted: the process that met them in the order of the search has counted them.
bool search::follow(const way& to) {
  const std::uint64_t executions = result_.executions;
  const std::uint64_t blocked = result_.blocked;
  const std::uint64_t spurious = result_.spurious;
  const std::uint64_t cut_off = result_.cut_off;
  const double weight_done = weight_done_;
  begin_at_root();
  for (const std::uint32_t taken : to) {
    explore_next();
    if (over() || taken >= pending_.size()) return false;
    go_on_with_only(taken);
  }
  result_.executions = executions;
  result_.blocked = blocked;
  result_.spurious = spurious;
  result_.cut_off = cut_off;
  weight_done_ = weight_done;
  return true;
}

void search::explore_parts() {
  while (const std::optional<way> next = source_->next()) {
    if (!follow(*next)) {
      return cut_short(
          "a part of the search is not there: the program is not deterministic, or not the same everywhere");
    }
    while (!over() && !pending_.empty()) {
      explore_next();
      if (over()) return;
      over_ = source_->stopped();
      for (unsigned wanted = source_->wanted(); wanted != 0 && pending_.size() > 1; --wanted) {
        source_->give(way_of(pending_.front().last.get()));
        recycle(std::move(pending_.front().from));
        pending_.erase(pending_.begin());
      }
    }
  }
}

void search::explore_shown() {
  if (!follow(*shown_)) return cut_short("there is no execution at the end of this way");
  shows_this_ = true;
  explore_next();
  cut_short("the execution at the end of this way waits for ever, or sees old values for ever");
}

// --- random walks ----------------------------------------------------------------------------------------------------

/// From an execution to one of those that it has left for later, until one leaves none. What is met with probability p
/// stands for 1/p executions.
void search::walk_at_random() {
  random_numbers random(options_.seed);
  result_.how = coverage::sampled;
  double sum = 0;
  while (result_.walks != options_.walks && !over()) {
    double stands_for = 1;
    for (begin_at_root(); !pending_.empty();) {
      pending_.back().from->weight = 1;
      const std::uint64_t complete = result_.executions;
      const double left = 1 - explore_next();
      if (over()) return;
      if (result_.executions != complete) sum += stands_for;
      if (pending_.empty()) break;
      double drawn = random.below(left);
      std::size_t next = 0;
      for (; drawn >= pending_[next].from->weight && next + 1 != pending_.size(); ++next) {
        drawn -= pending_[next].from->weight;
      }
      stands_for *= left / pending_[next].from->weight;
      go_on_with_only(next);
    }
    result_.estimated = sum / static_cast<double>(++result_.walks);
  }
}

// --- how large it is -------------------------------------------------------------------------------------------------

void search::report_progress(double seconds) {
  if (options_.progress == nullptr || !tells_progress_) return;
  next_progress_ = seconds + options_.progress_seconds;
  search_progress now{result_.executions, 0, seconds};
  double done = weight_done_;
  if (team_ != nullptr) {
    now.executions = team_->executions();
    done = team_->weight_done();
  }
  now.estimated = options_.walks != 0 ? result_.estimated : done > 0 ? static_cast<double>(now.executions) / done : 0;
  options_.progress(now);
}

}  // namespace runq::model::exact
