// SPDX-License-Identifier: MIT
// How many pairs of places it shows says power_test.py. Each of its functions is one place, or two.
#include <pthread.h>

namespace {

int x = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

[[gnu::noinline]] void write_x() { __atomic_store_n(&x, 1, __ATOMIC_RELAXED); }
[[gnu::noinline]] void read_x() { static_cast<void>(__atomic_load_n(&x, __ATOMIC_RELAXED)); }
[[gnu::noinline]] void use_mutex() {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

void do_nothing() {}
template <void (*Does)()>
void* thread(void*) {
  Does();
  return nullptr;
}
/// `Before`, then `Main` while another thread does `Other`, then `After`.
template <void (*Before)(), void (*Main)(), void (*Other)(), void (*After)()>
void run() {
  pthread_t other{};
  Before();
  pthread_create(&other, nullptr, &thread<Other>, nullptr);
  Main();
  pthread_join(other, nullptr);
  After();
}

}  // namespace

int main(int argc, char**) {
  switch (argc) {
    case 1: run<write_x, read_x, do_nothing, do_nothing>(); break;
    case 2: run<write_x, do_nothing, read_x, read_x>(); break;
    case 3: run<do_nothing, write_x, read_x, do_nothing>(); break;
    case 4: run<use_mutex, do_nothing, use_mutex, do_nothing>(); break;
    default: run<do_nothing, write_x, write_x, do_nothing>();
  }
}
