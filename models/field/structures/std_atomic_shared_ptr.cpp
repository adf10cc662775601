// SPDX-License-Identifier: MIT
// std::atomic<std::shared_ptr> of libstdc++, which locks a bit of the pointer.
#include <atomic>
#include <memory>

#include "../field.hpp"

class pointer {
 public:
  int load() { return *pointer_.load(); }
  void store(int value) { pointer_.store(std::make_shared<int>(value)); }
  int exchange(int value) { return *pointer_.exchange(std::make_shared<int>(value)); }

 private:
  std::atomic<std::shared_ptr<int>> pointer_{std::make_shared<int>(0)};
};
class specification : public runq::spec::reg<int> {
 public:
  int load() { return read(); }
  void store(int value) { write(value); }
};

static auto make_test() {
  runq::linearizable<pointer, specification> test;
  test.operation("load", RUNQ_CODE([](auto& p) { return p.load(); }));
  test.operation("store", RUNQ_CODE([](auto& p, int value) { p.store(value); }), runq::fresh);
  test.operation("exchange", RUNQ_CODE([](auto& p, int value) { return p.exchange(value); }), runq::fresh);
  return test;
}

RUNQ_FIELD(make_test)
