// SPDX-License-Identifier: MIT
// The position of a thread of a compiled program: the code addresses of its calls, outermost first. Each distinct stack
// of calls is stored once, so that a step of an execution can remember its stack as one pointer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace runq::model::compiled {

struct frame {
  const void* code = nullptr;  ///< where the call, or the operation, returns to
  frame* caller = nullptr;
};

/// All stacks of calls that were met so far. One operating-system thread; never forgets.
class frame_tree {
 public:
  [[nodiscard]] frame* root() noexcept { return &root_; }

  [[nodiscard]] frame* callee(frame* caller, const void* code) {
    const key wanted{caller, code};
    frame*& recent = recent_[hash{}(wanted) % recent_.size()];
    if (recent != nullptr && recent->caller == caller && recent->code == code) return recent;
    auto [at, added] = known_.try_emplace(wanted, nullptr);
    if (added) at->second = &frames_.emplace_back(frame{code, caller});
    return recent = at->second;
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
  frame root_;
  std::array<frame*, 4096> recent_{};  ///< by the lower bits of their hashes
  std::deque<frame> frames_;
  std::unordered_map<key, frame*, hash> known_;
};

}  // namespace runq::model::compiled
