// SPDX-License-Identifier: MIT
// A reference count: the last owner deletes the object. It must see what other owners did with it: they release when
// they give up a reference, and the last one acquires. So shared_ptr counts down with acq_rel, and up with relaxed.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL use after free
// check -DWRONG_LAST: FAIL use after free
#include <atomic>
#include <thread>

#ifdef WRONG
constexpr auto let_go = std::memory_order::acquire;
#elif defined(WRONG_LAST)
constexpr auto let_go = std::memory_order::release;
#else
constexpr auto let_go = std::memory_order::acq_rel;
#endif

struct counted {
  std::atomic<int> owners{1};
  int used_by[2] = {};
};

void drop(counted* object) {
  if (object->owners.fetch_sub(1, let_go) == 1) delete object;
}

int main() {
  auto* const object = new counted;
  object->owners.fetch_add(1, std::memory_order::relaxed);
  std::thread other([object] {
    object->used_by[1] = 1;
    drop(object);
  });
  object->used_by[0] = 1;
  drop(object);
  other.join();
}
