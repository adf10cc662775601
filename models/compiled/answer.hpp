// SPDX-License-Identifier: MIT
// What a check came to, in words.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "options.hpp"
#include "session.hpp"

namespace runq::model::compiled {

struct answer {
  int status = 2;                          ///< 0: no execution fails; 1: one does; 2: no verdict
  std::string headline;                    ///< the verdict in one line, without a line end
  std::string text;                        ///< all there is to say, with line ends
  std::shared_ptr<nlohmann::json> result;  ///< of the search; null: it is not needed
  std::shared_ptr<nlohmann::json> ledger;  ///< its rows; nothing: no ledger was asked for
  std::vector<answer> each{};              ///< of several failures: each
};

/// "data race"; empty for none.
[[nodiscard]] std::string name_of(failure what);

/// Writes all bytes, unless the other side has closed.
void write_all(int to, const void* from, std::size_t size) noexcept;

/// Checks the program once, in the process that calls it.
using check_function = std::function<search_result(session&, const run_options&)>;

[[nodiscard]] answer judge(const search_result& r, session& s, const run_options& options);
/// Status and headline only: no execution is shown.
[[nodiscard]] answer judge_briefly(const search_result& r, session& s, const run_options& options);
/// A line for each function, and the like, that is not instrumented.
[[nodiscard]] std::string not_seen(session& s);
/// A line for each line of source whose plain accesses count as relaxed ones, and where none was executed.
[[nodiscard]] std::string not_met(const session& s);

}  // namespace runq::model::compiled
