// SPDX-License-Identifier: MIT
// One thread stops for ever. A call that is claimed to be lock-free may not wait for it: not for a value, nor at a
// barrier.
// check -DLOCK_FREE: FAIL not lock-free
// check: passes
// check -DLOCK_FREE -DVALUE: FAIL not lock-free
// check -DVALUE: passes
#include <atomic>
#include <barrier>
#include <thread>

#include <runq/history.hpp>

#ifdef LOCK_FREE
#define CALL lock_free_call
#else
#define CALL call
#endif

class meeting {
 public:
  int come() {
#ifdef VALUE
    const int before = here_.fetch_add(1, std::memory_order::acq_rel);
    if (before == 0) here_.wait(1, std::memory_order::acquire);
    if (before == 1) here_.notify_all();
#else
    here_.fetch_add(1, std::memory_order::relaxed);
    both_.arrive_and_wait();
#endif
    return 0;
  }

 private:
  std::atomic<int> here_{0};
  std::barrier<> both_{2};
};

int main() {
  runq::let_one_stop(2);
  runq::recorded<meeting> shared;
  const auto come = [&] { shared.CALL("come", runq::member<&meeting::come>{}); };
  std::thread first(come);
  std::thread second(come);
  first.join();
  second.join();
}
