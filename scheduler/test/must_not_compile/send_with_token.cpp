// expect: write c.send({x, 1})
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the string of the temporary twice, also in a send that a stop request ends.
#include <stop_token>
#include <string>

#include <runq/runq.hpp>

struct message {
  std::string text;
  int number;
};

runq::task<> send(runq::channel<message>& c, std::string text, std::stop_token stop) {
#ifdef RUNQ_CONTROL
  co_await c.send({text, 1}, stop);
#else
  co_await c.send(message{text, 1}, stop);
#endif
}
