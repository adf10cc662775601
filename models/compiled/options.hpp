// SPDX-License-Identifier: MIT
// The options of a check. runq-check takes them as its arguments; runq::check() writes its own as the same words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accepted_races.hpp"
#include "exact.hpp"
#include "orders.hpp"
#include "session.hpp"
#include "sizes.hpp"

namespace runq::model::compiled {

struct run_options {
  exact_options search{
      .spurious_of_thread = 1, .waits_in_place = true, .skips_retries = true, .keeps_rounds_if_late = true};
  bool leaks = true;
  bool every_iteration = false;
  bounds limits;
  order_change weakened;  ///< the one memory order that this check makes weaker, if any
  exact::full_way path;   ///< the choices that lead to the only execution that is shown, if `has_path`
  bool has_path = false;
  std::vector<named_size> sizes;    ///< of a test that can grow
  bool without_assertions = false;  ///< the program has assertions, and is compiled without them
  // These options exist for the command runq-check only; runq::check() refuses them.
  std::string of_command;              ///< the first of the options below that was given
  bool ledger = false;                 ///< weaken every order, one at a time
  std::vector<std::string> ledger_of;  ///< weaken only orders in files whose paths end with one of these; empty: in
                                       ///< all files that do not belong to the system
  std::vector<std::string> wrappers;   ///< steps in files whose paths end so are shown where these are called
  accepted_races accepted;             ///< they are no failures
  std::vector<code_line> relaxed;      ///< plain accesses there count as relaxed atomic ones
  bool volatile_is_relaxed = false;    ///< so do all that are volatile
  std::size_t most_failures = 0;       ///< with search.all_failures: stop after so many different ones
  unsigned jobs = 0;                   ///< how many processes run at the same time; 0: one for each processor
  std::string json_file;               ///< the file for the results; empty: none is written
  std::string html_dir;                ///< the folder for the pages; empty: none are written
  std::string sarif_file;              ///< the files for other tools; empty: none is written
  std::string junit_file;
  bool for_editors = false;      ///< failures are printed as compilers print errors, too
  std::string executed_file;     ///< the file for the list of executed operations; empty: none is written
  std::string sizes_file;        ///< the file for the sizes that the program asks for; empty: none is written
  std::string ways_file;         ///< the file for the ways that conditional jumps went; empty: none is written
  std::string title = "main()";  ///< the title of the program's page
  std::string replay;            ///< the command that repeats this check
};

/// The choices of a path as text, for example "0.3.1". The path of the first execution, which has no choices, is "-".
[[nodiscard]] std::string path_text(const exact::way& path);
[[nodiscard]] std::optional<exact::way> to_path(std::string_view text);
/// The ways with + between.
[[nodiscard]] std::string path_text(const exact::full_way& path);
[[nodiscard]] std::optional<exact::full_way> to_full_path(std::string_view text);

/// Gives the options to a session. Call it once, before check().
void prepare(session& s, const run_options& options);
/// What its checks explore of what has no end; known without a session, too.
[[nodiscard]] bounds limits_of(const run_options& options);

/// Reads options from `words`, which line ends separate, or spaces if there is no line end. Returns a sentence that
/// says what is wrong with them, or an empty text. A further call adds options, and an option that is given again
/// replaces the earlier one.
[[nodiscard]] std::string read_options(std::string_view words, run_options& to);

/// Several processes can share a search, but not with every option. If such an option is given, returns a sentence that
/// names it; otherwise an empty text.
[[nodiscard]] std::string not_shared_out(const run_options& options);

}  // namespace runq::model::compiled
