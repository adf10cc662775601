// SPDX-License-Identifier: MIT
// std::shared_mutex of libstdc++, which is a read-write lock of pthreads.
#include <shared_mutex>

#include "../field.hpp"

/// A plain number, which readers share.
class number {
 public:
  void write(int value) {
    mutex_.lock();
    value_ = value;
    mutex_.unlock();
  }
  int read() {
    mutex_.lock_shared();
    const int value = value_;
    mutex_.unlock_shared();
    return value;
  }

 private:
  std::shared_mutex mutex_;
  int value_ = 0;
};

static auto make_test() {
  runq::linearizable<number, runq::spec::reg<int>> test;
  test.operation("write", RUNQ_CODE([](auto& n, int value) { n.write(value); }), runq::fresh);
  test.operation("read", RUNQ_CODE([](auto& n) { return n.read(); }));
  return test;
}

RUNQ_FIELD(make_test)
