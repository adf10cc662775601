// SPDX-License-Identifier: MIT
// tools/co_await_twice.query must find the lines that are marked `// twice`, and no others. This file is only parsed,
// not compiled to a program.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <runq/runq.hpp>

namespace {

using runq::task;

struct aggregate {
  std::string text;
  int number = 0;
};
struct plain {
  int a;
  int b;
};

task<> takes(aggregate) { co_return; }
task<> refers(const aggregate&) { co_return; }
task<> takes_string(std::string) { co_return; }
task<> takes_function(std::function<void()>) { co_return; }
task<std::string> gives() { co_return "text"; }
task<int> counts() { co_return 1; }
aggregate make() { return {"text", 1}; }

[[maybe_unused]] task<> calls(std::string s, bool c) {
  co_await takes({s, 1});                                       // twice
  co_await takes(aggregate{s, 1});                              // twice
  co_await refers(aggregate{s, 1});                             // twice
  co_await takes({});                                           // twice
  co_await takes({co_await gives(), 1});                        // twice
  co_await takes_function([s] {});                              // twice
  co_await [s]() -> task<> { co_return; }();                    // twice
  co_await takes_string(c ? std::string("a") : std::string());  // twice
  co_await (c ? takes_string("a") : takes_string("b"));         // twice
  co_await runq::fork(takes({s, 1}));                           // twice
  co_await runq::join();
  aggregate named{s, 1};
  const auto lambda = [s]() -> task<> { co_return; };
  co_await takes(named);
  co_await takes(std::move(named));
  co_await takes(make());
  co_await takes_string(s + "x");
  co_await takes_string({s, 1});
  co_await takes_function([&s] { (void)s; });
  co_await lambda();
  co_await [](std::string) -> task<> { co_return; }(s);
}

[[maybe_unused]] task<> chooses(bool c) {
  const std::string a = c ? co_await gives() : co_await gives();                    // twice
  const std::string b = co_await counts() == 1 ? std::string("a") : std::string();  // twice
  const int n = c ? co_await counts() : co_await counts();
  c ? co_await takes_string(a) : co_await takes_string(b);
  (void)n;
}

[[maybe_unused]] task<> makes(std::string s) {
  const aggregate a{s, co_await counts()};   // twice
  const aggregate b{co_await gives(), 1};    // twice
  const auto c = [t = co_await gives()] {};  // twice
  const int n = co_await counts();
  const aggregate d{s, n};
  const plain e{co_await counts(), 2};
  (void)a, (void)b, (void)c, (void)d, (void)e;
}

[[maybe_unused]] task<> sends(std::string s, bool c) {
  runq::channel<std::pair<aggregate, int>> pairs;
  co_await pairs.send({aggregate{s, 1}, 2});  // twice
  runq::channel<aggregate> values;
  co_await values.send({s, 1});
  (void)co_await runq::select(runq::on_send(values, {s, 1}), runq::on_send(&values, {s, 1}));
  co_await runq::blocking([&] {
    const std::string text = c ? std::string("a") : s;
    return aggregate{text, 1};
  });
  std::optional<runq::clock::time_point> late;
  (void)co_await runq::select(runq::on_receive(runq::after(std::chrono::seconds(1)).channel(), late));
  runq::go([s]() -> task<> { co_await takes_string(s); });
}

// The expressions that call run() have no co_await. Only the bodies of the lambdas in them have one.
[[maybe_unused]] void starts(std::string s) {
  runq::run([s]() -> task<> { co_await takes_string(s); });
  runq::run([s, a = aggregate{s, 1}]() -> task<> {
    co_await takes(a);
    co_await takes({s, 1});  // twice
  });
}

}  // namespace
