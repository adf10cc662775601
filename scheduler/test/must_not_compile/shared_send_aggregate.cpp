// expect: write c.send({x, 1})
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the string of the temporary twice.
#include <string>
#include <utility>

#include <runq/runq.hpp>

struct message {
  std::string text;
  int number;
};

runq::task<> send(runq::send_end<message> to, std::string text) {
#ifdef RUNQ_CONTROL
  co_await to.send({text, 1});
#else
  co_await to.send(message{text, 1});
#endif
}
