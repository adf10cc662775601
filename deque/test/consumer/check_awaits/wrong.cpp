// SPDX-License-Identifier: MIT
#include <stop_token>
#include <string>
#include <utility>

#include "right.hpp"

runq::task<result> makes(int id) {
  co_return result{id, co_await text_of(id), true};  // wrong: give what that returns a name
}

runq::task<int> blocks(bool stoppable, std::stop_token token) {
  co_return co_await runq::blocking([] { return 1; }, stoppable ? token : std::stop_token());  // wrong: write an if
}

runq::task<> drains(runq::channel<int>& numbers) {
  if (co_await numbers.receive()) numbers.close();  // wrong: const bool yes = co_await
}
