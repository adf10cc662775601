// SPDX-License-Identifier: MIT
// Follows the code of x86-64 from a call on, through the instructions that compilers use most, to the first that reads
// or overwrites a register. What is not known may read it: what a return leaves to the caller, an exception to its
// handler, a jump to where it leads.
#include "register_use.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include <dlfcn.h>

namespace runq::model::compiled {

namespace {

constexpr unsigned rax = 0;
constexpr unsigned rsp = 4;

class instruction {
 public:
  explicit instruction(const std::uint8_t* at) noexcept : next_(at) {
    constexpr std::uint8_t rex = 0x40;
    if ((*next_ & 0xf0) == rex) prefix_ = *next_++;
    opcode_ = *next_++;
    decode();
  }

  [[nodiscard]] bool may_read(unsigned r) const noexcept { return !is_known_ || (reads_ >> r & 1U) != 0; }
  [[nodiscard]] bool overwrites(unsigned r) const noexcept { return (overwrites_ >> r & 1U) != 0; }
  [[nodiscard]] bool calls() const noexcept { return calls_; }
  [[nodiscard]] const std::uint8_t* next() const noexcept { return next_; }
  /// nullptr: it neither jumps nor calls.
  [[nodiscard]] const std::uint8_t* target() const noexcept { return target_; }
  [[nodiscard]] bool falls_through() const noexcept { return falls_through_; }

 private:
  static constexpr unsigned memory = 16;  ///< instead of a register

  template <class Number>
  [[nodiscard]] Number number() noexcept {
    Number n{};
    std::memcpy(&n, next_, sizeof n);
    next_ += sizeof n;
    return n;
  }
  void read(unsigned r) noexcept { reads_ |= 1U << r; }
  void overwrite(unsigned r) noexcept { overwrites_ |= 1U << r; }

  void decode() noexcept {
    constexpr std::uint8_t two_bytes = 0x0f;
    switch (opcode_) {
      case two_bytes: return decode_two_bytes();
      case 0x89: return move(true);   // mov r/m, r
      case 0x8b:                      // mov r, r/m
      case 0x63: return move(false);  // movsxd
      case 0x8d: return load_address();
      case 0xc7: return move_number();
      case 0x31:
      case 0x33: return exclusive_or();
      case 0x01:
      case 0x03:
      case 0x09:
      case 0x0b:
      case 0x21:
      case 0x23:
      case 0x29:
      case 0x2b:
      case 0x39:
      case 0x3b:
      case 0x85: return calculate(0);       // add, or, and, sub, cmp, test
      case 0x84: return calculate_bytes();  // test
      case 0x83: return calculate(1);
      case 0x81: return calculate(4);
      case 0x3d:
        read(rax);
        next_ += 4;
        return;  // cmp eax, number
      case 0x3c:
        read(rax);
        next_ += 1;
        return;
      case 0x90: return;
      case 0xe8: calls_ = true; return jump(number<std::int32_t>(), true);
      case 0xe9: return jump(number<std::int32_t>(), false);
      case 0xeb: return jump(number<std::int8_t>(), false);
      default: break;
    }
    const unsigned low = (opcode_ & 7U) | ((prefix_ & 1U) << 3);
    switch (opcode_ & 0xf8) {
      case 0x50: return read(low);       // push
      case 0x58: return overwrite(low);  // pop
      case 0x70:
      case 0x78: return jump(number<std::int8_t>(), true);
      case 0xb8:  // mov r, number
        overwrite(low);
        next_ += (prefix_ & 8) != 0 ? 8 : 4;
        return;
      default: is_known_ = false;
    }
  }

  void decode_two_bytes() noexcept {
    const std::uint8_t second = *next_++;
    if ((second & 0xf0) == 0x80) return jump(number<std::int32_t>(), true);
    switch (second) {
      case 0x1f: return read_operands(0);  // nop
      case 0xb6:
      case 0xbe: return move_byte();
      case 0xb7:
      case 0xbf: return move(false);  // movzx, movsx
      default: is_known_ = false;
    }
  }

  void jump(std::int64_t distance, bool falls_through) noexcept {
    target_ = next_ + distance;
    falls_through_ = falls_through;
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
        if (index != rsp) read(index);
      }
      if (!is_absolute) read(base);
      next_ += mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0;
    }
    next_ += more;
  }

  void move(bool to_rm) noexcept {
    read_operands(0);
    const unsigned from = to_rm ? reg_ : rm_;
    const unsigned to = to_rm ? rm_ : reg_;
    if (from != memory) read(from);
    if (to != memory) overwrite(to);
  }
  void load_address() noexcept {
    read_operands(0);
    overwrite(reg_);
  }
  /// Without a prefix, its fifth to eighth registers are the upper bytes of the first four.
  [[nodiscard]] unsigned byte_register(unsigned r) const noexcept { return prefix_ == 0 && r >= rsp ? r - rsp : r; }
  void move_byte() noexcept {
    read_operands(0);
    if (rm_ != memory) read(byte_register(rm_));
    overwrite(reg_);
  }
  void calculate_bytes() noexcept {
    read_operands(0);
    read(byte_register(reg_));
    if (rm_ != memory) read(byte_register(rm_));
  }
  void move_number() noexcept {
    read_operands(4);
    is_known_ = reg_ % 8 == 0;
    if (rm_ != memory) overwrite(rm_);
  }
  /// Of a register with itself, it reads nothing.
  void exclusive_or() noexcept {
    read_operands(0);
    if (reg_ == rm_) return overwrite(reg_);
    read(reg_);
    if (rm_ != memory) read(rm_);
  }
  void calculate(unsigned bytes_of_number) noexcept {
    read_operands(bytes_of_number);
    if (bytes_of_number == 0) read(reg_);
    if (rm_ != memory) read(rm_);
  }

  const std::uint8_t* next_;
  const std::uint8_t* target_ = nullptr;
  std::uint8_t prefix_ = 0;
  std::uint8_t opcode_ = 0;
  unsigned reg_ = memory;
  unsigned rm_ = memory;
  std::uint32_t reads_ = 0;       ///< a bit for each register
  std::uint32_t overwrites_ = 0;  ///< after that
  bool calls_ = false;
  bool falls_through_ = true;
  bool is_known_ = true;
};

/// The function that an entry of the linkage table jumps to; nullptr: it is no such entry.
[[nodiscard]] const void* linked_function(const std::uint8_t* entry) noexcept {
  constexpr std::uint8_t end_branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr std::uint8_t bound = 0xf2;
  if (std::memcmp(entry, end_branch, sizeof end_branch) == 0) entry += sizeof end_branch;
  if (*entry == bound) ++entry;
  if (entry[0] != 0xff || entry[1] != 0x25) return nullptr;
  std::int32_t distance = 0;
  std::memcpy(&distance, entry + 2, sizeof distance);
  const void* function = nullptr;
  std::memcpy(&function, entry + 2 + sizeof distance + distance, sizeof function);
  return function;
}

enum class after_call : std::uint8_t { goes_on, ends, unknown };

/// What becomes of the registers that a function has to preserve when that one is called. It may throw: then a handler
/// reads them.
[[nodiscard]] after_call preserved_by(const std::uint8_t* target) noexcept {
  const void* const function = linked_function(target);
  Dl_info found{};
  if (function == nullptr || dladdr(function, &found) == 0 || found.dli_saddr != function) return after_call::unknown;
  const std::string_view name = found.dli_sname;
  if (name.starts_with("__tsan_")) return after_call::goes_on;
  return name == "__assert_fail" || name == "abort" ? after_call::ends : after_call::unknown;
}

/// `budget`: so many instructions are followed, on all ways together.
[[nodiscard]] bool may_read(const std::uint8_t* at, unsigned r, unsigned& budget) noexcept {
  while (budget-- != 0) {
    const instruction i(at);
    if (i.may_read(r)) return true;
    if (i.overwrites(r)) return false;
    if (i.target() == nullptr) {
      at = i.next();
    } else if (!i.calls()) {
      if (i.falls_through() && may_read(i.next(), r, budget)) return true;
      at = i.target();
    } else if (r == rax) {
      // No argument is passed there but the number of vector registers, which a caller sets itself. Into a function of
      // the same module the way leads on: compilers may know that it leaves rax as it was.
      if (linked_function(i.target()) != nullptr) return false;
      at = i.target();
    } else {
      const after_call then = preserved_by(i.target());
      if (then != after_call::goes_on) return then == after_call::unknown;
      at = i.next();
    }
  }
  budget = 0;
  return true;
}

constexpr unsigned most_instructions = 64;

}  // namespace

bool may_look_at_result(const void* code) noexcept {
  if (code == nullptr) return true;
  unsigned budget = most_instructions;
  return may_read(static_cast<const std::uint8_t*>(code), rax, budget);
}

void forget_unused(caller_state& caller, const void* code) {
  constexpr std::array<unsigned, 6> numbers{3, 5, 12, 13, 14, 15};  // rbx, rbp, r12 to r15
  static std::unordered_map<const void*, unsigned> known;
  const auto [found, is_new] = known.try_emplace(code, 0);
  unsigned& unused = found->second;  // a bit for each
  if (is_new) {
    for (unsigned i = 0; i != numbers.size(); ++i) {
      unsigned budget = most_instructions;
      if (!may_read(static_cast<const std::uint8_t*>(code), numbers[i], budget)) unused |= 1U << i;
    }
  }
  for (unsigned i = 0; i != numbers.size(); ++i) {
    if ((unused >> i & 1U) != 0) caller.registers[i] = 0;
  }
}

}  // namespace runq::model::compiled
