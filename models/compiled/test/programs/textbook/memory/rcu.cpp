// SPDX-License-Identifier: MIT
// Read-copy-update: the writer replaces the old version by a new one, then waits until every reader that may have the
// old one has left. Readers never wait. A reader's entry and the writer's look at the readers need a full fence each,
// as in Dekker's entry.
// check: exhaustive
// check -DWRONG: FAIL use after free
// check -DNO_GRACE: FAIL use after free
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
void order() { std::atomic_thread_fence(std::memory_order::acq_rel); }
#else
void order() { std::atomic_thread_fence(std::memory_order::seq_cst); }
#endif

struct settings {
  int width, height;
};
std::atomic<settings*> current{nullptr};
std::atomic<bool> reading{false};

void use() {
  reading.store(true, std::memory_order::relaxed);
  order();
  const settings* const seen = current.load(std::memory_order::acquire);
  assert(seen->width == seen->height);
  reading.store(false, std::memory_order::release);
}

void wait_for_readers() {
  order();
  while (reading.load(std::memory_order::acquire)) std::this_thread::yield();
}

int main() {
  current.store(new settings{1, 1}, std::memory_order::release);
  std::thread reader(use);
  settings* const old = current.exchange(new settings{2, 2}, std::memory_order::acq_rel);
#ifndef NO_GRACE
  wait_for_readers();
#endif
  delete old;
  reader.join();
  delete current.load(std::memory_order::relaxed);
}
