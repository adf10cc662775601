// SPDX-License-Identifier: MIT
// Follows the code of x86-64 from a call on, through the instructions by which compilers pass arguments, count loops
// and jump, to the first that reads or overwrites rax. A call of a function of another module overwrites it: no
// argument is passed there but the number of vector registers, which a caller sets itself. Into a function of the same
// module the way leads on: compilers may know that it leaves rax as it was.
#include "returned_value.hpp"

#include <cstdint>
#include <cstring>

namespace runq::model::compiled {

namespace {

/// What an instruction does with the result.
enum class effect : std::uint8_t { none, overwrites, may_read };

class instruction {
 public:
  explicit instruction(const std::uint8_t* at) noexcept : next_(at) {
    constexpr std::uint8_t rex = 0x40;
    if ((*next_ & 0xf0) == rex) prefix_ = *next_++;
    opcode_ = *next_++;
    decode();
  }

  [[nodiscard]] effect does() const noexcept { return does_; }
  [[nodiscard]] const std::uint8_t* next() const noexcept { return next_; }
  /// nullptr: it does not jump.
  [[nodiscard]] const std::uint8_t* target() const noexcept { return target_; }
  [[nodiscard]] bool falls_through() const noexcept { return falls_through_; }

 private:
  static constexpr unsigned rax = 0;
  static constexpr unsigned no_register = ~0U;

  template <class Number>
  [[nodiscard]] Number number() noexcept {
    Number n{};
    std::memcpy(&n, next_, sizeof n);
    next_ += sizeof n;
    return n;
  }

  void decode() noexcept {
    constexpr std::uint8_t two_bytes = 0x0f;
    switch (opcode_) {
      case two_bytes: return decode_two_bytes();
      case 0x89: return move(true);   // mov r/m, r
      case 0x8b: return move(false);  // mov r, r/m
      case 0x8d: return move(false);  // lea
      case 0xc7: return move_number();
      case 0x31:
      case 0x33: return exclusive_or();
      case 0x01:
      case 0x03:
      case 0x29:
      case 0x2b:
      case 0x39:
      case 0x3b:
      case 0x85: return calculate(0);  // add, sub, cmp, test
      case 0x83: return calculate(1);
      case 0x81: return calculate(4);
      case 0x90: return;
      case 0xe8: return call(number<std::int32_t>());
      case 0xe9: return jump(number<std::int32_t>(), false);
      case 0xeb: return jump(number<std::int8_t>(), false);
      default: break;
    }
    const unsigned low = (opcode_ & 7U) | ((prefix_ & 1U) << 3);
    switch (opcode_ & 0xf8) {
      case 0x50: does_ = low == rax ? effect::may_read : effect::none; return;    // push
      case 0x58: does_ = low == rax ? effect::overwrites : effect::none; return;  // pop
      case 0x70:
      case 0x78: return jump(number<std::int8_t>(), true);
      case 0xb8:  // mov r, number
        does_ = low == rax ? effect::overwrites : effect::none;
        next_ += (prefix_ & 8) != 0 ? 8 : 4;
        return;
      default: does_ = effect::may_read;
    }
  }

  void decode_two_bytes() noexcept {
    const std::uint8_t second = *next_++;
    if ((second & 0xf0) == 0x80) return jump(number<std::int32_t>(), true);
    switch (second) {
      case 0x1f: read_operands(0); return;  // nop
      case 0xb6:
      case 0xb7:
      case 0xbe:
      case 0xbf: return second % 2 == 0 ? move_byte() : move(false);  // movzx, movsx
      default: does_ = effect::may_read;
    }
  }

  void jump(std::int64_t distance, bool conditional) noexcept {
    target_ = next_ + distance;
    falls_through_ = conditional;
  }

  void call(std::int64_t distance) noexcept {
    jump(distance, false);
    if (leads_elsewhere(target_)) does_ = effect::overwrites;
  }
  /// Whether that is an entry of the linkage table: a jump to an address that the loader has found.
  [[nodiscard]] static bool leads_elsewhere(const std::uint8_t* at) noexcept {
    constexpr std::uint8_t end_branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
    constexpr std::uint8_t bound = 0xf2;
    if (std::memcmp(at, end_branch, sizeof end_branch) == 0) at += sizeof end_branch;
    if (*at == bound) ++at;
    return at[0] == 0xff && at[1] == 0x25;
  }

  /// The byte after the opcode, and what it says follows. `more`: bytes of a number behind that.
  void read_operands(unsigned more) noexcept {
    const std::uint8_t mod_rm = *next_++;
    const unsigned mod = mod_rm >> 6;
    const unsigned rm = mod_rm & 7;
    reg_ = ((mod_rm >> 3) & 7U) | ((prefix_ & 4U) << 1);
    if (mod == 3) {
      rm_ = rm | ((prefix_ & 1U) << 3);
    } else {
      unsigned base = rm | ((prefix_ & 1U) << 3);
      bool is_absolute = mod == 0 && rm == 5;
      if (rm == 4) {
        const std::uint8_t sib = *next_++;
        base = (sib & 7U) | ((prefix_ & 1U) << 3);
        const unsigned index = ((sib >> 3) & 7U) | ((prefix_ & 2U) << 2);
        is_absolute = mod == 0 && (sib & 7) == 5;
        address_has_rax_ = index == rax;
      }
      if (!is_absolute) address_has_rax_ = address_has_rax_ || base == rax;
      next_ += mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0;
    }
    next_ += more;
  }

  void move(bool to_rm) noexcept {
    read_operands(0);
    const unsigned from = to_rm ? reg_ : rm_;
    const unsigned to = to_rm ? rm_ : reg_;
    if (address_has_rax_ || from == rax) {
      does_ = effect::may_read;
    } else if (to == rax) {
      does_ = effect::overwrites;
    }
  }
  /// Without a prefix, its fifth to eighth registers are the upper bytes of the first four.
  void move_byte() noexcept {
    move(false);
    if (rm_ == 4 && prefix_ == 0) does_ = effect::may_read;
  }
  void move_number() noexcept {
    read_operands(4);
    if (address_has_rax_ || reg_ % 8 != 0) {
      does_ = effect::may_read;
    } else if (rm_ == rax) {
      does_ = effect::overwrites;
    }
  }
  /// Of a register with itself, it reads nothing.
  void exclusive_or() noexcept {
    read_operands(0);
    if (!address_has_rax_ && reg_ == rax && rm_ == rax) {
      does_ = effect::overwrites;
    } else if (address_has_rax_ || reg_ == rax || rm_ == rax) {
      does_ = effect::may_read;
    }
  }
  void calculate(unsigned bytes_of_number) noexcept {
    read_operands(bytes_of_number);
    const bool has_register = bytes_of_number == 0;
    if (address_has_rax_ || rm_ == rax || (has_register && reg_ == rax)) does_ = effect::may_read;
  }

  const std::uint8_t* next_;
  const std::uint8_t* target_ = nullptr;
  std::uint8_t prefix_ = 0;
  std::uint8_t opcode_ = 0;
  unsigned reg_ = no_register;
  unsigned rm_ = no_register;  ///< it lies in memory
  bool address_has_rax_ = false;
  bool falls_through_ = true;
  effect does_ = effect::none;
};

/// `budget`: so many instructions are followed, on all ways together.
[[nodiscard]] bool may_read(const std::uint8_t* at, unsigned& budget) noexcept {
  while (budget-- != 0) {
    const instruction i(at);
    if (i.does() != effect::none) return i.does() == effect::may_read;
    if (i.target() == nullptr) {
      at = i.next();
      continue;
    }
    if (i.falls_through() && may_read(i.next(), budget)) return true;
    at = i.target();
  }
  budget = 0;
  return true;
}

}  // namespace

bool may_look_at_result(const void* code) noexcept {
  constexpr unsigned most = 64;
  unsigned budget = most;
  return may_read(static_cast<const std::uint8_t*>(code), budget);
}

}  // namespace runq::model::compiled
