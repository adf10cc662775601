// SPDX-License-Identifier: MIT
// Every row holds one box, so a line along a row meets no box of another thread: an arrow leaves its writer along the
// writer's row, goes up or down in the gutter beside the reader's column, and enters the reader from there. In a gutter
// each writer has a lane of its own, which all its arrows there share.
#include "layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace runq::model::html {

namespace {

constexpr int row_height = 40;
constexpr int minor_row_height = 21;
constexpr int row_gap = 4;
constexpr int margin = 8;
constexpr int lane_step = 6;
constexpr int nearest_lane = 12;  ///< from the box; room for the arrow's head
constexpr int max_lanes = 12;
constexpr int corner = 6;
constexpr int head_length = 7;

[[nodiscard]] int column_width(std::size_t columns) {
  constexpr int widths[] = {860, 860, 560, 430, 350};
  return columns < std::size(widths) ? widths[columns] : 320;
}

/// One side of a gutter, in the lane of one writer. Gutter k is left of column k.
struct trunk {
  std::size_t gutter = 0;
  bool on_right = false;  ///< near the column at the gutter's right, or near the one at its left
  int top = 0;
  int bottom = 0;
  int lane = 0;
};

class planner {
 public:
  explicit planner(const execution& e) : e_(e), lanes_(2 * (e.columns.size() + 1), 0) {}

  [[nodiscard]] layout make() {
    place_rows();
    collect_arrows();
    assign_lanes();
    place_columns();
    for (arrow& a : plan_.arrows) draw(a);
    return std::move(plan_);
  }

 private:
  using trunk_key = std::tuple<int, std::size_t, bool, arrow_kind>;

  [[nodiscard]] const step& at(int index) const { return e_.steps[static_cast<std::size_t>(index)]; }
  [[nodiscard]] box& box_of(int index) { return plan_.boxes[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::size_t column_of(int index) const {
    const auto it = std::find(e_.columns.begin(), e_.columns.end(), at(index).thread);
    return static_cast<std::size_t>(it - e_.columns.begin());
  }

  void place_rows() {
    plan_.boxes.resize(e_.steps.size());
    int y = margin;
    for (const step& s : e_.steps) {
      if (s.construction) continue;
      box& b = box_of(s.index);
      b.top = y;
      b.height = s.minor ? minor_row_height : row_height;
      y += b.height + row_gap;
    }
    plan_.height = y + margin;
  }

  // Boxes are wide enough for two ports: values come in above, and go out below.
  [[nodiscard]] int port_in(int index) { return box_of(index).top + minor_row_height / 2; }
  [[nodiscard]] int port_out(int index) {
    return box_of(index).top + box_of(index).height - minor_row_height / 2 - (at(index).minor ? 0 : 1);
  }

  void add_arrow(int from, int to, arrow_kind kind) {
    if (from == nothing || at(from).construction) return;
    plan_.arrows.push_back({from, to, kind, at(from).thread == at(to).thread, {}, {}});
  }

  void collect_arrows() {
    for (const step& s : e_.steps) {
      if (s.construction) continue;
      add_arrow(s.reads_from, s.index, arrow_kind::reads_from);
      add_arrow(s.ignored, s.index, arrow_kind::ignored);
      if (s.conflict != s.reads_from) add_arrow(s.conflict, s.index, arrow_kind::conflict);
    }
    for (const arrow& a : plan_.arrows) extend_trunk(a);
  }

  [[nodiscard]] trunk_key key_of(const arrow& a) const {
    const std::size_t to = column_of(a.to);
    const bool from_right = column_of(a.from) > to;
    return {a.from, from_right ? to + 1 : to, !from_right, a.kind};
  }

  void extend_trunk(const arrow& a) {
    const auto [top, bottom] = std::minmax(port_out(a.from), port_in(a.to));
    const auto [it, first] = trunks_.try_emplace(key_of(a));
    trunk& t = it->second;
    t.gutter = std::get<1>(it->first);
    t.on_right = std::get<2>(it->first);
    t.top = first ? top : std::min(t.top, top);
    t.bottom = first ? bottom : std::max(t.bottom, bottom);
  }

  [[nodiscard]] int& lanes_of(const trunk& t) { return lanes_[2 * t.gutter + (t.on_right ? 1 : 0)]; }

  // Short ones nearest to the boxes, so that few lines cross.
  void assign_lanes() {
    std::vector<trunk*> order;
    for (auto& [key, t] : trunks_) order.push_back(&t);
    std::stable_sort(order.begin(), order.end(),
                     [](const trunk* a, const trunk* b) { return a->bottom - a->top < b->bottom - b->top; });
    for (std::size_t i = 0; i != order.size(); ++i) {
      trunk& t = *order[i];
      while (t.lane + 1 < max_lanes && std::any_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i),
                                                   [&](const trunk* o) { return collide(t, *o); })) {
        ++t.lane;
      }
      lanes_of(t) = std::max(lanes_of(t), t.lane + 1);
    }
  }
  [[nodiscard]] static bool collide(const trunk& a, const trunk& b) {
    return a.gutter == b.gutter && a.on_right == b.on_right && a.lane == b.lane && a.top <= b.bottom + corner &&
           b.top <= a.bottom + corner;
  }

  [[nodiscard]] static int side_width(int lanes) { return lanes == 0 ? 0 : nearest_lane + lanes * lane_step; }

  void place_columns() {
    const std::size_t count = e_.columns.size();
    int x = 0;
    for (std::size_t c = 0; c != count; ++c) {
      x += std::max(2 * margin, side_width(lanes_[2 * c]) + side_width(lanes_[2 * c + 1]));
      plan_.columns.push_back({x, 0, column_width(count), plan_.height});
      x += column_width(count);
    }
    plan_.width = x + margin;
    for (const step& s : e_.steps) {
      if (s.construction) continue;
      box_of(s.index).left = plan_.columns[column_of(s.index)].left;
      box_of(s.index).width = column_width(count);
    }
  }

  [[nodiscard]] int trunk_x(const arrow& a) {
    const trunk& t = trunks_.at(key_of(a));
    const int distance = nearest_lane + t.lane * lane_step;
    const box& reader = box_of(a.to);
    return t.on_right ? reader.left - distance : reader.right() + distance;
  }

  void draw(arrow& a) {
    const box& writer = box_of(a.from);
    const box& reader = box_of(a.to);
    const int x = trunk_x(a);
    const int y1 = port_out(a.from);
    const int y2 = port_in(a.to);
    const int x1 = x > writer.left ? writer.right() : writer.left;
    const int x2 = x < reader.left ? reader.left : reader.right();
    const int along = x < reader.left ? 1 : -1;  // the direction in which it enters the reader
    const int out = x > x1 ? 1 : -1;
    const int down = y2 > y1 ? 1 : -1;
    const int r = std::min({corner, std::abs(y2 - y1) / 2, std::abs(x - x1)});
    a.line = fmt::format("M{} {}H{}Q{} {} {} {}V{}Q{} {} {} {}H{}", x1, y1, x - out * r, x, y1, x, y1 + down * r,
                         y2 - down * r, x, y2, x + along * r, y2, x2 - along);
    a.head =
        fmt::format("M{} {}L{} {}L{} {}Z", x2, y2, x2 - along * head_length, y2 - 4, x2 - along * head_length, y2 + 4);
  }

  const execution& e_;
  layout plan_;
  std::map<trunk_key, trunk> trunks_;
  std::vector<int> lanes_;  ///< how many, for the left and right side of each gutter
};

}  // namespace

layout lay_out(const execution& e) { return planner(e).make(); }

}  // namespace runq::model::html
