// SPDX-License-Identifier: MIT
// Vyukov's queue: many producers, one consumer. A producer puts its node at the end by one exchange, then links it
// from the node before. The link releases the contents; the exchange has to order each producer after the one before.
// check: exhaustive, 4 executions
// check -DWRONG: FAIL data race
// check -DWRONG_EXCHANGE: FAIL assertion fails: sum == 3
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto linking = std::memory_order::relaxed;
#else
constexpr auto linking = std::memory_order::release;
#endif
#ifdef WRONG_EXCHANGE
constexpr auto joining = std::memory_order::relaxed;
#else
constexpr auto joining = std::memory_order::acq_rel;
#endif

struct node {
  std::atomic<node*> next{nullptr};
  int value = 0;
};
node stub, nodes[3];
std::atomic<node*> last{&stub};
node* taken = &stub;  // the consumer's: the node that it took last

void push(node& n, int value) {
  n.value = value;
  n.next.store(nullptr, std::memory_order::relaxed);
  node* const before = last.exchange(&n, joining);
  before->next.store(&n, linking);
}
int pop() {
  node* const next = taken->next.load(std::memory_order::acquire);
  if (next == nullptr) return 0;
  taken = next;
  return next->value;
}

int main() {
  std::thread a([] { push(nodes[1], 1); });
  std::thread b([] { push(nodes[2], 2); });
  int sum = pop();
  a.join();
  b.join();
  while (const int value = pop()) sum += value;
  assert(sum == 3);
}
