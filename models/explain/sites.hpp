// SPDX-License-Identifier: MIT
// Names of atomic operations: a comment `// [ring.push.publish] release: …` names the operation on the lines below it,
// down to the next such comment. Operations are known to the engines by file and line; people know them by name.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine.hpp"
#include "runtime.hpp"

namespace runq::model {

/// The named operations and the lines of the source files that were asked about. Files are read once, when needed.
class source_index {
 public:
  /// The name of the operation at `where`, or an empty string.
  [[nodiscard]] std::string name_of(site where);
  /// The source line at `where`, trimmed; empty when the file cannot be read.
  [[nodiscard]] std::string text_of(site where);
  /// Where the text of that line begins, from 1 on.
  [[nodiscard]] std::size_t column_of(site where);
  /// The lines that the name covers in the file at `path`, as a weakening of order `arg` to `to` wherever a file whose
  /// path ends in `ending` is compiled; nothing if the file has no such name.
  [[nodiscard]] std::optional<weakening> find(const std::string& path, const std::string& ending,
                                              const std::string& name, int arg, std::memory_order to);

  /// The names in `path` below which a memory order other than relaxed is written.
  [[nodiscard]] std::vector<std::string> names_with_orders(const std::string& path);
  /// What the comment that introduces `name` says after "kept: ", up to the end of the comment; of a comment that says
  /// "as [other]" instead, what that of `other`, in the same file, says. Empty if neither does.
  [[nodiscard]] std::string reason_for(const std::string& path, const std::string& name);

 private:
  struct file_text {
    std::vector<std::string> lines;    // [0] is line 1
    std::map<int, std::string> names;  // line of the comment → name
  };
  const file_text& read(const std::string& file);

  std::map<std::string, file_text> files_;
};

}  // namespace runq::model
