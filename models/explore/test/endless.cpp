// SPDX-License-Identifier: MIT
// A loop over plain memory, without a step: a list that has become a circle does not end (WAY 1). In the right twins
// the loop is long, and its rounds differ only in one place: a register or the stack (2), a static variable (3), the
// heap (4), a thread_local variable (5), memory that the program has mapped (6), the C library (7), the time (8). For
// power_test.py, which makes few runs.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <sys/mman.h>

constexpr unsigned rounds = 400'000;

struct node {
  node* next = nullptr;
  bool seen = false;
};
node nodes[2];
unsigned of_program = 0;
thread_local unsigned of_thread = 0;

void visit(node*& at) {
  at->seen = !at->seen;
  at = at->next;
}

/// As code does that is not instrumented: no hook sees that write.
[[gnu::no_sanitize("thread"), gnu::noinline]] unsigned count_unseen(volatile unsigned& n) { return n = n + 1; }

/// The number is in no register of the caller, nor on the stack, when this has returned.
[[gnu::noinline]] void count(volatile unsigned& n) { n = n + 1; }

void walk() {
  node* at = &nodes[0];
  if (WAY == 1) {
    while (at != nullptr) visit(at);
  }
  if (WAY == 2) {
    for (unsigned i = 0; i != rounds; ++i) visit(at);
  }
  if (WAY == 3) {
    while (count_unseen(of_program) != rounds) visit(at);
  }
  if (WAY == 4) {
    auto* const counted = new unsigned(0);
    while (count_unseen(*counted) != rounds) visit(at);
    delete counted;
  }
  if (WAY == 5) {
    while (count_unseen(of_thread) != rounds) visit(at);
  }
  if (WAY == 6) {
    void* const mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const counted = static_cast<volatile unsigned*>(mapped);
    for (; *counted != rounds; count(*counted)) visit(at);
    munmap(mapped, 4096);
  }
  if (WAY == 7) {
    std::srand(1);
    while (std::rand() % 1'000'000 != 0) visit(at);
  }
  if (WAY == 8) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(40);
    while (std::chrono::steady_clock::now() < end) {
      for (unsigned i = 0; i != 100; ++i) visit(at);
    }
  }
}

int main() {
  nodes[0].next = &nodes[1];
  nodes[1].next = &nodes[0];
  std::thread(walk).join();
  return 0;
}
