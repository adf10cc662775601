// SPDX-License-Identifier: MIT
// xenium::left_right: two copies, of which readers read one while a writer changes the other.
#include <xenium/left_right.hpp>

#include "../field.hpp"

class number {
 public:
  void write(int value) {
    both_.update([value](int& copy) { copy = value; });
  }
  int read() {
    return both_.read([](const int& copy) { return copy; });
  }

 private:
  xenium::left_right<int> both_{0};
};

RUNQ_FIELD(runq::field::write_and_read<number>)
