// expect: c.send({std::move(value)})
// SPDX-License-Identifier: MIT
// The library cannot tell std::move(value) from a temporary, which g++ 12 would destroy twice.
#include <string>
#include <utility>

#include <runq/runq.hpp>

struct message {
  std::string text;
  int number;
};

runq::task<> send(runq::channel<message>& c) {
  message m{"text", 1};
#ifdef RUNQ_CONTROL
  co_await c.send({std::move(m)});
#else
  co_await c.send(std::move(m));
#endif
}
