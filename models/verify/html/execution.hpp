// SPDX-License-Identifier: MIT
// A failing execution as the page needs it: what read what, which steps matter, what the variables are called.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace runq::model::html {

inline constexpr int main_thread = -1;
inline constexpr int nothing = -1;  ///< no such step

struct step {
  int index = 0;
  std::string kind;  ///< "load", "cas ok", … as json.hpp spells them
  int thread = main_thread;
  std::string file;
  std::uint64_t line = 0;
  std::string order;  ///< empty for steps that have none
  std::uint64_t location = 0;
  std::string value;    ///< read, or written; for read-modify-write: read
  std::string written;  ///< for read-modify-write
  std::string newest;   ///< for a stale read: the value it ignored
  std::string site;
  std::string source;
  bool stale = false;

  int reads_from = nothing;
  bool inferred = false;      ///< `reads_from` is the last write of that value, not the engine's word
  int ignored = nothing;      ///< for a stale read: the write of the newest value
  int conflict = nothing;     ///< the last access of another thread that the failing step is not ordered with
  bool weakened = false;      ///< an operation that the mutant changed
  bool failing = false;       ///< where the failure was noticed
  bool stuck = false;         ///< the last step of a thread that can go on no more
  bool minor = true;          ///< of no part in the failure, as far as can be told
  bool construction = false;  ///< before the threads start

  [[nodiscard]] bool reads() const;
  [[nodiscard]] bool writes() const;
  [[nodiscard]] bool is_cell() const { return kind == "read" || kind == "write"; }
  [[nodiscard]] const std::string& value_written() const {
    return kind == "store" || kind == "write" ? value : written;
  }
};

struct execution {
  std::vector<step> steps;
  std::vector<int> columns;                    ///< threads in the timeline, main first where it has a part
  std::map<std::uint64_t, std::string> names;  ///< variable -> what the source calls it: "tail_"
};

[[nodiscard]] execution read_execution(const nlohmann::json& search);

[[nodiscard]] std::string thread_name(int thread);

}  // namespace runq::model::html
