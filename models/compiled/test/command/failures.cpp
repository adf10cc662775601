// SPDX-License-Identifier: MIT
// One failure of each kind. The environment's FAILURE selects it, so that the program is compiled once.
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

struct node {
  int value;
};
int data;
std::atomic<int> payload{0};
std::atomic<int> flag{0};
std::atomic<node*> shared{nullptr};
std::mutex first, second;

void none() {}

namespace race {
void one() {
  data = 1;
  flag.store(1, std::memory_order::relaxed);
}
void other() {
  if (flag.load(std::memory_order::acquire) == 1) data = 2;
}
}  // namespace race

namespace stale {
void one() {
  payload.store(1, std::memory_order::relaxed);
  flag.store(1, std::memory_order::release);
}
void other() {
  if (flag.load(std::memory_order::relaxed) == 1) assert(payload.load(std::memory_order::relaxed) == 1);
}
}  // namespace stale

namespace freed {
void one() {
  if (node* const n = shared.load(std::memory_order::acquire)) data = n->value;
}
void other() {
  node* const n = shared.exchange(nullptr);
  delete n;
}
}  // namespace freed

namespace locks {
void one() {
  const std::lock_guard a(first);
  const std::lock_guard b(second);
}
void other() {
  const std::lock_guard b(second);
  const std::lock_guard a(first);
}
}  // namespace locks

namespace waits {
void one() {
  while (flag.load(std::memory_order::acquire) == 0) continue;
}
}  // namespace waits

namespace waits_and_lock {
void one() {
  const std::lock_guard a(first);
  while (flag.load() == 0) continue;
}
void other() {
  const std::lock_guard a(first);
  flag = 1;
}
}  // namespace waits_and_lock

namespace leak {
void one() {
  node* volatile lost = new node{1};
  lost = nullptr;
}
}  // namespace leak

namespace twice {
void either() { delete shared.load(std::memory_order::acquire); }
}  // namespace twice

namespace interleaving {
void one() { flag.fetch_add(1); }
void other() { assert(flag.fetch_add(1) == 0); }
}  // namespace interleaving

namespace lost_update {
void either() { flag.store(flag.load() + 1); }
}  // namespace lost_update

void both(void (*one)(), void (*other)()) {
  std::thread a(one);
  std::thread b(other);
  a.join();
  b.join();
}

void alone() {
  flag = 1;
  assert(flag == 2);
}

void same_names() {
  struct {
    std::atomic<int> value{0};
  } started;
  struct {
    int value = 0;
  } result;
  std::thread t([&] {
    started.value.store(1, std::memory_order::relaxed);
    result.value = 1;
  });
  while (started.value.load(std::memory_order::relaxed) == 0) continue;
  data = result.value;
  t.join();
}

void joins() {
  std::thread t(waits::one);
  t.join();
  flag = 1;
}

void freed_before() {
  node* const n = new node{1};
  std::thread([n] { delete n; }).join();
  data = n->value;
}

void endless() {
  flag.store(1, std::memory_order::release);
  for (volatile int i = 0;; i = i + 1) continue;
}

void with_a_node(void (*one)(), void (*other)()) {
  shared = new node{1};
  both(one, other);
}

struct failure {
  std::string_view name;
  void (*happens)();
};
constexpr failure failures[] = {
    {"RACE", [] { both(race::one, race::other); }},
    {"STALE", [] { both(stale::one, stale::other); }},
    {"FREED", [] { with_a_node(freed::one, freed::other); }},
    {"LOCKS", [] { both(locks::one, locks::other); }},
    {"WAITS", [] { both(waits::one, none); }},
    {"WAITS_AND_LOCK", [] { both(waits_and_lock::one, waits_and_lock::other); }},
    {"LEAK", [] { both(leak::one, none); }},
    {"TWICE", [] { with_a_node(twice::either, twice::either); }},
    {"INTERLEAVING", [] { both(interleaving::one, interleaving::other); }},
    {"LOST_UPDATE",
     [] {
       both(lost_update::either, lost_update::either);
       assert(flag.load() == 2);
     }},
    {"ALONE", alone},
    {"SAME_NAMES", same_names},
    {"JOINS", joins},
    {"FREED_BEFORE", freed_before},
    {"ENDLESS", endless},
};

int main() {
  const char* const chosen = std::getenv("FAILURE");
  for (const failure& f : failures) {
    if (chosen != nullptr && f.name == chosen) {
      f.happens();
      return 0;
    }
  }
  return 3;  // no such failure
}
