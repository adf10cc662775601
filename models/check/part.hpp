// SPDX-License-Identifier: MIT
// A part of an atomic variable: code may access the same memory by atomic operations of different sizes, as a byte and
// as the word that the byte belongs to. The word is the variable then, and smaller accesses have a part of it.
#pragma once

#include <cstdint>
#include <string>

namespace runq::model {

struct part;

/// Values of more than 64 bits, for which the engines see numbers.
class wide_parts {
 public:
  virtual ~wide_parts() = default;
  /// Of the value with that number, the bytes of that part.
  [[nodiscard]] virtual std::uint64_t get(std::uint64_t number, part p) = 0;
  /// The number of the value with those bytes replaced.
  [[nodiscard]] virtual std::uint64_t put(std::uint64_t number, part p, std::uint64_t bytes) = 0;
};
/// Those of the program that is checked; nullptr: it has none.
inline wide_parts* wide_parts_of_program = nullptr;

/// The bytes that an operation accesses.
struct part {
  std::uint8_t first = 0;  ///< in the variable
  std::uint8_t size = 0;   ///< 0: the whole variable
  std::uint8_t of = 0;     ///< how many bytes the variable has; 0 if this is all of it

  friend bool operator==(const part&, const part&) noexcept = default;
  [[nodiscard]] constexpr bool is_whole() const noexcept { return size == 0; }
  /// A bit for each byte.
  [[nodiscard]] constexpr std::uint32_t bytes() const noexcept {
    return is_whole() ? 0xffffU : ((1U << size) - 1) << first;
  }
  /// " (byte 1)"; of the whole variable, nothing.
  [[nodiscard]] std::string text() const {
    if (is_whole()) return {};
    const std::string begin = std::to_string(first);
    return size == 1 ? " (byte " + begin + ")" : " (bytes " + begin + " to " + std::to_string(first + size - 1) + ")";
  }
  /// What these bytes hold where the variable has that value.
  [[nodiscard]] std::uint64_t get(std::uint64_t value) const {
    if (is_whole()) return value;
    if (of > sizeof value) return wide_parts_of_program->get(value, *this);
    return value >> 8 * first & mask();
  }
  /// The value of the variable with these bytes replaced.
  [[nodiscard]] std::uint64_t put(std::uint64_t value, std::uint64_t with) const {
    if (is_whole()) return with;
    if (of > sizeof value) return wide_parts_of_program->put(value, *this, with & mask());
    return (value & ~(mask() << 8 * first)) | (with & mask()) << 8 * first;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t mask() const noexcept {
    return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
  }
};

}  // namespace runq::model
