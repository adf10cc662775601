// SPDX-License-Identifier: MIT
// A race that somebody accepts: a statistic. Behind it, with WRONG, there is another failure. With ATOMIC the statistic
// is what an accepted race makes of it: relaxed.
#include <atomic>
#include <cassert>
#include <thread>

#if defined(ATOMIC)
std::atomic<int> hits{0};
int read_hits() { return hits.load(std::memory_order::relaxed); }
void write_hits(int n) { hits.store(n, std::memory_order::relaxed); }
#else
int hits;
int read_hits() { return hits; }      // read
void write_hits(int n) { hits = n; }  // write
#endif

#if defined(WRONG)
constexpr auto publishes = std::memory_order::relaxed;
#else
constexpr auto publishes = std::memory_order::release;
#endif

int data;
std::atomic<int> flag{0};

int main() {
  std::thread a([] {
    write_hits(read_hits() + 1);
    data = 1;  // published
    flag.store(1, publishes);
  });
  std::thread b([] {
    write_hits(read_hits() + 1);
    if (flag.load(std::memory_order::acquire) == 1) assert(data == 1);
  });
  a.join();
  b.join();
  assert(read_hits() == 1 || read_hits() == 2);
}
