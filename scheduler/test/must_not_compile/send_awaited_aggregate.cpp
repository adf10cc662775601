// expect: c.send({co_await f()}) for a result
// SPDX-License-Identifier: MIT
// The library cannot tell what a co_await returns from a temporary that g++ 12 would destroy twice.
#include <string>

#include <runq/runq.hpp>

struct message {
  std::string text;
  int number;
};

runq::task<message> make() {
  message m{"text", 1};
  co_return m;
}

runq::task<> send(runq::channel<message>& c) {
#ifdef RUNQ_CONTROL
  co_await c.send({co_await make()});
#else
  co_await c.send(co_await make());
#endif
}
