// SPDX-License-Identifier: MIT
// Functions outside of instrumented code of which it is known what they do to the program's memory.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace runq::model::compiled {

/// The registers in which the arguments of a call travel, as va_arg() expects them.
struct argument_registers {
  std::array<std::uint64_t, 6> whole;
  std::array<std::array<std::uint64_t, 2>, 8> vectors;
  std::uint64_t used_vectors;
  std::uint64_t unused;
};

/// A call that is about to be made.
class known_call {
 public:
  known_call(argument_registers& registers, void** return_address) noexcept
      : registers_(registers), return_address_(return_address) {}

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
  void begin_list(va_list list, unsigned named) const noexcept;
  /// Makes `list` a copy of the one in an argument. va_end() ends it.
  void copy_list(va_list list, unsigned i) const noexcept;

 private:
  argument_registers& registers_;
  void** return_address_;
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
