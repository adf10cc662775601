// SPDX-License-Identifier: MIT
// A thread looks at a block of the heap in a round in which it waits; then it finds another object there, and ends its
// loop. Who frees the block knows of that end by a relaxed operation, and of the block by another thread: what comes
// before the end of the loop, without that round, does not know of the block.
// check: FAIL use after free
// check --keep-rounds on: FAIL use after free
// check --keep-rounds off: bounded; that follow it, but do not happen after it (at old_blocks.cpp:
// check -DOWN: FAIL use after free
// check -DOWN --keep-rounds off: bounded; that follow it, but do not happen after it (at old_blocks.cpp:
// check -DBEFORE_MAIN: FAIL use after free
// check -DBEFORE_MAIN --keep-rounds off: bounded; that follow it, but do not happen after it (at old_blocks.cpp:
// check -DTOLD_LATER --keep-rounds off: exhaustive
// check -DTOLD_BY=release -DLEARNT_BY=acquire: exhaustive
// check -DTOLD_BY=release -DLEARNT_BY=acquire --keep-rounds on: exhaustive
#include <atomic>
#include <thread>

#ifndef TOLD_BY
#define TOLD_BY relaxed
#define LEARNT_BY relaxed
#endif

namespace {

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
struct object {
  bool is_last;
};
object last{true};
std::atomic<object*> current{nullptr};
#ifdef BEFORE_MAIN
std::atomic<object*> first{new object{false}};
#else
std::atomic<object*> first{nullptr};
#endif
std::atomic<bool> has_stopped{false};
std::atomic<bool> has_ended{false};

void make() {
#ifdef BEFORE_MAIN
  current.store(first.load(relaxed), release);
#else
  auto* const made = new object{false};
#ifdef TOLD_LATER
  const bool is_late = has_ended.load(relaxed);
  current.store(made, release);
  if (is_late) made->is_last = false;
#endif
  current.store(made, release);
  first.store(made, release);
#endif
}

void look() {
#ifdef OWN
  make();
#endif
  for (;;) {
    if (has_stopped.load(relaxed)) return;  // `last` may not be the last
    const object* const found = current.load(acquire);
    if (found != nullptr && found->is_last) break;
  }
  has_ended.store(true, std::memory_order::TOLD_BY);
}

void free_if_ended() {
#ifndef TOLD_LATER
  if (!has_ended.load(std::memory_order::LEARNT_BY)) return;
  delete first.exchange(nullptr, acquire);
#endif
}

}  // namespace

int main() {
#ifndef OWN
  std::thread maker(make);
#endif
  std::thread replacer([] { current.store(&last, release); });
  std::thread looker(look);
  std::thread other(free_if_ended);
  has_stopped.store(true, relaxed);
#ifndef OWN
  maker.join();
#endif
  replacer.join();
  looker.join();
  other.join();
  delete first.load(relaxed);
}
