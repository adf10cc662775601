// SPDX-License-Identifier: MIT
// xenium::seqlock of two words, which a reader must not see torn.
#include <xenium/seqlock.hpp>

#include "../field.hpp"

class number {
 public:
  void write(int value) { both_.store({value, -value}); }
  /// Returns -1 if the value is torn.
  int read() {
    const pair seen = both_.load();
    return seen.first == -seen.second ? static_cast<int>(seen.first) : -1;
  }

 private:
  struct pair {
    long first;
    long second;
  };
  xenium::seqlock<pair> both_{pair{0, 0}};
};

RUNQ_FIELD(runq::field::write_and_read<number>)
