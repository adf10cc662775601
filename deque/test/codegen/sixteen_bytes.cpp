// SPDX-License-Identifier: MIT
// Elements of 16 bytes, without boxes, where the compiler says that an atomic of 16 bytes is lock-free: a thief and the
// owner of a deque and of a ring take each of them once and whole. Ends with 1 if one is mixed or missing.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>

namespace {

// Aligned to its size: otherwise the compiler calls libatomic.
struct alignas(16) wide {
  std::uint64_t id = 0;
  std::uint64_t twice = 0;
};
static_assert(std::atomic<wide>::is_always_lock_free);

template <class Queue>
bool each_comes_once_and_whole() {
  constexpr std::uint64_t values = 100'000;
  Queue q;
  std::atomic<bool> done{false};
  std::uint64_t stolen = 0;
  std::atomic<bool> right{true};
  const auto sum_of = [&](const wide& got) {
    if (got.twice != 2 * got.id) right.store(false, std::memory_order::relaxed);
    return got.id;
  };
  std::thread thief([&] {
    while (!done.load(std::memory_order::acquire)) {
      if (const auto got = q.steal()) {
        stolen += sum_of(got.value);
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t popped = 0;
  const auto pop = [&] {
    const std::optional<wide> got = q.pop();
    if (got) popped += sum_of(*got);
    return got.has_value();
  };
  for (std::uint64_t id = 1; id <= values; ++id) {
    while (!q.push({id, 2 * id})) pop();
    if (id % 8 == 0) pop();
  }
  while (pop()) continue;
  done.store(true, std::memory_order::release);
  thief.join();
  while (pop()) continue;
  return right.load() && stolen + popped == values * (values + 1) / 2;
}

}  // namespace

int main() {
  if (each_comes_once_and_whole<runq::one_object<runq::chase_lev<wide>>>() &&
      each_comes_once_and_whole<runq::one_object<runq::ring<wide>>>()) {
    return 0;
  }
  std::puts("a value was lost, doubled or mixed with another one");
  return 1;
}
