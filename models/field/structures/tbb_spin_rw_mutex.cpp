// SPDX-License-Identifier: MIT
// tbb::spin_rw_mutex, a lock for one writer or many readers.
#include <oneapi/tbb/spin_rw_mutex.h>

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
  tbb::spin_rw_mutex mutex_;
  int value_ = 0;
};

static auto make_test() {
  runq::linearizable<number, runq::spec::reg<int>> test;
  test.operation("write", RUNQ_CODE([](auto& n, int value) { n.write(value); }), runq::fresh);
  test.operation("read", RUNQ_CODE([](auto& n) { return n.read(); }));
  return test;
}

RUNQ_FIELD(make_test)
