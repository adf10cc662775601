// SPDX-License-Identifier: MIT
#include "right.hpp"

#include <stop_token>
#include <string>
#include <utility>

runq::task<result> makes(int id) {
  auto text = co_await text_of(id);
  co_return result{id, std::move(text), true};
}

runq::task<int> blocks(bool stoppable, std::stop_token token) {
  const std::stop_token used = stoppable ? token : std::stop_token();
  co_return co_await runq::blocking([] { return 1; }, used);
}
