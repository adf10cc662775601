// SPDX-License-Identifier: MIT
// std::call_once of libstdc++, which is that of pthreads.
#include <mutex>

#include "../field.hpp"

class once {
 public:
  /// How often the value has been made: by the first caller, for all.
  int get() {
    std::call_once(made_, [this] { ++value_; });
    return value_;
  }

 private:
  std::once_flag made_;
  int value_ = 0;
};
class specification {
 public:
  [[nodiscard]] int get() const { return 1; }
};

static auto make_test() {
  runq::linearizable<once, specification> test;
  test.operation("get", RUNQ_CODE([](auto& o) { return o.get(); }));
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
