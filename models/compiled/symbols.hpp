// SPDX-License-Identifier: MIT
// From code addresses to lines of source, by the debug information of the program (libbacktrace).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine.hpp"
#include "frames.hpp"
#include "member_names.hpp"

struct backtrace_state;

namespace runq::model::compiled {

struct source_line {
  std::string file;  ///< empty: unknown
  int line = 0;
  std::string function;
};

/// A global variable, and a part of it: ".slots_[3]", "+8"; empty if that is all of it, or its beginning.
struct named_variable {
  std::string name;  ///< empty: there is none
  std::string part;
  bool is_signed = false;  ///< that is a number that may be negative
};

/// Whose source a file is.
enum class file_owner : unsigned char {
  program,
  library,  ///< the compiler's library, the system's headers, the checker's own header, and what is unknown
  atomics,  ///< a header of the library in which std::atomic and its like are written, whose callers give the orders
};
[[nodiscard]] file_owner owner_of(std::string_view file);

/// Whether the path is that name, or ends with it after a slash.
[[nodiscard]] bool path_ends_with(std::string_view path, std::string_view name);

/// Whether clang has compiled some of the program, by the note that compilers leave in it.
[[nodiscard]] bool has_code_by_clang();

class symbols {
 public:
  /// The files whose paths end so only wrap what their callers do.
  void show_callers_of(const std::string& file) { wrappers_.push_back(file); }
  /// The innermost line of the program's own source: not in the compiler's library or the system's headers, and not in
  /// a file that only wraps, if there is another one.
  [[nodiscard]] site own_line(const frame* at);
  /// The line of an atomic operation: the innermost one that is the program's own, or in a file whose path ends with
  /// one of `named`. Nothing for an operation within the library, of which the program gives no order.
  [[nodiscard]] source_line line_of_atomic(const frame* at, const std::vector<std::string>& named);
  /// All lines of its own source, innermost first.
  [[nodiscard]] std::vector<source_line> own_lines(const frame* at);
  /// Whether the innermost call is compiled from a file whose name ends with `file`, perhaps inline.
  [[nodiscard]] bool is_within(const frame* at, std::string_view file);
  /// Whether the innermost calls are the standard library's, one of them of std::lock().
  [[nodiscard]] bool is_in_std_lock(const frame* at);
  /// Whether the innermost calls are the standard library's, one of them of a try_lock() of std::mutex and its like.
  [[nodiscard]] bool is_in_try_lock(const frame* at);
  /// The variable of which `size` bytes lie at `address`. No size: all that begins there is meant.
  [[nodiscard]] named_variable variable_at(const void* address, std::size_t size);
  /// What the program calls a part of a block of memory that was allocated there; nothing if it is not known what lies
  /// in the block.
  [[nodiscard]] std::optional<shown_part> part_of_block(const frame* allocated, std::string source,
                                                        std::span<const std::byte> block, part_of_object part);
  /// The same of a local variable: see member_names.
  /// `callers_stack`: where the caller's part of the stack begins.
  [[nodiscard]] std::optional<shown_part> local_at(const void* code, const std::byte* callers_stack,
                                                   const std::byte* at, std::size_t size);
  /// "push()": the innermost function that an instruction belongs to.
  [[nodiscard]] std::string function_at(const void* code);

 private:
  /// The lines of one code address: more than one where calls were compiled inline, innermost first.
  const std::vector<source_line>& lines_of(const void* code);
  /// Whether `is_wanted` a call of the standard library's, of those within the program's innermost one.
  template <class Wanted>
  [[nodiscard]] bool is_within_library(const frame* at, Wanted&& is_wanted);
  [[nodiscard]] const std::uint8_t* begin_of_function(const void* code);
  [[nodiscard]] backtrace_state* state();
  [[nodiscard]] const member_names& members();

  backtrace_state* state_ = nullptr;
  std::unique_ptr<member_names> members_;  ///< once they are needed
  std::uintptr_t loaded_at_ = 0;           ///< how far the program lies from where its debug information says
  std::map<const void*, std::vector<source_line>> known_;
  std::vector<std::string> wrappers_;
  std::set<std::string> files_;  ///< keeps the names that sites point to
};

}  // namespace runq::model::compiled
