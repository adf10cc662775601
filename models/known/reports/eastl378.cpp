// SPDX-License-Identifier: MIT
// Two threads give up their shared pointer: the object and the counters are freed.
#include <thread>

#include <EASTL/shared_ptr.h>

void* operator new[](size_t size, const char*, int, unsigned, const char*, int) { return operator new[](size); }
void* operator new[](size_t size, size_t, size_t, const char*, int, unsigned, const char*, int) {
  return operator new[](size);
}

int main() {
  eastl::shared_ptr<int> first(new int(1));
  eastl::shared_ptr<int> second = first;
  std::thread other([&second] { second.reset(); });
  first.reset();
  other.join();
}
