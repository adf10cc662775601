// SPDX-License-Identifier: MIT
// One thread sets the value, the other one says what follows.
#include <cassert>
#include <thread>

#include "async_simple/Future.h"
#include "async_simple/Promise.h"

int main() {
  async_simple::Promise<int> promise;
  auto future = promise.getFuture();
  int seen = 0;
  std::thread producer([&promise] { promise.setValue(1); });
  std::move(future).setContinuation([&seen](async_simple::Try<int>&& value) { seen = value.value(); });
  producer.join();
  assert(seen == 1);
}
