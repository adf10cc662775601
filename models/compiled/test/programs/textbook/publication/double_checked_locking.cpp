// SPDX-License-Identifier: MIT
// Double-checked locking: look, lock only if there is no object yet, look again. The pointer that is read without the
// lock must be atomic, stored with release and loaded with acquire: otherwise other threads get a pointer to an object
// whose contents they cannot see yet.
// check: exhaustive
// check -DWRONG: FAIL unpublished allocation
// check -DPLAIN: FAIL data race
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#ifdef WRONG
constexpr auto publish = std::memory_order::relaxed;
#else
constexpr auto publish = std::memory_order::release;
#endif

struct widget {
  int value = 7;
};
std::mutex making;
#ifdef PLAIN
widget* only;
widget* look() { return only; }
void keep(widget* w) { only = w; }
#else
std::atomic<widget*> only{nullptr};
widget* look() { return only.load(std::memory_order::acquire); }
void keep(widget* w) { only.store(w, publish); }
#endif

widget& get() {
  widget* w = look();
  if (w == nullptr) {
    const std::lock_guard lock(making);
    w = look();
    if (w == nullptr) {
      w = new widget;
      keep(w);
    }
  }
  return *w;
}

int main() {
  std::thread a([] { assert(get().value == 7); });
  std::thread b([] { assert(get().value == 7); });
  a.join();
  b.join();
}
