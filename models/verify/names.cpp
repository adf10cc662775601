// SPDX-License-Identifier: MIT
#include "names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace runq::model {

namespace {

constexpr std::array operations{".load(",
                                "->load(",
                                ".store(",
                                "->store(",
                                ".exchange(",
                                "->exchange(",
                                ".fetch_",
                                "->fetch_",
                                ".compare_ex",
                                "->compare_ex",
                                "tomics::fence(",
                                "tomics::light_fence(",
                                "tomics::heavy_fence(",
                                "atomic_thread_fence("};
constexpr std::array orders{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

[[nodiscard]] std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

[[nodiscard]] std::string_view code_of(std::string_view line) { return trimmed(line.substr(0, line.find("//"))); }

[[nodiscard]] unsigned operations_in(std::string_view code) {
  unsigned n = 0;
  for (const std::string_view operation : operations) {
    for (std::size_t at = code.find(operation); at != std::string_view::npos; at = code.find(operation, at + 1)) ++n;
  }
  return n;
}

[[nodiscard]] std::string first_order(std::string_view code) {
  constexpr std::string_view before = "memory_order::";
  const std::size_t at = code.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = code.substr(at + before.size());
  for (const std::string_view order : orders) {
    if (rest.starts_with(order)) return std::string(order);
  }
  return {};
}

// The name comment in front of a statement.
struct name_comment {
  std::string name;
  std::string order;        // the word after the name
  bool unmodelled = false;  // "[x] relaxed, unmodelled: …"
};

[[nodiscard]] name_comment parse_comment(std::string_view comment) {
  name_comment found;
  if (!comment.starts_with("// [")) return found;
  const std::size_t end = comment.find("] ");
  if (end == std::string_view::npos) return found;
  found.name = comment.substr(4, end - 4);
  if (found.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) return {};
  const std::string_view rest = comment.substr(end + 2);
  found.order = rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
  found.unmodelled = rest.substr(found.order.size()).starts_with(", unmodelled:");
  return found;
}

// What the comment of a name says, and where.
struct name_words {
  std::string where;  // "ring.hpp:142"
  std::string text;   // from the order on, in one line
};

// The name in brackets at `at`, as in "[ring.pop.claim]"; empty if there is none.
[[nodiscard]] std::string_view name_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '[') return {};
  const std::string_view rest = text.substr(at + 1);
  const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.");
  const bool is_name = end != std::string_view::npos && rest[end] == ']' && rest.substr(0, end).find('.') != rest.npos;
  return is_name ? rest.substr(0, end) : std::string_view{};
}

[[nodiscard]] std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> found;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    if (const std::string_view name = name_at(text, at); !name.empty()) found.emplace(name);
  }
  return found;
}

// "with [a], [b] and [c]", wherever it stands: the operations that this one synchronises with.
[[nodiscard]] std::set<std::string> partners_in(std::string_view text) {
  constexpr std::string_view before = "with [";
  constexpr std::array<std::string_view, 3> between{", and ", ", ", " and "};
  std::set<std::string> found;
  for (std::size_t at = text.find(before); at != std::string_view::npos; at = text.find(before, at + 1)) {
    for (std::size_t next = at + before.size() - 1; !name_at(text, next).empty();) {
      const std::string_view name = name_at(text, next);
      found.emplace(name);
      next += name.size() + 2;
      const auto word = std::find_if(between.begin(), between.end(),
                                     [&](std::string_view w) { return text.substr(next).starts_with(w); });
      if (word == between.end()) break;
      next += word->size();
    }
  }
  return found;
}

// "acquire: as [ring.steal.head]": an operation with the partners and the reasons of another one.
[[nodiscard]] std::string stands_for(std::string_view text) {
  constexpr std::string_view as = ": as [";
  const std::size_t at = text.find(':');
  if (at == std::string_view::npos || !text.substr(at).starts_with(as)) return {};
  return std::string(name_at(text, at + as.size() - 1));
}

// The consequence, the reason to keep an order, and otherwise all that is said of it.
[[nodiscard]] std::vector<std::string_view> reasons_in(std::string_view text) {
  constexpr std::array<std::string_view, 2> begins{"weaker: ", "kept: "};
  std::vector<std::string_view> found;
  for (const std::string_view begin : begins) {
    const std::size_t at = text.find(begin);
    if (at == std::string_view::npos) continue;
    const std::string_view reason = text.substr(at + begin.size());
    found.push_back(trimmed(reason.substr(0, reason.find("kept: "))));
  }
  if (found.empty()) found.push_back(trimmed(text.substr(std::min(text.find(':') + 1, text.size()))));
  return found;
}

class checker {
 public:
  explicit checker(const std::map<std::string, unsigned>& listed) : listed_(listed) {}

  void check(const source_file& file) {
    file_ = &file;
    comment_ = {};
    statement_.clear();
    in_statement_ = 0;
    unmodelled_ = 0;
    std::ifstream in(file.path);
    line_ = 0;
    for (std::string line; std::getline(in, line);) {
      ++line_;
      const std::string_view text = trimmed(line);
      if (text.starts_with("//")) {
        if (name_comment next = parse_comment(text); !next.name.empty()) {
          begin(std::move(next));
          described_ = &names_[comment_.name];
          *described_ = {fmt::format("{}:{}", file.shown, line_),
                         std::string(text.substr(std::min(comment_.name.size() + 6, text.size())))};
        } else if (described_ != nullptr) {
          described_->text += ' ';
          described_->text += trimmed(text.substr(2));
        }
      } else {
        described_ = nullptr;
        if (!text.empty()) add(code_of(text));
      }
    }
    judge_comment_without_operation();
    described_ = nullptr;
    judge_list(file.shown);
  }

  [[nodiscard]] names_found finish() {
    for (const auto& [name, about] : names_) judge_partners(name, about);
    judge_reasons();
    for (const auto& [file, number] : listed_) {
      if (!seen_.contains(file)) found_.faults.push_back(fmt::format("models/unmodelled.txt: there is no {}", file));
    }
    return std::move(found_);
  }

 private:
  void begin(name_comment next) {
    judge_comment_without_operation();
    comment_ = std::move(next);
    statement_.clear();
    in_statement_ = 0;
    const auto [before, is_new] = where_.try_emplace(comment_.name, fmt::format("{}:{}", file_->shown, line_));
    if (!is_new) fault(fmt::format("[{}] is the name of an operation in {}, too", comment_.name, before->second));
  }

  void add(std::string_view code) {
    statement_ += ' ';
    statement_ += code;
    if (const unsigned here = operations_in(code); here != 0) {
      found_.operations += here;
      for (unsigned i = 0; i != here; ++i) judge_operation();
    }
    const bool ends = code.ends_with(';') || code.ends_with('{') || code.ends_with('}');
    if (!ends) return;
    if (in_statement_ != 0) judge_order();
    if (in_statement_ == 0) judge_comment_without_operation();
    statement_.clear();
    if (in_statement_ != 0 || !comment_.name.empty()) comment_ = {};
    in_statement_ = 0;
  }

  void judge_operation() {
    if (comment_.name.empty()) {
      fault("an atomic operation without a name: put '// [name] order: partner; consequence' above its statement");
    } else if (++in_statement_ == 2) {
      fault(fmt::format("two atomic operations in the statement of [{}]: each wants a name of its own", comment_.name));
    } else if (in_statement_ == 1) {
      unmodelled_ += comment_.unmodelled ? 1U : 0U;
      if (comment_.unmodelled == file_->modelled) {
        fault(file_->modelled
                  ? fmt::format("[{}] is in a header with models: it is not unmodelled", comment_.name)
                  : fmt::format("[{0}] is in no header with models: say '[{0}] order, unmodelled: …'", comment_.name));
      }
    }
  }

  void judge_order() {
    if (comment_.name.empty()) return;
    const std::string written = first_order(statement_);
    if (written.empty()) {
      // A function may pass on the order that its caller gave.
      if (statement_.find("order") == std::string::npos) {
        fault(fmt::format("[{}] has no order: spell it out", comment_.name));
      }
      return;
    }
    if (written == comment_.order) return;
    fault(fmt::format("[{}] is {} in the code, and {} in its comment", comment_.name, written,
                      comment_.order.empty() ? "nothing" : comment_.order));
  }

  void judge_comment_without_operation() {
    if (comment_.name.empty() || in_statement_ != 0) return;
    fault(fmt::format("[{}] is the name of no operation: the next statement has none", comment_.name));
    comment_ = {};
  }

  // An operation that stands for another one has that one's partners. The chain of a circle ends somewhere in it.
  [[nodiscard]] std::string represented(std::string name) const {
    for (std::size_t i = 0; i != names_.size(); ++i) {
      const auto found = names_.find(name);
      std::string next = found == names_.end() ? std::string{} : stands_for(found->second.text);
      if (next.empty()) break;
      name = std::move(next);
    }
    return name;
  }

  void judge_partners(const std::string& name, const name_words& about) {
    for (const std::string& other : names_in(about.text)) {
      if (!names_.contains(other)) {
        found_.faults.push_back(fmt::format("{}: [{}] names [{}], which is no operation", about.where, name, other));
      }
    }
    const std::string self = represented(name);
    for (const std::string& other : partners_in(about.text)) {
      const auto partner = names_.find(represented(other));
      if (partner == names_.end()) continue;
      bool is_mutual = false;
      for (const std::string& back : partners_in(partner->second.text)) is_mutual |= represented(back) == self;
      if (is_mutual) continue;
      found_.faults.push_back(fmt::format("{}: [{}] pairs with [{}], which does not say so in {}", about.where, name,
                                          other, partner->second.where));
    }
  }

  // Shorter ones need not have a name: a reference to one would be as long.
  void judge_reasons() {
    constexpr std::size_t most = 4;
    constexpr std::ptrdiff_t spaces = 6;
    std::map<std::string_view, std::vector<std::string>> users;
    for (const auto& [name, about] : names_) {
      for (const std::string_view reason : reasons_in(about.text)) users[reason].push_back(name);
    }
    for (const auto& [reason, names] : users) {
      if (names.size() <= most || std::count(reason.begin(), reason.end(), ' ') < spaces) continue;
      found_.faults.push_back(
          fmt::format("{}: the reason of [{}] stands {} times, as that of [{}]: let the others say "
                      "'as [{}]': {}",
                      names_.at(names[0]).where, names[0], names.size(), names[1], names[0], reason));
    }
  }

  void judge_list(const std::string& file) {
    seen_.emplace(file, true);
    found_.unmodelled += unmodelled_;
    const auto it = listed_.find(file);
    const unsigned listed = it == listed_.end() ? 0 : it->second;
    if (listed == unmodelled_) return;
    found_.faults.push_back(
        fmt::format("{}: {} operations are unmodelled, models/unmodelled.txt says {}", file, unmodelled_, listed));
  }

  void fault(const std::string& what) { found_.faults.push_back(fmt::format("{}:{}: {}", file_->shown, line_, what)); }

  const std::map<std::string, unsigned>& listed_;
  const source_file* file_ = nullptr;
  int line_ = 0;
  name_comment comment_;
  std::string statement_;
  unsigned in_statement_ = 0;  // operations in the statement so far
  unsigned unmodelled_ = 0;    // in this file
  std::map<std::string, std::string> where_;
  std::map<std::string, name_words> names_;
  name_words* described_ = nullptr;  // of the comment that goes on
  std::map<std::string, bool> seen_;
  names_found found_;
};

}  // namespace

names_found check_names(const std::vector<source_file>& files, const std::map<std::string, unsigned>& listed) {
  checker all(listed);
  for (const source_file& file : files) all.check(file);
  return all.finish();
}

std::map<std::string, unsigned> read_unmodelled(const std::string& path) {
  std::map<std::string, unsigned> listed;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string file;
    unsigned unmodelled = 0;
    if (line.empty() || line[0] == '#' || !(fields >> file >> unmodelled)) continue;
    listed[file] = unmodelled;
  }
  return listed;
}

}  // namespace runq::model
