// SPDX-License-Identifier: MIT
#include "runq/detail/timers.hpp"

#include <algorithm>
#include <utility>

namespace runq::detail {
namespace {

constexpr std::size_t arity = 4;

}  // namespace

void timer_heap::add(timer_node& node) {
  const std::lock_guard lock(mutex_);
  node.heap = this;
  node.when = std::min(node.when, end_of_time);
  node.order = added_++;
  nodes_.push_back(&node);
  node.place = nodes_.size() - 1;
  sift_up(node.place);
  publish();
}

bool timer_heap::remove(timer_node& node) noexcept {
  const std::lock_guard lock(mutex_);
  if (node.place == timer_node::absent) return false;
  take_out(node.place);
  node.heap = nullptr;
  publish();
  return true;
}

std::size_t timer_heap::fire_due(instant now) {
  std::size_t fired = 0;
  const std::lock_guard lock(mutex_);
  while (!nodes_.empty() && nodes_.front()->when <= now) {
    timer_node& node = *nodes_.front();
    take_out(0);
    ++fired;
    const instant again = node.fire(node, now);
    if (again == never) continue;
    node.when = again;
    node.order = added_++;
    nodes_.push_back(&node);
    node.place = nodes_.size() - 1;
    sift_up(node.place);
  }
  publish();
  return fired;
}

void timer_heap::clear() noexcept {
  const std::lock_guard lock(mutex_);
  for (timer_node* const node : nodes_) {
    node->place = timer_node::absent;
    node->heap = nullptr;
  }
  nodes_.clear();
  publish();
}

void timer_heap::sift_up(std::size_t place) noexcept {
  timer_node& node = *nodes_[place];
  while (place != 0) {
    const std::size_t parent = (place - 1) / arity;
    if (!before(node, *nodes_[parent])) break;
    set(place, *nodes_[parent]);
    place = parent;
  }
  set(place, node);
}

void timer_heap::sift_down(std::size_t place) noexcept {
  timer_node& node = *nodes_[place];
  for (;;) {
    const std::size_t first = place * arity + 1;
    if (first >= nodes_.size()) break;
    std::size_t least = first;
    for (std::size_t child = first + 1; child < std::min(first + arity, nodes_.size()); ++child) {
      if (before(*nodes_[child], *nodes_[least])) least = child;
    }
    if (!before(*nodes_[least], node)) break;
    set(place, *nodes_[least]);
    place = least;
  }
  set(place, node);
}

void timer_heap::take_out(std::size_t place) noexcept {
  nodes_[place]->place = timer_node::absent;
  timer_node* const last = nodes_.back();
  nodes_.pop_back();
  if (place == nodes_.size()) return;
  set(place, *last);
  sift_up(place);
  sift_down(last->place);
}

}  // namespace runq::detail
