// SPDX-License-Identifier: MIT
// Two locks: each transfer locks both accounts. If one locks a then b, and the other b then a, each may end up with
// one, and wait for the other for ever. Everybody has to lock in the same order.
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
