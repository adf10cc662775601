// SPDX-License-Identifier: MIT
// Annotations for ThreadSanitizer do nothing here: they neither order what is not ordered, nor hide a race.
// check: exhaustive, 2 executions
// check -DRACE: FAIL data race
#include <atomic>
#include <thread>

extern "C" {
void AnnotateHappensBefore(const char* file, int line, const volatile void* at);
void AnnotateHappensAfter(const char* file, int line, const volatile void* at);
void AnnotateBenignRaceSized(const char* file, int line, const volatile void* at, unsigned long size, const char* what);
void __tsan_acquire(void* at);
void __tsan_release(void* at);
}

int data = 0;
std::atomic<bool> ready{false};
#ifdef RACE
constexpr auto published = std::memory_order::relaxed;
#else
constexpr auto published = std::memory_order::release;
#endif

int main() {
  AnnotateBenignRaceSized(__FILE__, __LINE__, &data, sizeof data, "");
  std::thread writer([] {
    data = 1;
    AnnotateHappensBefore(__FILE__, __LINE__, &data);
    __tsan_release(&data);
    ready.store(true, published);
  });
  if (ready.load(std::memory_order::acquire)) {
    AnnotateHappensAfter(__FILE__, __LINE__, &data);
    __tsan_acquire(&data);
    data = 2;
  }
  writer.join();
}
