// SPDX-License-Identifier: MIT
#include "source_names.hpp"

#include <iterator>
#include <regex>
#include <string_view>
#include <vector>

namespace runq::model {

namespace in_source {

// `a.b[i]->c` is called c.
constexpr const char* name = R"(([A-Za-z_]\w*))";
constexpr const char* members = R"((?:[A-Za-z_]\w*(?:\[[^\]]*\])?(?:\.|->))*)";
// What may stand between a name and the call on it: `slot(b).store(`, `data[i].store(`.
constexpr const char* arguments = R"((?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])?)";

using pattern = std::vector<std::regex>;  // the first group of each is the name

[[nodiscard]] static std::regex method(std::string_view words) {
  return std::regex(std::string(name) + arguments + R"((?:\.|->)(?:)" + std::string(words) + R"()\()");
}
/// `(node->*next).load(`
[[nodiscard]] static std::regex of_member_pointer(std::string_view words) {
  return std::regex(std::string(R"((?:->|\.)\*\s*)") + name + R"(\)\.(?:)" + std::string(words) + R"()\()");
}
[[nodiscard]] static std::regex of_reference(std::string_view words) {
  return std::regex(std::string(R"(atomic_ref(?:<[^>]*>)?\s*[({])") + name + R"([)}]\.(?:)" + std::string(words) +
                    R"()\()");
}
/// A function of C whose name has one of the words, and which gets the variable's address. A method is none.
[[nodiscard]] static std::regex function(std::string_view words) {
  return std::regex(std::string(R"((?:^|[^\w.>])\w*(?:)") + std::string(words) + R"()\w*\s*\(\s*&\s*)" + members + "?" +
                    name + R"((?:\[[^\]]*\])?(?:(?:\.|->)value)?\s*[,)])");
}
[[nodiscard]] static std::regex guard() {
  return std::regex(std::string(R"((?:lock_guard|unique_lock|scoped_lock|shared_lock)(?:<[^>]*>)?\s+\w+\s*[({]\s*)") +
                    members + name);
}
[[nodiscard]] static std::regex assignment(std::string_view operation) {
  return std::regex(std::string(R"((?:^|[^\w.>]))") + members + name + R"(\s*)" + std::string(operation) + "=[^=]");
}
[[nodiscard]] static std::regex count_before() { return std::regex(std::string(R"((?:\+\+|--)\s*)") + members + name); }
[[nodiscard]] static std::regex count_after() { return std::regex(std::string(name) + R"(\s*(?:\+\+|--))"); }

[[nodiscard]] static pattern atomic(std::string_view methods, std::string_view functions) {
  return {method(methods), of_member_pointer(methods), of_reference(methods), function(functions)};
}
[[nodiscard]] static pattern with(pattern first, pattern more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// How sources write an operation. Regular expressions are slow to make: each is made once.
[[nodiscard]] static const pattern& patterns_of(event_kind kind, bool wakes) {
  static const pattern none;
  static const pattern waits{method("wait|wait_for|wait_until|notify_one|notify_all|signal|broadcast"),
                             function("wait|signal|broadcast")};
  static const pattern load = atomic("load|test", "load");
  static const pattern store = with(atomic("store|clear", "store|clear|init"), {assignment("")});
  static const pattern rmw = with(atomic(R"(exchange|fetch_\w+|test_and_set)", R"((?:^|_)exchange|fetch|test_and_set)"),
                                  {assignment("[-+|&^]"), count_before(), count_after()});
  static const pattern cas = atomic(R"(compare_exchange_\w+)", "compare_exchange|cas");
  static const pattern lock{method(R"((?:try_)?lock(?:_shared)?|unlock(?:_shared)?)"), function("lock"), guard()};
  static const pattern write{method("set|store"), assignment("[-+*/|&^]?"), count_before(), count_after()};
  static const pattern read{method("get|load")};
  if (wakes) return waits;
  switch (kind) {
    case event_kind::load: return load;
    case event_kind::store: return store;
    case event_kind::rmw: return rmw;
    case event_kind::cas_success:
    case event_kind::cas_failure: return cas;
    case event_kind::lock:
    case event_kind::unlock: return lock;
    case event_kind::cell_write: return write;
    case event_kind::cell_read: return read;
    default: return none;
  }
}

}  // namespace in_source

std::string name_in_source(event_kind kind, bool wakes, const std::string& line) {
  std::string found;
  for (const std::regex& one : in_source::patterns_of(kind, wakes)) {
    for (std::sregex_iterator at(line.begin(), line.end(), one), end; at != end; ++at) {
      if (!found.empty()) return {};
      found = (*at)[1];
    }
  }
  return found;
}

/// "queue+0" says that there is more of the queue than what lies at its start.
[[nodiscard]] static std::string without_start(const std::string& memory) {
  return memory.ends_with(start_of_larger) ? memory.substr(0, memory.size() - start_of_larger.size()) : memory;
}

std::string name_in_step(event_kind kind, const std::string& name) {
  const bool is_whole = kind == event_kind::allocate || kind == event_kind::deallocate;
  if (!is_whole || !name.starts_with("new@")) return name;
  const std::size_t number = name.rfind("(v");  // tells it from others with that name
  return name.substr(0, name.find_first_of(".[+(")) + (number == std::string::npos ? "" : name.substr(number));
}

std::string name_of_member(const std::string& memory, const std::string& member) {
  static const std::string waiters = "waiters of ";
  if (memory.starts_with(waiters)) return waiters + name_of_member(memory.substr(waiters.size()), member);
  if (memory.empty() || member.empty()) return memory.empty() ? member : without_start(memory);
  if (memory.starts_with("local of ") || memory.starts_with("thread_local of ")) return member;
  const std::size_t offset = memory.find('+');
  // A variable, or a member of it, that has a name, and no offset, is that variable.
  const bool is_block = memory.starts_with("new@") && memory.find_first_of(".[") == std::string::npos;
  if (offset == std::string::npos && !is_block) return memory;
  // An array's elements are called as the array.
  const std::string whole = memory.substr(0, offset);
  return whole != member && !whole.ends_with("." + member) ? whole + "." + member : without_start(memory);
}

}  // namespace runq::model
