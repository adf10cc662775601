// SPDX-License-Identifier: MIT
#include "exact_pending.hpp"

#include <algorithm>
#include <utility>

namespace runq::model::exact {

std::unique_ptr<graph> pending_work::new_graph() {
  if (spare_.empty()) return std::make_unique<graph>();
  std::unique_ptr<graph> result = std::move(spare_.back());
  spare_.pop_back();
  return result;
}

std::unique_ptr<graph> pending_work::copy(const graph& g) {
  std::unique_ptr<graph> result = new_graph();
  *result = g;
  return result;
}

void pending_work::clear() noexcept {
  pending_.clear();
  weight_done_ = 0;
}

void pending_work::begin_with(part p) {
  pending_.clear();
  pending_.push_back(std::move(p));
}

void pending_work::keep_only(std::size_t which) {
  std::swap(pending_[which], pending_.front());
  for (; pending_.size() > 1; pending_.pop_back()) recycle(std::move(pending_.back().from));
}

void pending_work::drop_oldest() {
  recycle(std::move(pending_.front().from));
  pending_.erase(pending_.begin());
}

pending_work::part pending_work::set_aside_newest() {
  part result = std::move(pending_.back());
  pending_.pop_back();
  return result;
}

void pending_work::push(std::unique_ptr<graph> g, std::uint32_t stamp) {
  pending_.push_back({std::move(g), nullptr});
  pushed_at_.push_back(stamp);
}

std::unique_ptr<graph> pending_work::take() {
  std::unique_ptr<graph> result = std::move(pending_.back().from);
  turn_ = std::move(pending_.back().last);
  pending_.pop_back();
  pushed_at_.clear();
  first_ = pending_.size();
  return result;
}

double pending_work::end_of(std::unique_ptr<graph> g) {
  const double rest = share_weight(g->weight);
  weight_done_ += rest;
  recycle(std::move(g));
  return rest;
}

double pending_work::share_weight(double rest) {
  for (std::size_t i = 0; i != pushed_at_.size();) {
    std::size_t end = i;
    while (end != pushed_at_.size() && pushed_at_[end] == pushed_at_[i]) ++end;
    rest /= static_cast<double>(end - i + 1);
    for (; i != end; ++i) {
      part& p = pending_[first_ + i];
      p.from->weight = rest;
      if (keeps_ways_) p.last = std::make_shared<turn>(turn{turn_, static_cast<std::uint32_t>(i)});
    }
  }
  return rest;
}

way pending_work::way_of(const turn* last) {
  way result;
  for (; last != nullptr; last = last->before.get()) result.push_back(last->taken);
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace runq::model::exact
