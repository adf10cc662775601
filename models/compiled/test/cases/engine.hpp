// SPDX-License-Identifier: MIT
// The cases of the models as an ordinary program, over the policy that ships: real std::atomic, std::mutex and threads.
// Headers of this folder, and some of models/genmc/, replace those of the same name in models/check/.
#pragma once

#include <cstdint>

namespace runq::model {

/// The text of a check that an execution failed; the front end shows it.
enum class failure : unsigned char { check_failed, lost, run_twice, out_of_order, not_linearizable };

/// A point of an execution: a program cannot ask which happened before which.
struct moment {};

struct engine {
  /// Steps are not counted here: a bound on them always holds, and the native front end judges it.
  [[nodiscard]] static constexpr std::uint64_t operations() noexcept { return 0; }
};

[[nodiscard]] constexpr engine current_engine() noexcept { return {}; }

}  // namespace runq::model
