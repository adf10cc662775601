// SPDX-License-Identifier: MIT
#include "symbols.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <backtrace.h>
#include <cxxabi.h>
#include <link.h>

#include "abi.hpp"

namespace runq::model::compiled {

namespace {

void ignore_error(void*, const char*, int) {}

bool reading_symbols = false;

/// While it lives, libbacktrace does not hear of the C library. Its debug information, where that is installed (Debian:
/// libc6-dbg), is ten times as large as that of a small program, and no code in it is instrumented.
class without_c_library {
 public:
  without_c_library() { reading_symbols = true; }
  ~without_c_library() { reading_symbols = false; }
  without_c_library(const without_c_library&) = delete;
  without_c_library& operator=(const without_c_library&) = delete;
};

[[nodiscard]] bool is_of_c_library(std::string_view module) {
  const std::string_view name = module.substr(module.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("libm.so") || name.starts_with("ld-linux");
}

[[nodiscard]] bool is_library(std::string_view file) {
  for (const std::string_view folder : {"/usr/include/", "/usr/lib/", "/usr/local/include/c++", "../sysdeps/"}) {
    if (file.starts_with(folder)) return true;
  }
  // The checker's own headers call the program's functions, and judge what they answer, or are the standard library's.
  return file.empty() || file.find("/include/c++/") != std::string_view::npos ||
         file.find("/runq/standard/") != std::string_view::npos || path_ends_with(file, "runq/history.hpp");
}

[[nodiscard]] bool is_about_atomics(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("atomic") || name.starts_with("stdatomic") ||
         file.find("/__atomic/") != std::string_view::npos;
}

[[nodiscard]] std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;  // `x` alone would be the type long long
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  return result;
}

/// A function's name without what it returns and the namespaces before it.
[[nodiscard]] std::string_view unqualified(std::string_view function) {
  const std::size_t end = function.find_first_of("<(");
  const std::size_t colon = function.substr(0, end).rfind(':');
  const std::size_t space = function.substr(0, end).rfind(' ');
  const std::size_t last = colon == function.npos ? space : space == function.npos ? colon : std::max(colon, space);
  return last == function.npos ? function : function.substr(last + 1);
}

}  // namespace

file_owner owner_of(std::string_view file) {
  if (!is_library(file)) return file_owner::program;
  return is_about_atomics(file) ? file_owner::atomics : file_owner::library;
}

bool path_ends_with(std::string_view path, std::string_view name) {
  if (!path.ends_with(name)) return false;
  return path.size() == name.size() || name.starts_with('/') || path[path.size() - name.size() - 1] == '/';
}

bool has_code_by_clang() {
  const char* const path = "/proc/self/exe";
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ElfW(Ehdr) file{};
  if (bytes.size() < sizeof file) return false;
  std::memcpy(&file, bytes.data(), sizeof file);
  const auto section = [&](unsigned i) {
    ElfW(Shdr) found{};
    const std::size_t at = file.e_shoff + std::size_t{i} * sizeof found;
    if (at + sizeof found <= bytes.size()) std::memcpy(&found, bytes.data() + at, sizeof found);
    return found;
  };
  const auto names = section(file.e_shstrndx);
  for (unsigned i = 0; i != file.e_shnum; ++i) {
    const auto s = section(i);
    const std::size_t name = names.sh_offset + s.sh_name;
    if (name >= bytes.size() || bytes.compare(name, 9, std::string_view(".comment", 9)) != 0) continue;
    const std::string_view all = bytes;
    return s.sh_offset < all.size() && all.substr(s.sh_offset, s.sh_size).find("clang") != std::string_view::npos;
  }
  return false;
}

backtrace_state* symbols::state() {
  if (state_ == nullptr) state_ = backtrace_create_state(nullptr, 0, &ignore_error, nullptr);
  return state_;
}

const std::vector<source_line>& symbols::lines_of(const void* code) {
  const auto [at, added] = known_.try_emplace(code);
  if (!added) return at->second;
  const auto add = [](void* to, std::uintptr_t, const char* file, int line, const char* function) {
    if (file == nullptr) return 0;
    source_line found{std::filesystem::path(file).lexically_normal().string(), line, {}};
    if (function != nullptr) found.function = demangled(function);
    static_cast<std::vector<source_line>*>(to)->push_back(std::move(found));
    return 0;
  };
  const without_c_library while_reading;
  // A return address may belong to the next line already.
  backtrace_pcinfo(state(), reinterpret_cast<std::uintptr_t>(code) - 1, +add, &ignore_error, &at->second);
  return at->second;
}

source_line symbols::line_of_atomic(const frame* at, const std::vector<std::string>& named) {
  const auto ends_as_named = [&named](const source_line& l) {
    return std::any_of(named.begin(), named.end(), [&l](const std::string& n) { return path_ends_with(l.file, n); });
  };
  bool is_innermost = true;
  for (; at != nullptr && at->code != nullptr; at = at->caller) {
    for (const source_line& l : lines_of(at->code)) {
      if (!is_library(l.file) || ends_as_named(l)) return l;
      if (!is_about_atomics(l.file) || (is_innermost && l.file.ends_with("/atomic_wait.h"))) return {};
      is_innermost = false;
    }
  }
  return {};
}

std::vector<source_line> symbols::own_lines(const frame* at) {
  std::vector<source_line> own;
  for (; at != nullptr && at->code != nullptr; at = at->caller) {
    for (const source_line& l : lines_of(at->code)) {
      if (!is_library(l.file)) own.push_back(l);
    }
  }
  return own;
}

bool symbols::is_within(const frame* at, std::string_view file) {
  for (const source_line& l : lines_of(at->code)) {
    if (std::string_view(l.file).ends_with(file)) return true;
  }
  return false;
}

template <class Wanted>
bool symbols::is_within_library(const frame* at, Wanted&& is_wanted) {
  for (; at != nullptr && at->code != nullptr; at = at->caller) {
    for (const source_line& l : lines_of(at->code)) {
      if (!is_library(l.file)) return false;
      if (is_wanted(l)) return true;
    }
  }
  return false;
}

bool symbols::is_in_std_lock(const frame* at) {
  return is_within_library(at, [](const source_line& l) {
    // Of libstdc++ (for mutexes of different types), and of libc++.
    for (const std::string_view name : {"lock<", "__lock_impl<", "__lock_first<"}) {
      if (path_ends_with(l.file, "mutex") && unqualified(l.function).starts_with(name)) return true;
    }
    return false;
  });
}

bool symbols::is_in_try_lock(const frame* at) {
  return is_within_library(at, [](const source_line& l) { return unqualified(l.function).starts_with("try_lock"); });
}

site symbols::own_line(const frame* at) {
  const std::vector<source_line> own = own_lines(at);
  if (own.empty()) return {};
  const auto wraps = [this](const source_line& l) {
    return std::any_of(wrappers_.begin(), wrappers_.end(),
                       [&l](const std::string& name) { return path_ends_with(l.file, name); });
  };
  const auto calls = std::find_if_not(own.begin(), own.end(), wraps);
  const source_line& shown = calls == own.end() ? own.front() : *calls;
  return {files_.insert(shown.file).first->c_str(), shown.line};
}

std::string symbols::function_at(const void* code) {
  const std::vector<source_line>& lines = lines_of(static_cast<const std::byte*>(code) + 1);
  if (lines.empty() || lines.front().function.empty()) return "a function";
  const std::string& name = lines.front().function;
  return name.find('(') == name.npos ? name + "()" : name;
}

named_variable symbols::variable_at(const void* address, std::size_t size) {
  struct answer {
    std::string name;
    std::uintptr_t begin = 0;
    std::uintptr_t size = 0;
  } found;
  const auto note = [](void* to, std::uintptr_t, const char* name, std::uintptr_t begin, std::uintptr_t bytes) {
    if (name != nullptr) *static_cast<answer*>(to) = {demangled(name), begin, bytes};
  };
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const without_c_library while_reading;
  backtrace_syminfo(state(), number, +note, &ignore_error, &found);
  const std::uintptr_t offset = number - found.begin;
  if (found.name.empty() || offset >= found.size) return {};
  if (offset == 0 && size == 0) return {found.name, {}};
  const member_names& all = members();
  if (auto part = all.in_variable(found.begin - loaded_at_, {offset, size}))
    return {found.name, std::move(part->name), part->is_signed};
  return {found.name, offset == 0 ? std::string{} : "+" + std::to_string(offset)};
}

const member_names& symbols::members() {
  if (members_ != nullptr) return *members_;
  const auto note = [](dl_phdr_info* program, std::size_t, void* to) {
    *static_cast<std::uintptr_t*>(to) = program->dlpi_addr;
    return 1;  // the first one is the program
  };
  dl_iterate_phdr(+note, &loaded_at_);
  members_ = std::make_unique<member_names>();
  return *members_;
}

std::optional<shown_part> symbols::part_of_block(const frame* allocated, std::string source,
                                                 std::span<const std::byte> block, part_of_object part) {
  const member_names& all = members();
  allocation of{{}, std::move(source), block.size(), 0};
  // A return address may belong to the next line already.
  for (const frame* f = allocated; f != nullptr && f->code != nullptr; f = f->caller) {
    of.calls.push_back(reinterpret_cast<std::uintptr_t>(f->code) - 1 - loaded_at_);
  }
  if (block.size() >= sizeof of.first_word) std::memcpy(&of.first_word, block.data(), sizeof of.first_word);
  return all.in_block(of, part);
}

/// Where the function begins that has this code; nullptr: it is not known.
const std::uint8_t* symbols::begin_of_function(const void* code) {
  const std::uint8_t* found = nullptr;
  const auto note = [](void* to, std::uintptr_t, const char* /*name*/, std::uintptr_t begin, std::uintptr_t /*bytes*/) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    *static_cast<const std::uint8_t**>(to) = reinterpret_cast<const std::uint8_t*>(begin);
  };
  const without_c_library while_reading;
  backtrace_syminfo(state(), reinterpret_cast<std::uintptr_t>(code) - 1, +note, &ignore_error, &found);
  return found;
}

std::optional<shown_part> symbols::local_at(const void* code, const std::byte* callers_stack, const std::byte* at,
                                            std::size_t size) {
  const member_names& all = members();
  const auto caller = reinterpret_cast<std::uintptr_t>(callers_stack);
  std::optional<std::int64_t> stack_pointer;
  if (const std::uint8_t* const begin = begin_of_function(code)) {
    const std::optional<std::uintptr_t> aligned = aligning_beginning(begin, caller).stack_pointer();
    if (aligned) stack_pointer = static_cast<std::int64_t>(*aligned - caller);
  }
  return all.of_local(reinterpret_cast<std::uintptr_t>(code) - 1 - loaded_at_, at - callers_stack, size, stack_pointer);
}

}  // namespace runq::model::compiled

using module_callback = int (*)(dl_phdr_info*, std::size_t, void*);

// The linker has libbacktrace, and all other code of the checker, call this function (--wrap).
extern "C" int __real_dl_iterate_phdr(module_callback callback, void* data);
extern "C" __attribute__((visibility("hidden"))) int __wrap_dl_iterate_phdr(module_callback callback, void* data);
extern "C" int __wrap_dl_iterate_phdr(module_callback callback, void* data) {
  namespace checker = runq::model::compiled;
  if (!checker::reading_symbols) return __real_dl_iterate_phdr(callback, data);
  struct caller {
    module_callback callback;
    void* data;
  } to{callback, data};
  const auto tell = [](dl_phdr_info* module, std::size_t size, void* told) {
    const caller& c = *static_cast<caller*>(told);
    return checker::is_of_c_library(module->dlpi_name) ? 0 : c.callback(module, size, c.data);
  };
  return __real_dl_iterate_phdr(+tell, &to);
}
