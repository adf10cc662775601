// SPDX-License-Identifier: MIT
// The cases of the models as anybody's program, over the policy that ships: real std::atomic, std::mutex and threads.
// Headers of this folder, and some of models/genmc/, take the place of those of the same name in models/check/.
#pragma once

#include <cstdint>

namespace runq::model {

/// What a check says that an execution failed by; the front end shows the text.
enum class failure : unsigned char { check_failed, lost, run_twice, out_of_order, not_linearizable };

/// A point of an execution: a program cannot ask which happened before which.
struct moment {};

struct engine {
  /// Steps are not counted here: a bound on them holds trivially, and the native front end judges it.
  [[nodiscard]] static constexpr std::uint64_t operations() noexcept { return 0; }
};

[[nodiscard]] constexpr engine current_engine() noexcept { return {}; }

}  // namespace runq::model
