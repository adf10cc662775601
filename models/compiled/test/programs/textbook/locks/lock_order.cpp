// SPDX-License-Identifier: MIT
// Two locks: each transfer locks both accounts. If one thread locks a then b, and the other b then a, each may get one
// lock and wait for the other lock for ever. All threads have to lock in the same order.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL deadlock
#include <cassert>
#include <mutex>
#include <thread>
#include <utility>

struct account {
  std::mutex m;
  int money = 10;
};
account accounts[2];

void transfer(int from, int to) {
  int one = from, two = to;
#ifndef WRONG
  if (one > two) std::swap(one, two);
#endif
  const std::lock_guard first(accounts[one].m);
  const std::lock_guard second(accounts[two].m);
  --accounts[from].money;
  ++accounts[to].money;
}

int main() {
  std::thread there(transfer, 0, 1);
  std::thread back(transfer, 1, 0);
  there.join();
  back.join();
  assert(accounts[0].money == 10 && accounts[1].money == 10);
}
