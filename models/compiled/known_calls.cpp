// SPDX-License-Identifier: MIT
#include "known_calls.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <locale>
#include <map>
#include <thread>
#include <vector>

#include <bits/stl_list.h>
#include <bits/stl_tree.h>
#include <fmt/format.h>

#include "interpose.hpp"
#include "outside.hpp"

namespace runq::model::compiled {

void known_call::reads(const void* at, std::size_t size) const {
  current_session().memory().access(at, size, false, registers_.return_address);
}
void known_call::writes(const void* at, std::size_t size) const {
  current_session().memory().access(at, size, true, registers_.return_address);
}
std::size_t known_call::reads_text(const char* text, std::size_t most) const {
  this_process.touched = {reinterpret_cast<const std::byte*>(text), 1, registers_.return_address};
  const std::size_t length = strnlen(text, most);
  reads(text, length == most ? length : length + 1);
  return length;
}
void known_call::copy_list(va_list& list, unsigned i) const noexcept {
  std::memcpy(&list, argument<const void*>(i), sizeof list);
}

namespace {

using call = known_call;

// --- formats ---------------------------------------------------------------------------------------------------------

/// One conversion of a format of printf() or scanf(): "%-5.*lld".
struct conversion {
  const char* end;
  bool has_star = false;  ///< an argument for the width; of scanf(), nothing is assigned
  bool has_precision = false;
  bool precision_has_star = false;
  std::size_t width = 0;
  std::size_t precision = 0;
  std::string_view length;
  char kind = '\0';

  /// `at` is behind the percent sign.
  explicit conversion(const char* at) : end(at) {
    end += std::strspn(end, "-+ #0'I");
    has_star = skip('*');
    width = number();
    if (skip('.')) {
      has_precision = true;
      precision_has_star = skip('*');
      precision = number();
    }
    length = {end, std::strspn(end, "hlqLjzt")};
    end += length.size();
    kind = *end == '\0' ? '\0' : *end++;
    if (kind == '[') skip_set();
  }
  [[nodiscard]] std::size_t bytes_of_integer() const noexcept {
    return length == "hh" ? 1 : length == "h" ? 2 : length.empty() ? 4 : 8;
  }
  [[nodiscard]] bool is_floating() const noexcept { return kind != '\0' && std::strchr("aAeEfFgG", kind) != nullptr; }

 private:
  bool skip(char c) noexcept {
    if (*end != c) return false;
    ++end;
    return true;
  }
  std::size_t number() {
    char* after = nullptr;
    const std::size_t value = *end >= '0' && *end <= '9' ? std::strtoul(end, &after, 10) : 0;
    if (after != nullptr) end = after;
    return value;
  }
  void skip_set() noexcept {
    skip('^');
    skip(']');
    while (*end != '\0' && *end++ != ']') {
    }
  }
};

void reads_wide_text(const call& c, const wchar_t* text, std::size_t most) {
  const std::size_t length = wcsnlen(text, most);
  c.reads(text, (length == most ? length : length + 1) * sizeof *text);
}

/// What printf() reads, and, by %n, writes.
void note_format(const call& c, const char* format, va_list list) {
  c.reads_text(format);
  for (const char* at = format; (at = std::strchr(at, '%')) != nullptr;) {
    conversion next(at + 1);
    at = next.end;
    if (next.kind == '$') return add_unseen_code({{"printf() or the like with numbered arguments", 1}});
    if (next.kind == '\0') return;
    if (next.kind == '%' || next.kind == 'm') continue;
    if (next.has_star) static_cast<void>(va_arg(list, long));
    if (next.precision_has_star) {
      const int given = va_arg(list, int);
      next.has_precision = given >= 0;
      next.precision = static_cast<std::size_t>(std::max(given, 0));
    }
    if (next.is_floating()) {
      if (next.length == "L") {
        static_cast<void>(va_arg(list, long double));
      } else {
        static_cast<void>(va_arg(list, double));
      }
      continue;
    }
    void* const argument = va_arg(list, void*);
    if (argument == nullptr) continue;
    if (next.kind == 's' && next.length.empty()) {
      c.reads_text(static_cast<const char*>(argument), next.has_precision ? next.precision : ~std::size_t{0});
    } else if (next.kind == 's' && next.length == "l") {
      reads_wide_text(c, static_cast<const wchar_t*>(argument), next.has_precision ? next.precision : ~std::size_t{0});
    } else if (next.kind == 'n') {
      c.writes(argument, next.bytes_of_integer());
    }
  }
}

template <unsigned Format>
void printf_like(const call& c) {
  va_list list;
  c.begin_list(list, Format + 1);
  note_format(c, c.argument<const char*>(Format), list);
  va_end(list);
}
template <unsigned Format>
void vprintf_like(const call& c) {
  va_list list;
  c.copy_list(list, Format + 1);
  note_format(c, c.argument<const char*>(Format), list);
  va_end(list);
}

/// What is written: not more than `most` bytes.
void note_text(const call& c, std::size_t most, const char* format, va_list list) {
  const int length = std::vsnprintf(nullptr, 0, format, list);
  if (length >= 0) c.writes(c.argument<void*>(0), std::min(most, static_cast<std::size_t>(length) + 1));
}
constexpr unsigned no_limit = 99;
/// The arguments begin with the place for the text; `Size` says which one is its size.
template <unsigned Format, unsigned Size = no_limit>
void sprintf_like(const call& c) {
  printf_like<Format>(c);
  va_list list;
  c.begin_list(list, Format + 1);
  note_text(c, Size == no_limit ? ~std::size_t{0} : c.number(Size % 6), c.argument<const char*>(Format), list);
  va_end(list);
}
template <unsigned Format, unsigned Size = no_limit>
void vsprintf_like(const call& c) {
  vprintf_like<Format>(c);
  va_list list;
  c.copy_list(list, Format + 1);
  note_text(c, Size == no_limit ? ~std::size_t{0} : c.number(Size % 6), c.argument<const char*>(Format), list);
  va_end(list);
}

// --- strings ---------------------------------------------------------------------------------------------------------

template <unsigned... Is>
void reads_strings(const call& c) {
  (c.reads_string(Is), ...);
}
/// strtol() and its relatives.
void reads_number(const call& c) {
  c.reads_string(0);
  if (c.argument<void*>(1) != nullptr) c.writes(c.argument<void*>(1), sizeof(char*));
}
/// It stops behind the first difference, or where both end.
void compares_text(const call& c, std::size_t most, int (*as_compared)(int)) {
  const auto *a = c.argument<const char*>(0), *b = c.argument<const char*>(1);
  std::size_t same = 0;
  while (same != most && as_compared(a[same]) == as_compared(b[same]) && a[same] != '\0') ++same;
  const std::size_t size = std::min(most, same + 1);
  c.reads(a, size);
  c.reads(b, size);
}
[[nodiscard]] int as_it_is(int character) { return character; }
/// As far as the character is, which is not read any further.
void looks_for_character(const call& c) {
  const auto* const text = c.argument<const char*>(0);
  const char* const found = std::strchr(text, static_cast<int>(c.number(1)));
  c.reads_text(text, found == nullptr ? ~std::size_t{0} : static_cast<std::size_t>(found - text) + 1);
}
void copies_string(const call& c) { c.writes(c.argument<void*>(0), c.reads_string(1) + 1); }
void copies_bounded(const call& c) {
  c.reads_string(1, c.number(2));
  c.writes(c.argument<void*>(0), c.number(2));
}
void appends_string(const call& c, std::size_t most) {
  char* const end = c.argument<char*>(0) + c.reads_string(0);
  c.writes(end, c.reads_string(1, most) + 1);
}
void copies(const call& c) {
  c.reads(c.argument<const void*>(1), c.number(2));
  c.writes(c.argument<void*>(0), c.number(2));
}
void fills(const call& c) { c.writes(c.argument<void*>(0), c.number(2)); }
void compares(const call& c) {
  c.reads(c.argument<const void*>(0), c.number(2));
  c.reads(c.argument<const void*>(1), c.number(2));
}
/// As far as the character is, which is not read any further.
void looks_for_byte(const call& c) {
  const void* const from = c.argument<const void*>(0);
  const void* const found = std::memchr(from, static_cast<int>(c.number(1)), c.number(2));
  c.reads(from, found == nullptr
                    ? c.number(2)
                    : static_cast<std::size_t>(static_cast<const char*>(found) - static_cast<const char*>(from)) + 1);
}

void reads_string_object(const call& c) {
  const auto* const text = c.argument<const std::string*>(1);
  c.reads(text, sizeof *text);
  c.reads(text->data(), text->size() + 1);
}
/// A file has a lock, but may not be used while it is closed.
template <unsigned I>
void uses_file(const call& c) {
  c.reads(c.argument<void*>(I), sizeof(FILE));
}

template <class T>
void writes_object(const call& c) {
  c.writes(c.argument<void*>(0), sizeof(T));
}

/// Of an object of attributes; what it is asked for has the size of an int.
template <class T>
void tells_attribute(const call& c) {
  c.reads(c.argument<void*>(0), sizeof(T));
  c.writes(c.argument<void*>(1), sizeof(int));
}

// --- the C++ library's nodes -----------------------------------------------------------------------------------------

using list_node = std::__detail::_List_node_base;

void hooks_node(const call& c) {
  auto* const node = c.argument<list_node*>(0);
  auto* const before = c.argument<list_node*>(1);
  c.writes(node, sizeof *node);
  c.writes(&before->_M_prev, sizeof before->_M_prev);
  c.writes(&before->_M_prev->_M_next, sizeof before->_M_next);
}
void unhooks_node(const call& c) {
  auto* const node = c.argument<list_node*>(0);
  c.reads(node, sizeof *node);
  c.writes(&node->_M_next->_M_prev, sizeof node->_M_prev);
  c.writes(&node->_M_prev->_M_next, sizeof node->_M_next);
}
void transfers_nodes(const call& c) {
  auto *const to = c.argument<list_node*>(0), *const first = c.argument<list_node*>(1),
              *const last = c.argument<list_node*>(2);
  if (to == last) return;
  for (list_node* node : {to, first, last}) {
    c.writes(&node->_M_prev, sizeof node->_M_prev);
    c.writes(&node->_M_prev->_M_next, sizeof node->_M_next);
  }
}
void writes_all_nodes(const call& c) {
  auto* const first = c.argument<list_node*>(0);
  list_node* node = first;
  do {
    c.writes(node, sizeof *node);
    node = node->_M_next;
  } while (node != first);
}

using tree_node = std::_Rb_tree_node_base;

void next_node(const call& c, tree_node* tree_node::*forward, tree_node* tree_node::*back) {
  const auto* node = c.argument<const tree_node*>(0);
  c.reads(node, sizeof *node);
  if (node->*forward != nullptr) {
    for (node = node->*forward; node != nullptr; node = node->*back) c.reads(node, sizeof *node);
    return;
  }
  const tree_node* above = node->_M_parent;
  c.reads(above, sizeof *above);
  while (node == above->*forward && above->_M_parent != node) {
    node = above;
    above = above->_M_parent;
    c.reads(above, sizeof *above);
  }
}

/// Of a tree that a function of the library is about to change, all nodes near the path from a node to the root.
class tree_before {
 public:
  tree_before(tree_node* lowest, tree_node* header) : header_(header) {
    for (tree_node* node = lowest; node != nullptr && node != header; node = node->_M_parent) add(node, 2);
    add(header, 0);
  }
  /// All nodes that have changed since.
  void note_changes(const void* code) const {
    session& s = current_session();
    s.memory().access(header_, sizeof *header_, true, code);
    for (const auto& [node, before] : nodes_) {
      if (std::memcmp(node, &before, sizeof before) != 0) s.memory().access(node, sizeof *node, true, code);
    }
  }

 private:
  void add(tree_node* node, unsigned further) {
    if (node == nullptr) return;
    nodes_.try_emplace(node, *node);
    if (further == 0) return;
    add(node->_M_left, further - 1);
    add(node->_M_right, further - 1);
  }
  tree_node* header_;
  std::map<tree_node*, tree_node> nodes_;
};

void insert_and_rebalance(bool left, tree_node* node, tree_node* parent, tree_node& header) {
  if (!this_process.in_program) return std::_Rb_tree_insert_and_rebalance(left, node, parent, header);
  const checker_scope scope;
  const tree_before before(parent, &header);
  std::_Rb_tree_insert_and_rebalance(left, node, parent, header);
  current_session().memory().access(node, sizeof *node, true, RUNQ_CALLER);
  before.note_changes(RUNQ_CALLER);
}
tree_node* rebalance_for_erase(tree_node* node, tree_node& header) {
  if (!this_process.in_program) return std::_Rb_tree_rebalance_for_erase(node, header);
  const checker_scope scope;
  tree_node* lowest = node;
  if (node->_M_left != nullptr && node->_M_right != nullptr) {
    for (lowest = node->_M_right; lowest->_M_left != nullptr;) lowest = lowest->_M_left;
  }
  const tree_before before(lowest, &header);
  tree_node* const erased = std::_Rb_tree_rebalance_for_erase(node, header);
  before.note_changes(RUNQ_CALLER);
  return erased;
}

// --- functions that note themselves what they do
// ----------------------------------------------------------------------

void access(const void* at, std::size_t size, bool is_write, const void* code) {
  if (!this_process.in_program) return;
  const checker_scope scope;
  current_session().memory().access(at, size, is_write, code);
}

/// A thread object is read, then the thread is waited for, and then the object is written. The address of this function
/// is even, as that of a member function must be: an odd one in a pointer to a member says that it is virtual.
[[gnu::aligned(16)]] void join_thread(std::thread* thread) {
  const void* const code = RUNQ_CALLER;
  access(thread, sizeof *thread, false, code);
  thread->join();
  access(thread, sizeof *thread, true, code);
}

/// An assertion in a header of the C++ library: an element is asked for that is not there, and the like.
[[noreturn]] void assertion_of_library_fails(const char* file, int line, const char*, const char* condition) {
  const std::string_view path = file;
  if (!this_process.in_program) {
    std::fprintf(stderr, "%s:%d: Assertion '%s' failed.\n", file, line, condition);
    std::abort();
  }
  this_process.in_program = false;
  current_session().code().fail(
      failure::check_failed,
      fmt::format("{}:{}: assertion of the C++ library fails: {}", path.substr(path.rfind('/') + 1), line, condition),
      RUNQ_CALLER);
}

/// `read`: the length, and one more if the text ends there.
[[nodiscard]] char* copy_string(const char* text, std::size_t length, std::size_t read, const void* code) {
  access(text, read, false, code);
  void* p = nullptr;
  {
    const checker_scope scope;
    p = current_session().allocate(length + 1, 16, code);
  }
  if (p == nullptr) return nullptr;
  auto* const copy = static_cast<char*>(p);
  access(copy, length + 1, true, code);
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}
char* duplicate_string(const char* text) {
  if (!this_process.in_program) return strdup(text);
  const std::size_t length = std::strlen(text);
  return copy_string(text, length, length + 1, RUNQ_CALLER);
}
char* duplicate_bounded(const char* text, std::size_t most) {
  if (!this_process.in_program) return strndup(text, most);
  const std::size_t length = strnlen(text, most);
  return copy_string(text, length, length == most ? length : length + 1, RUNQ_CALLER);
}

void sort(void* base, std::size_t count, std::size_t size, int (*compare)(const void*, const void*)) {
  const void* const code = RUNQ_CALLER;
  access(base, count * size, true, code);
  qsort(base, count, size, compare);
  access(base, count * size, true, code);
}

/// Notes what was written by the first `assigned` conversions, and by %n behind them beyond white space.
void note_assigned(const char* format, int assigned, va_list list, const void* code) {
  for (const char *at = format, *percent; (percent = std::strchr(at, '%')) != nullptr;) {
    const conversion next(percent + 1);
    const bool counts = next.kind == 'n' && static_cast<std::size_t>(percent - at) == std::strspn(at, " \t\n");
    if (next.kind == '\0' || next.kind == '$' || (assigned <= 0 && !counts)) return;
    at = next.end;
    if (next.kind == '%' || next.has_star) continue;
    void* const to = va_arg(list, void*);
    const bool is_text = next.kind == 's' || next.kind == '[';
    const std::size_t floating = next.length.empty()  ? sizeof(float)
                                 : next.length == "L" ? sizeof(long double)
                                                      : sizeof(double);
    const std::size_t size = is_text              ? std::strlen(static_cast<const char*>(to)) + 1
                             : next.kind == 'c'   ? std::max<std::size_t>(next.width, 1)
                             : next.kind == 'p'   ? sizeof(void*)
                             : next.is_floating() ? floating
                                                  : next.bytes_of_integer();
    access(to, size, true, code);
    if (next.kind != 'n') --assigned;
  }
}
int scan_string(const char* text, const char* format, ...) {
  const void* const code = RUNQ_CALLER;
  access(text, std::strlen(text) + 1, false, code);
  access(format, std::strlen(format) + 1, false, code);
  va_list list;
  va_start(list, format);
  const int assigned = std::vsscanf(text, format, list);
  va_end(list);
  va_start(list, format);
  note_assigned(format, assigned, list, code);
  va_end(list);
  return assigned;
}

template <class Function>
[[nodiscard]] const void* address(Function* f) noexcept {
  return reinterpret_cast<const void*>(f);
}

[[nodiscard]] const std::vector<known_function>& known_functions() {
  static const auto* const all = new std::vector<known_function>{
      {"strlen", reads_strings<0>},
      {"strnlen", [](const call& c) { c.reads_string(0, c.number(1)); }},
      {"strcmp", [](const call& c) { compares_text(c, ~std::size_t{0}, as_it_is); }},
      {"strcasecmp", [](const call& c) { compares_text(c, ~std::size_t{0}, std::tolower); }},
      {"strcoll", reads_strings<0, 1>},
      {"strncmp", [](const call& c) { compares_text(c, c.number(2), as_it_is); }},
      {"strncasecmp", [](const call& c) { compares_text(c, c.number(2), std::tolower); }},
      {"strchr", looks_for_character},
      {"strrchr", reads_strings<0>},
      {"strchrnul", looks_for_character},
      {"strstr", reads_strings<0, 1>},
      {"strcasestr", reads_strings<0, 1>},
      {"strspn", reads_strings<0, 1>},
      {"strcspn", reads_strings<0, 1>},
      {"strpbrk", reads_strings<0, 1>},
      {"strcpy", copies_string},
      {"stpcpy", copies_string},
      {"strncpy", copies_bounded},
      {"stpncpy", copies_bounded},
      {"strcat", [](const call& c) { appends_string(c, ~std::size_t{0}); }},
      {"strncat", [](const call& c) { appends_string(c, c.number(2)); }},
      {"strdup", nullptr, address(duplicate_string)},
      {"__strdup", nullptr, address(duplicate_string)},
      {"strndup", nullptr, address(duplicate_bounded)},
      {"__strndup", nullptr, address(duplicate_bounded)},
      {"memcpy", copies},
      {"mempcpy", copies},
      {"memmove", copies},
      {"memset", fills},
      {"memcmp", compares},
      {"bcmp", compares},
      {"memchr", looks_for_byte},
      {"memrchr", [](const call& c) { c.reads(c.argument<const void*>(0), c.number(2)); }},
      {"bzero", [](const call& c) { c.writes(c.argument<void*>(0), c.number(1)); }},
      {"explicit_bzero", [](const call& c) { c.writes(c.argument<void*>(0), c.number(1)); }},
      {"wcslen",
       [](const call& c) {
         c.reads(c.argument<void*>(0), (std::wcslen(c.argument<wchar_t*>(0)) + 1) * sizeof(wchar_t));
       }},
      {"atoi", reads_strings<0>},
      {"atol", reads_strings<0>},
      {"atoll", reads_strings<0>},
      {"atof", reads_strings<0>},
      {"strtol", reads_number},
      {"strtoul", reads_number},
      {"strtoll", reads_number},
      {"strtoull", reads_number},
      {"strtof", reads_number},
      {"strtod", reads_number},
      {"strtold", reads_number},
      {"__isoc23_strtol", reads_number},
      {"__isoc23_strtoul", reads_number},
      {"__isoc23_strtoll", reads_number},
      {"__isoc23_strtoull", reads_number},
      {"printf", printf_like<0>},
      {"fprintf",
       [](const call& c) {
         uses_file<0>(c);
         printf_like<1>(c);
       }},
      {"dprintf", printf_like<1>},
      {"vprintf", vprintf_like<0>},
      {"vfprintf",
       [](const call& c) {
         uses_file<0>(c);
         vprintf_like<1>(c);
       }},
      {"sprintf", sprintf_like<1>},
      {"snprintf", sprintf_like<2, 1>},
      {"vsprintf", vsprintf_like<1>},
      {"vsnprintf", vsprintf_like<2, 1>},
      {"__printf_chk", printf_like<1>},
      {"__fprintf_chk",
       [](const call& c) {
         uses_file<0>(c);
         printf_like<2>(c);
       }},
      {"__vprintf_chk", vprintf_like<1>},
      {"__vfprintf_chk",
       [](const call& c) {
         uses_file<0>(c);
         vprintf_like<2>(c);
       }},
      {"__sprintf_chk", sprintf_like<3>},
      {"__snprintf_chk", sprintf_like<4, 1>},
      {"__vsprintf_chk", vsprintf_like<3>},
      {"__vsnprintf_chk", vsprintf_like<4, 1>},
      {"__memcpy_chk", copies},
      {"__mempcpy_chk", copies},
      {"__memmove_chk", copies},
      {"__memset_chk", fills},
      {"__strcpy_chk", copies_string},
      {"__stpcpy_chk", copies_string},
      {"__strncpy_chk", copies_bounded},
      {"__strcat_chk", [](const call& c) { appends_string(c, ~std::size_t{0}); }},
      {"__strncat_chk", [](const call& c) { appends_string(c, c.number(2)); }},
      {"sscanf", nullptr, address(scan_string)},
      {"__isoc99_sscanf", nullptr, address(scan_string)},
      {"__isoc23_sscanf", nullptr, address(scan_string)},
      {"puts", reads_strings<0>},
      {"fputs",
       [](const call& c) {
         uses_file<1>(c);
         c.reads_string(0);
       }},
      {"fputc", uses_file<1>},
      {"putc", uses_file<1>},
      {"_IO_putc", uses_file<1>},
      {"fileno", uses_file<0>},
      {"fclose", writes_object<FILE>},
      {"perror",
       [](const call& c) {
         if (c.argument<void*>(0) != nullptr) c.reads_string(0);
       }},
      {"fwrite",
       [](const call& c) {
         uses_file<3>(c);
         c.reads(c.argument<const void*>(0), c.number(1) * c.number(2));
       }},
      {"write", [](const call& c) { c.reads(c.argument<const void*>(1), c.number(2)); }},
      {"read", [](const call& c) { c.writes(c.argument<void*>(1), c.number(2)); }},
      {"eventfd_read", [](const call& c) { c.writes(c.argument<void*>(1), sizeof(std::uint64_t)); }},
      {"getrlimit", [](const call& c) { c.writes(c.argument<void*>(1), 2 * sizeof(std::uint64_t)); }},
      {"setrlimit", [](const call& c) { c.reads(c.argument<void*>(1), 2 * sizeof(std::uint64_t)); }},
      {"qsort", nullptr, address(sort)},
      // Attributes that decide nothing but what the checker reads of them, or nothing in one process.
      {"pthread_attr_init", writes_object<pthread_attr_t>},
      {"pthread_attr_destroy", writes_object<pthread_attr_t>},
      {"pthread_attr_setdetachstate", writes_object<pthread_attr_t>},
      {"pthread_attr_getdetachstate", tells_attribute<pthread_attr_t>},
      {"pthread_attr_setstacksize", writes_object<pthread_attr_t>},
      {"pthread_mutexattr_init", writes_object<pthread_mutexattr_t>},
      {"pthread_mutexattr_destroy", writes_object<pthread_mutexattr_t>},
      {"pthread_mutexattr_settype", writes_object<pthread_mutexattr_t>},
      {"pthread_mutexattr_gettype", tells_attribute<pthread_mutexattr_t>},
      {"pthread_mutexattr_setrobust", writes_object<pthread_mutexattr_t>},
      {"pthread_mutexattr_getrobust", tells_attribute<pthread_mutexattr_t>},
      {"pthread_mutexattr_setpshared", writes_object<pthread_mutexattr_t>},
      {"pthread_condattr_init", writes_object<pthread_condattr_t>},
      {"pthread_condattr_destroy", writes_object<pthread_condattr_t>},
      {"pthread_condattr_setclock", writes_object<pthread_condattr_t>},
      {"pthread_condattr_setpshared", writes_object<pthread_condattr_t>},
      {"pthread_rwlockattr_init", writes_object<pthread_rwlockattr_t>},
      {"pthread_rwlockattr_destroy", writes_object<pthread_rwlockattr_t>},
      {"pthread_rwlockattr_setpshared", writes_object<pthread_rwlockattr_t>},
      {"pthread_barrierattr_init", writes_object<pthread_barrierattr_t>},
      {"pthread_barrierattr_destroy", writes_object<pthread_barrierattr_t>},
      {"pthread_barrierattr_setpshared", writes_object<pthread_barrierattr_t>},
      // libstdc++
      {"_ZNSt6thread4joinEv", nullptr, address(join_thread)},
      {"_ZNSt6thread6detachEv", writes_object<std::thread>},
      {"_ZSt21__glibcxx_assert_failPKciS0_S0_", nullptr, address(assertion_of_library_fails)},
      {"__dynamic_cast", [](const call& c) { c.reads(c.argument<void*>(0), sizeof(void*)); }},
      {"_ZSt11_Hash_bytesPKvmm", [](const call& c) { c.reads(c.argument<const void*>(0), c.number(1)); }},
      {"_ZNSt8__detail15_List_node_base7_M_hookEPS0_", hooks_node},
      {"_ZNSt8__detail15_List_node_base9_M_unhookEv", unhooks_node},
      {"_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", transfers_nodes},
      {"_ZNSt8__detail15_List_node_base10_M_reverseEv", writes_all_nodes},
      {"_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base",
       [](const call& c) { next_node(c, &tree_node::_M_right, &tree_node::_M_left); }},
      {"_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base",
       [](const call& c) { next_node(c, &tree_node::_M_right, &tree_node::_M_left); }},
      {"_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
       [](const call& c) { next_node(c, &tree_node::_M_left, &tree_node::_M_right); }},
      {"_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base",
       [](const call& c) { next_node(c, &tree_node::_M_left, &tree_node::_M_right); }},
      {"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", nullptr, address(insert_and_rebalance)},
      {"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", nullptr, address(rebalance_for_erase)},
      // The parts of a stream that are compiled for all kinds of characters.
      {"_ZNSt8ios_baseC2Ev", writes_object<std::ios_base>},
      {"_ZNSt8ios_baseD2Ev", writes_object<std::ios_base>},
      {"_ZNSt8ios_base7_M_initEv", writes_object<std::ios_base>},
      {"_ZNSt6localeC1Ev", writes_object<std::locale>},
      {"_ZNSt6localeC1ERKS_", writes_object<std::locale>},
      {"_ZNSt6localeD1Ev", writes_object<std::locale>},
      // The policy of a hash table keeps, when that many elements are in, the table grows.
      {"_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",
       [](const call& c) { c.writes(c.argument<void*>(0), 16); }},
      {"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",
       [](const call& c) { c.writes(c.argument<void*>(0), 16); }},
  };
  return *all;
}

/// The beginnings of the names of functions, and whole names.
constexpr std::array harmless_beginnings{
    std::string_view("_Unwind_"),
    std::string_view("__gxx_personality_"),
    std::string_view("__gcc_personality_"),
    // Exceptions: an object belongs to the thread that throws it, or std::exception_ptr shares it by counts of its own.
    std::string_view("__cxa_"),
    std::string_view("_ZNSt15__exception_ptr"),
    std::string_view("_ZNKSt15__exception_ptr"),
    std::string_view("_ZSt17rethrow_exception"),
    std::string_view("_ZSt17current_exception"),
    std::string_view("_ZSt18uncaught_exception"),
    std::string_view("_ZSt19uncaught_exceptions"),
    std::string_view("_ZSt9terminate"),
    std::string_view("_ZNSt9exception"),
    std::string_view("_ZNKSt9exception"),
    std::string_view("_ZNSt9bad_alloc"),
    std::string_view("_ZNSt8bad_cast"),
    std::string_view("_ZNKSt9type_info"),
    std::string_view("_ZNSt9type_info"),
    // Threads, and what they wait for: these functions do their work by functions of the C library, which are modelled.
    std::string_view("_ZNSt6thread"),
    std::string_view("_ZNSt18condition_variable"),
    std::string_view("_ZNSt13__future_base"),
    std::string_view("_ZNSt12future_error"),
    std::string_view("_ZSt15future_category"),
    std::string_view("_ZNSt3_V2"),
    std::string_view("_ZNSt6chrono3_V2"),
    std::string_view("_ZNSt11this_thread"),
    std::string_view("_ZSt15get_once_mutexv"),
    std::string_view("_ZSt25__get_once_functor_lock"),
    std::string_view("_ZSt16__get_once_mutex"),
    std::string_view("_ZSt27__set_once_functor"),
    std::string_view("__once_proxy"),
};
constexpr std::array harmless_names{
    // The C++ library's own tables, which it protects.
    std::string_view("_ZNKSt5ctypeIcE13_M_widen_initEv"),
    std::string_view("_ZNKSt6locale2id5_M_idEv"),
    std::string_view("_ZNSt8ios_base4InitC1Ev"),
    std::string_view("_ZNSt8ios_base4InitD1Ev"),
    std::string_view("_ZNSt6locale7classicEv"),
    // Values only.
    std::string_view("__stack_chk_fail"),
    std::string_view("__errno_location"),
    std::string_view("__tls_get_addr"),
    std::string_view("__ctype_b_loc"),
    std::string_view("__ctype_tolower_loc"),
    std::string_view("__ctype_toupper_loc"),
    std::string_view("isalpha"),
    std::string_view("isdigit"),
    std::string_view("isalnum"),
    std::string_view("isspace"),
    std::string_view("isupper"),
    std::string_view("islower"),
    std::string_view("ispunct"),
    std::string_view("isxdigit"),
    std::string_view("isprint"),
    std::string_view("tolower"),
    std::string_view("toupper"),
    std::string_view("abs"),
    std::string_view("labs"),
    std::string_view("llabs"),
    std::string_view("div"),
    std::string_view("ldiv"),
    std::string_view("lldiv"),
    std::string_view("sysconf"),
    std::string_view("getpid"),
    std::string_view("gettid"),
    std::string_view("getpagesize"),
    std::string_view("sched_getcpu"),
    std::string_view("get_nprocs"),
    std::string_view("getenv"),
    std::string_view("strerror"),
    std::string_view("pthread_self"),
    std::string_view("pthread_equal"),
    std::string_view("thrd_current"),
    std::string_view("thrd_equal"),
    std::string_view("clock"),
    // Files, which have locks of their own.
    std::string_view("close"),
    std::string_view("eventfd_write"),
    std::string_view("putchar"),
    // They end the process.
    std::string_view("_exit"),
    std::string_view("_Exit"),
    std::string_view("quick_exit"),
};

}  // namespace

namespace {

/// A member function of an exception of <stdexcept>: what stands in its symbol behind the name of the class.
[[nodiscard]] std::string_view member_of_exception(std::string_view symbol) {
  for (const std::string_view name : {"_error", "16invalid_argument", "12out_of_range"}) {
    const std::size_t at = symbol.starts_with("_ZNSt") ? symbol.find(name) : symbol.npos;
    if (at != symbol.npos) return symbol.substr(at + name.size());
  }
  return {};
}

/// An exception copies its text by code that is not instrumented.
[[nodiscard]] const known_function* find_constructor_of_exception(std::string_view symbol) {
  static const known_function of_text{"", reads_strings<1>};
  static const known_function of_string{"", reads_string_object};
  const std::string_view member = member_of_exception(symbol);
  if (!member.starts_with("C")) return nullptr;
  if (member.substr(2) == "EPKc") return &of_text;
  return member.substr(2) == "ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" ? &of_string : nullptr;
}

}  // namespace

const known_function* find_known_function(std::string_view symbol) {
  if (const known_function* const f = find_constructor_of_exception(symbol)) return f;
  const std::vector<known_function>& all = known_functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const known_function& f) { return f.name == symbol; });
  return found == all.end() ? nullptr : &*found;
}

bool is_harmless(std::string_view symbol, std::string_view library) {
  const auto begins = [&](std::string_view beginning) { return symbol.starts_with(beginning); };
  // The mathematical functions that return more than one value write to where the program wants them.
  if (library.starts_with("libm.so")) {
    constexpr std::array<std::string_view, 5> several{"frexp", "modf", "sincos", "remquo", "lgamma"};
    return std::none_of(several.begin(), several.end(), begins);
  }
  if (library.starts_with("libgcc_s.so") || library.starts_with("ld-linux")) return true;
  // std::__throw_out_of_range() and its like.
  if (symbol.starts_with("_ZSt") && symbol.find("__throw_") != symbol.npos) return true;
  // An exception of <stdexcept> is destroyed, or copied from another one, which nobody changes.
  const std::string_view member = member_of_exception(symbol);
  if (member.starts_with("D") || (member.starts_with("C") && member.ends_with("S_"))) return true;
  return std::any_of(harmless_beginnings.begin(), harmless_beginnings.end(), begins) ||
         std::find(harmless_names.begin(), harmless_names.end(), symbol) != harmless_names.end();
}

}  // namespace runq::model::compiled
