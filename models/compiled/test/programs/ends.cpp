// SPDX-License-Identifier: MIT
// check: exhaustive, 1 execution
// check -DABORT: FAIL abort()
// check -DTHROW: FAIL std::runtime_error: oh
// check -DTHROW_IN_THREAD: FAIL std::runtime_error: oh
// check -DNULL_POINTER: FAIL SEGV
// check -DSTATUS: FAIL status 3
// check -DEXIT: exhaustive, 1 execution
// check -DDEEP: FAIL used up its stack
// check -DDIVIDE: FAIL FPE
// check -DWILD: FAIL SEGV
// check -DWILD_LOCK: FAIL SEGV
// check -DMISALIGNED: FAIL misaligned address
// check -DALIGNMENT: FAIL no power of two
// check -DENDLESS: no verdict: limit reached: a thread runs for 5 s of processor time
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

int* volatile nowhere = nullptr;
std::atomic<int>* volatile no_variable = nullptr;
std::mutex* volatile no_mutex = nullptr;
alignas(8) char room_for_two[8];
int volatile zero = 0;

int deep(int n) {
  volatile char room[1024];
  room[0] = static_cast<char>(n);
  return n == 0 ? 0 : deep(n - 1) + room[0];
}

int main() {
  std::thread t([] {
#ifdef THROW_IN_THREAD
    throw std::runtime_error("oh");
#endif
  });
  t.join();
#if defined(ABORT)
  std::abort();
#elif defined(THROW)
  throw std::runtime_error("oh");
#elif defined(NULL_POINTER)
  *nowhere = 1;
#elif defined(STATUS)
  return 3;
#elif defined(EXIT)
  std::exit(0);
#elif defined(DEEP)
  return deep(1'000'000);
#elif defined(DIVIDE)
  return 100 / zero;
#elif defined(WILD)
  no_variable->store(1);
#elif defined(WILD_LOCK)
  no_mutex->lock();
#elif defined(MISALIGNED)
  __atomic_store_n(reinterpret_cast<int*>(room_for_two + 1 + zero), 1, __ATOMIC_RELAXED);
#elif defined(ALIGNMENT)
  nowhere = static_cast<int*>(std::aligned_alloc(static_cast<std::size_t>(3 + zero), 9));
#elif defined(ENDLESS)
  for (;;) asm volatile("");
#endif
}
