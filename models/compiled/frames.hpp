// SPDX-License-Identifier: MIT
// The position of a thread of a compiled program: the code addresses of its calls, outermost first. Each distinct stack
// of calls is stored once, so that an event can remember its stack as one pointer. A plain access remembers its
// caller's stack and its own address: what is shown of them is looked up later.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <tuple>
#include <unordered_map>

namespace runq::model::compiled {

struct frame {
  const void* code = nullptr;  ///< where the call, or the operation, returns to
  frame* caller = nullptr;

  struct call {
    const void* code = nullptr;
    frame* callee = nullptr;
  };
  /// Some of the calls from here, so that most are found without a search of the whole tree.
  std::array<std::array<call, 2>, 16> recent{};

  /// The only entries of `recent` where that call may be, the one that came last first.
  [[nodiscard]] std::array<call, 2>& recent_calls(const void* return_address) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    static_assert(std::tuple_size_v<decltype(recent)> == 16);
    return recent[reinterpret_cast<std::uintptr_t>(return_address) * odd >> 60];
  }
};

/// A call or an operation of `caller`: it need not be in the tree.
struct code_place {
  frame* caller = nullptr;  ///< nullptr: unknown
  const void* code = nullptr;
};

/// All stacks of calls that were met so far. One operating-system thread; never forgets.
class frame_tree {
 public:
  [[nodiscard]] frame* root() noexcept { return &root_; }

  /// nullptr: unknown.
  [[nodiscard]] frame* at(const code_place& p) { return p.caller == nullptr ? nullptr : callee(p.caller, p.code); }

  [[nodiscard]] frame* callee(frame* caller, const void* code) {
    std::array<frame::call, 2>& recent = caller->recent_calls(code);
    for (const frame::call& c : recent) {
      if (c.code == code && c.callee != nullptr) return c.callee;
    }
    recent = {frame::call{code, find(caller, code)}, recent[0]};
    return recent[0].callee;
  }

 private:
  struct key {
    frame* caller;
    const void* code;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
      const std::uint64_t mixed =
          (reinterpret_cast<std::uintptr_t>(k.caller) * odd + reinterpret_cast<std::uintptr_t>(k.code)) * odd;
      return mixed >> 32;
    }
  };
  [[gnu::noinline]] frame* find(frame* caller, const void* code) {
    auto [at, added] = known_.try_emplace(key{caller, code}, nullptr);
    if (added) at->second = &frames_.emplace_back(frame{code, caller, {}});
    return at->second;
  }

  frame root_;
  std::deque<frame> frames_;
  std::unordered_map<key, frame*, hash> known_;
};

}  // namespace runq::model::compiled
