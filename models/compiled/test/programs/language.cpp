// SPDX-License-Identifier: MIT
// Usual code in many executions, one after the other: each must begin like the first.
// check: passes
#include <atomic>
#include <cassert>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct base {
  virtual ~base() = default;
  virtual int value() const { return 1; }
};
struct derived final : base {
  int value() const override { return 2; }
};

std::vector<int> global_vector{1, 2, 3};
std::map<std::string, int> global_map{{"one", 1}};
std::atomic<int> shared{0};
std::atomic<int> destroyed{0};

struct counted {
  counted() { live = 1; }
  ~counted() { destroyed.fetch_add(1, std::memory_order::relaxed); }
  int live = 0;
};
thread_local counted of_thread;
thread_local int plain_of_thread = 5;

const std::string& once() {
  static const std::string text(40, 'x');
  return text;
}

int main() {
  assert(global_vector.size() == 3);
  global_vector.push_back(4);
  assert(global_map.size() == 1);
  global_map["two"] = 2;
  assert(++plain_of_thread == 6);
  const std::shared_ptr<base> object = std::make_shared<derived>();
  const auto work = [object](int i) {
    assert(++plain_of_thread == 6);
    assert(of_thread.live == 1);
    assert(object->value() == 2);
    assert(once().size() == 40);
    try {
      if (shared.fetch_add(1) >= 0) throw std::runtime_error(std::to_string(i));
    } catch (const std::exception& e) {
      assert(e.what() == std::to_string(i));
    }
  };
  std::thread a(work, 1);
  std::thread b(work, 2);
  a.join();
  b.join();
  assert(destroyed.load() == 2);
  std::printf("%d\n", shared.load());
  std::cout << "a text " << 1.5 << std::endl;
}
