// SPDX-License-Identifier: MIT
// Ways in which a run fails, or is refused.
// check -DWAY=0: passes
// check -DWAY=1: FAIL check failed: the program ends with status 3
// check -DWAY=2: FAIL crash: abort()
// check -DWAY=3: FAIL crash: invalid memory access (SIGSEGV) of address 0x8
// check -DWAY=4: FAIL crash: abort()
// check -DWAY=5: FAIL misuse: what is freed was not allocated
// check -DWAY=6: FAIL misuse: a mutex is unlocked that this thread has not locked
// check -DWAY=7: FAIL livelock: no end
// check -DWAY=8: not supported: pthread_exit()
// check -DWAY=9: not supported: fork()
// check -DWAY=10: FAIL misuse: no such thread
// check -DWAY=11: FAIL double free
// check -DWAY=12: FAIL use after free
// check -DWAY=14: not supported: execv()
// check -DWAY=15: passes
// check -DWAY=13: FAIL check failed: assertion !failed fails
#include <atomic>
#include <cassert>
#include <csetjmp>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <unistd.h>

std::atomic<bool> failed{false};
std::mutex lock;
int variable;
struct pair {
  int* first;
  int* second;
};

[[gnu::noinline]] void goes_to(std::jmp_buf& there) { std::longjmp(there, 1); }
/// More than are kept.
void leaves_calls_behind() {
  volatile int left = 100'000;
  std::jmp_buf here;
  static_cast<void>(setjmp(here));
  left = left - 1;
  if (left != 0) goes_to(here);
}

int main() {
  if (WAY == 15) leaves_calls_behind();
  pair* volatile nothing = nullptr;
  std::thread other([&] {
    if (WAY == 2) std::abort();
    if (WAY == 3) nothing->second = nullptr;
    if (WAY == 4) throw std::runtime_error("nobody catches this");
    if (WAY == 6) lock.unlock();
    if (WAY == 8) pthread_exit(nullptr);
    failed.store(true, std::memory_order::relaxed);
  });
  if (WAY == 7) {
    std::atomic<int> never{0};
    while (never.load(std::memory_order::relaxed) == 0) {
    }
  }
  other.join();
  int* const number = new int(1);
  int* volatile p = WAY == 5 ? &variable : number;
  if (WAY == 9) fork();
  if (WAY == 14) execv("/bin/true", nullptr);
  if (WAY == 10) {
    pthread_t self = pthread_self();
    pthread_detach(self);
    pthread_join(self, nullptr);
  }
  free(p);
  if (WAY == 11) free(p);
  if (WAY == 12) return *p == 1;
  if (WAY == 13) assert(!failed);
  return WAY == 1 ? 3 : 0;
}
