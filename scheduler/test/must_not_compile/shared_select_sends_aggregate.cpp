// expect: write on_send(c, {x, 1})
// SPDX-License-Identifier: MIT
// g++ 12 would destroy the string of the temporary twice.
#include <string>

#include <runq/runq.hpp>

struct message {
  std::string text;
  int number;
};

runq::task<> send(runq::send_end<message> to, std::string text) {
#ifdef RUNQ_CONTROL
  (void)co_await runq::select(runq::on_send(to, {text, 1}), runq::otherwise());
#else
  (void)co_await runq::select(runq::on_send(to, message{text, 1}), runq::otherwise());
#endif
}
