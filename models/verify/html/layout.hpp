// SPDX-License-Identifier: MIT
// Where the boxes of a timeline stand and how the arrows run between them. Everything is fixed here, in pixels, so that
// the page is complete without its script.
#pragma once

#include <string>
#include <vector>

#include "execution.hpp"

namespace runq::model::html {

enum class arrow_kind : unsigned char { reads_from, ignored, conflict };

struct arrow {
  int from = nothing;
  int to = nothing;
  arrow_kind kind = arrow_kind::reads_from;
  bool own = false;  ///< within one thread
  std::string line;  ///< SVG path data
  std::string head;
};

struct box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  [[nodiscard]] int right() const { return left + width; }
};

struct layout {
  int width = 0;
  int height = 0;
  std::vector<box> columns;  ///< as execution::columns, full height
  std::vector<box> boxes;    ///< by step; those of the construction are not placed and have no width
  std::vector<arrow> arrows;
};

[[nodiscard]] layout lay_out(const execution& e);

}  // namespace runq::model::html
