// SPDX-License-Identifier: MIT
// Instructions by which compilers pass arguments, count loops and jump, and what they do with x0, where a function
// returns its result, and where a caller passes the first argument: a call of a function of another module may read it,
// unless that function is known to take no argument.
#pragma once

#include <cstdint>
#include <cstring>

extern "C" void __tsan_func_exit();

namespace runq::model::compiled {

/// What an instruction does with the result.
enum class effect : std::uint8_t { none, overwrites, may_read };

class instruction {
 public:
  explicit instruction(const std::uint8_t* at) noexcept : at_(at), word_(word_at(at)) { decode(); }

  [[nodiscard]] effect does() const noexcept { return does_; }
  [[nodiscard]] const std::uint8_t* next() const noexcept { return at_ + sizeof word_; }
  /// nullptr: it does not jump.
  [[nodiscard]] const std::uint8_t* target() const noexcept { return target_; }
  [[nodiscard]] bool falls_through() const noexcept { return falls_through_; }

 private:
  [[nodiscard]] static std::uint32_t word_at(const std::uint8_t* at) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  [[nodiscard]] static std::uint32_t bits(std::uint32_t word, unsigned first, unsigned count) noexcept {
    return word >> first & ((1U << count) - 1);
  }
  [[nodiscard]] static std::int64_t signed_bits(std::uint32_t word, unsigned first, unsigned count) noexcept {
    const std::int64_t number = bits(word, first, count);
    return number - (bits(word, first + count - 1, 1) != 0 ? std::int64_t{1} << count : 0);
  }
  [[nodiscard]] bool is(std::uint32_t mask, std::uint32_t value) const noexcept { return (word_ & mask) == value; }
  /// The registers that most instructions name: the first is the one that is written, if any is.
  [[nodiscard]] unsigned first() const noexcept { return bits(word_, 0, 5); }
  [[nodiscard]] unsigned second() const noexcept { return bits(word_, 5, 5); }
  [[nodiscard]] unsigned third() const noexcept { return bits(word_, 16, 5); }

  void decode() noexcept {
    if (is(0xfffff01f, 0xd503201f)) return;                                                // nop and other hints
    if (is(0xfc000000, 0x14000000)) return jump(signed_bits(word_, 0, 26), false);         // b
    if (is(0xfc000000, 0x94000000)) return call(signed_bits(word_, 0, 26));                // bl
    if (is(0xff000010, 0x54000000)) return jump(signed_bits(word_, 5, 19), true);          // b.cond
    if (is(0x7e000000, 0x34000000)) return test_and_jump(signed_bits(word_, 5, 19));       // cbz, cbnz
    if (is(0x7e000000, 0x36000000)) return test_and_jump(signed_bits(word_, 5, 14));       // tbz, tbnz
    if (is(0x1f000000, 0x10000000)) return calculates(false, false);                       // adr, adrp
    if (is(0x7f800000, 0x72800000)) return calculates(first() == 0, false);                // movk
    if (is(0x1f800000, 0x12800000)) return calculates(false, false);                       // movz, movn
    if (is(0x1f800000, 0x11000000)) return calculates(second() == 0, false);               // add, sub: number
    if (is(0x1f800000, 0x12000000)) return calculates(second() == 0, false);               // and, orr …: number
    if (is(0x7f800000, 0x33000000)) return calculates(second() == 0, first() == 0);        // bfm
    if (is(0x1f800000, 0x13000000)) return calculates(second() == 0, false);               // sbfm, ubfm
    if (is(0x1f000000, 0x0a000000)) return calculates(second() == 0, third() == 0);        // and, orr, mov …
    if (is(0x1f000000, 0x0b000000)) return calculates(second() == 0, third() == 0);        // add, sub …
    if (is(0x1fe00000, 0x1a800000)) return calculates(second() == 0, third() == 0);        // csel, csinc …
    if (is(0x3f000000, 0x39000000) || is(0x3f200000, 0x38000000)) return load_or_store();  // ldr, str
    if (is(0x3e000000, 0x28000000)) return load_or_store_pair();                           // ldp, stp
    does_ = effect::may_read;
  }

  void calculates(bool reads, bool reads_also) noexcept {
    if (reads || reads_also) {
      does_ = effect::may_read;
    } else if (first() == 0) {
      does_ = effect::overwrites;
    }
  }
  void load_or_store() noexcept {
    constexpr std::uint32_t not_a_number = 0x00000c00;
    constexpr std::uint32_t with_number = 0x01000000;
    const bool is_prefetch = bits(word_, 30, 2) == 3 && bits(word_, 22, 2) == 2;
    const bool is_unknown = is_prefetch || (!is(with_number, with_number) && is(not_a_number, 0x00000800));
    const bool loads = bits(word_, 22, 2) != 0;
    if (is_unknown) {
      does_ = effect::may_read;
    } else {
      calculates(second() == 0, first() == 0 && !loads);
    }
  }
  void load_or_store_pair() noexcept {
    const unsigned other = bits(word_, 10, 5);
    const bool loads = bits(word_, 22, 1) != 0;
    const bool names = first() == 0 || other == 0;
    if (second() == 0 || (names && !loads)) {
      does_ = effect::may_read;
    } else if (names) {
      does_ = effect::overwrites;
    }
  }

  void jump(std::int64_t instructions, bool conditional) noexcept {
    target_ = at_ + instructions * std::int64_t{sizeof word_};
    falls_through_ = conditional;
  }
  void test_and_jump(std::int64_t instructions) noexcept {
    jump(instructions, true);
    if (first() == 0) does_ = effect::may_read;
  }
  void call(std::int64_t instructions) noexcept {
    jump(instructions, false);
    const void* const elsewhere = function_elsewhere(target_);
    if (elsewhere == nullptr) return;
    does_ = elsewhere == reinterpret_cast<const void*>(&__tsan_func_exit) ? effect::overwrites : effect::may_read;
  }
  /// Where an entry of the linkage table leads: it takes the address from a place that the loader has filled in.
  /// nullptr: it is no such entry.
  [[nodiscard]] static const void* function_elsewhere(const std::uint8_t* at) noexcept {
    constexpr std::uint32_t branch_target = 0xd503245f;
    if (word_at(at) == branch_target) at += sizeof(std::uint32_t);
    const std::uint32_t page = word_at(at);      // adrp x16, page
    const std::uint32_t load = word_at(at + 4);  // ldr x17, [x16, number]
    if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) return nullptr;
    constexpr std::uintptr_t page_bytes = 4096;  // of adrp, whatever the system's are
    const std::int64_t pages = signed_bits(page, 5, 19) * 4 + bits(page, 29, 2);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(at) / page_bytes * page_bytes;
    const std::uintptr_t place =
        begin + static_cast<std::uintptr_t>(pages) * page_bytes + bits(load, 10, 12) * sizeof place;
    const void* function = nullptr;
    std::memcpy(&function, reinterpret_cast<const void*>(place), sizeof function);
    return function;
  }

  const std::uint8_t* at_;
  std::uint32_t word_;
  const std::uint8_t* target_ = nullptr;
  bool falls_through_ = true;
  effect does_ = effect::none;
};

}  // namespace runq::model::compiled
