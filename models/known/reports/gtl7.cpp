// SPDX-License-Identifier: MIT
// The writer publishes 1, 2, 3; what the reader sees never goes back.
#include <cassert>
#include <thread>

#include "triple_buffer"

#ifdef OWNS_BUFFERS  // the mended version has the buffers inside
gtl::triple_buffer<int> buffer;
#else
int first, second, third;
gtl::triple_buffer<int> buffer(first, second, third);
#endif

int main() {
  std::thread writer([] {
    for (int value = 1; value <= 3; ++value) {
      buffer.get_write() = value;
      buffer.update_write();
    }
  });
  int last = 0;
  for (int round = 0; round < 2; ++round) {
    if (!buffer.update_read()) continue;
    const int value = buffer.get_read();
    assert(value > last);
    last = value;
  }
  writer.join();
}
