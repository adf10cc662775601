// SPDX-License-Identifier: MIT
// std::stop_source and std::stop_token of libstdc++: one request wins, and a callback runs once if one has been made.
// One thread at most registers callbacks.
#include <stop_token>
#include <utility>

#include "../field.hpp"

class stop {
 public:
  bool request() { return source_.request_stop(); }
  bool requested() { return token_.stop_requested(); }
  /// How often a callback has run that existed for a moment.
  int listen() {
    int runs = 0;
    {
      const std::stop_callback callback(token_, [&runs] { ++runs; });
    }
    return runs;
  }

 private:
  std::stop_source source_;
  std::stop_token token_ = source_.get_token();
};
class specification {
 public:
  bool request() { return !std::exchange(requested_, true); }
  [[nodiscard]] bool requested() const { return requested_; }
  [[nodiscard]] int listen() const { return requested_ ? 1 : 0; }

 private:
  bool requested_ = false;
};

static auto make_test() {
  runq::linearizable<stop, specification> test;
  test.operation("request", RUNQ_CODE([](auto& s) { return s.request(); }));
  test.operation("requested", RUNQ_CODE([](auto& s) { return s.requested(); }));
  test.operation("listen", RUNQ_CODE([](auto& s) { return s.listen(); })).by("listener");
  return test;
}

RUNQ_FIELD(make_test)
