// SPDX-License-Identifier: MIT
// Functions outside of instrumented code of which it is known what they do to the program's memory.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi.hpp"

namespace runq::model::compiled {

/// A call that is about to be made.
class known_call {
 public:
  explicit known_call(argument_registers& registers) noexcept : registers_(registers) {}

  /// Arguments count from 0.
  template <class T>
  [[nodiscard]] T argument(unsigned i) const noexcept {
    return reinterpret_cast<T>(registers_.whole[i]);
  }
  [[nodiscard]] std::size_t number(unsigned i) const noexcept { return registers_.whole[i]; }

  void reads(const void* at, std::size_t size) const;
  void writes(const void* at, std::size_t size) const;
  /// Reads the string in an argument, up to `most` characters of it. Returns its length.
  std::size_t reads_string(unsigned i, std::size_t most = ~std::size_t{0}) const {
    return reads_text(argument<const char*>(i), most);
  }
  std::size_t reads_text(const char* text, std::size_t most = ~std::size_t{0}) const;

  /// Makes `list` that of the arguments after the first `named` ones. va_end() ends it.
  void begin_list(va_list& list, unsigned named) const noexcept { begin_argument_list(list, registers_, named); }
  /// Makes `list` a copy of the one in an argument. va_end() ends it.
  void copy_list(va_list& list, unsigned i) const noexcept;

 private:
  argument_registers& registers_;
};

struct known_function {
  std::string_view name;  ///< of the symbol
  void (*note)(const known_call& call);
  const void* instead = nullptr;  ///< a function that does the same, and notes what it does itself
};

/// nullptr: it is not known what the function does.
[[nodiscard]] const known_function* find_known_function(std::string_view symbol);
/// Whether the function touches no memory of the program that another thread may touch, or is modelled otherwise,
/// because it does its work by functions that are.
[[nodiscard]] bool is_harmless(std::string_view symbol, std::string_view library);

}  // namespace runq::model::compiled
