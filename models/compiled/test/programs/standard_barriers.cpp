// SPDX-License-Identifier: MIT
// std::barrier and std::latch: rounds without an order, right and wrong uses, and what falls back on each order.
// check: passes, 1 execution, +0 blocked
// check --barriers-in-order: passes, 36 executions
// check -DFEWER: FAIL deadlock
// check -DRACE: FAIL check failed
// check -DRACE --barriers-in-order: FAIL check failed
// check -DSPLIT: passes, 1 execution, +0 blocked
// check -DSPLIT -DFEWER: FAIL deadlock
// check -DSPLIT --barriers-in-order: passes, 6 executions
// check -DSPLIT -DRACE: FAIL data race
// check --all-failures 9 -DSPLIT -DRACE: FAIL 1 different failure in 4 of 6 executions
// check -DORDERED: passes, 1 execution, +0 blocked
// check -DDROP: passes, 1 execution, +0 blocked
// check -DDROP --barriers-in-order: passes, 12 executions
// check -DDROP -DFEWER: FAIL deadlock
// check -DDROP -DANY: FAIL check failed
// check -DCOMPLETION: passes, 9 executions, +0 blocked
// check -DCOMPLETION --barriers-in-order: passes, 36 executions
// check -DCOMPLETION -DRACE: FAIL data race
// check -DCOMPLETION -DANY: FAIL check failed
// check -DLATE_COMPLETION: passes, 2 executions
// check -DLATCH: passes, 1 execution, +0 blocked
// check -DLATCH --barriers-in-order: passes, 6 executions
// check -DLATCH -DFEWER: FAIL deadlock
// check -DLATCH -DRACE: FAIL check failed
// check -DTRY: passes, 6 executions
// check -DTRY -DRACE: FAIL check failed
// check -DSEVERAL: passes, 1 execution, +0 blocked
// check -DSEVERAL -DANY: FAIL check failed
// check -DAGAIN: passes, 1 execution, +0 blocked
// check -DNOBODY: passes, 1 execution
// check -DNOBODY -DFEWER: FAIL deadlock
// check -DMOVED: passes, 1 execution
// check -DMOVED -DANY: FAIL check failed
// check -DLATER: passes, 1 execution
// check -DOLD_TOKEN: FAIL misuse
// check -DOLD_TOKEN --barriers-in-order: FAIL misuse
// check -DOLD_TOKEN_BESIDE: FAIL misuse
// check -DOLD_TOKEN_BESIDE --barriers-in-order: FAIL misuse
// check -DOLD_COMPLETION: FAIL misuse
// check -DOTHER_TOKEN: FAIL misuse
// check -DTOO_MANY: FAIL misuse
// check -DTOO_MANY_BESIDE: FAIL misuse
// check -DTOO_MANY_AT_ONCE: FAIL misuse
// check -DALL_DROPPED: FAIL misuse
// check -DDURING: FAIL misuse
// check -DNEGATIVE: FAIL misuse
// check -DTHROWS: FAIL crash
// check -DACCESSED: passes, 1 execution
// check -DACCESSED -DRACE: FAIL check failed
// check -DDESTROYED_AFTER: passes, 1 execution
// check -DDESTROYED_AFTER --barriers-in-order: passes, 1 execution
// check -DDESTROYED_BESIDE: FAIL use after free
// check -DDESTROYED_BESIDE --barriers-in-order: FAIL use after free
// check -DDESTROYED_BEFORE: FAIL use after free
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

constexpr int threads = 3;
#ifdef FEWER
constexpr int needed = threads + 1;
#else
constexpr int needed = threads;
#endif

int data[threads];
int rounds;

void write(int own) { data[own] = rounds + 1; }
void read_all(int first = 0) {
  for (int i = first; i != threads; ++i) assert(data[i] == rounds + 1);
}
template <class Function>
void run_threads(Function f) {
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i) all.emplace_back(f, i);
  for (std::thread& t : all) t.join();
}
template <class Main, class Other>
void run_beside(Main main, Other other) {
  std::thread t(other);
  main();
  t.join();
}

#if defined(SPLIT)
std::barrier<> all(needed);
int main() {
  run_threads([](int own) {
    write(own);
    auto token = all.arrive();
#ifdef FEWER
    static std::atomic<int> beside{0};
    beside.store(own);
#endif
#ifdef RACE
    volatile int seen = data[0];
    static_cast<void>(seen);
#endif
    all.wait(std::move(token));
    read_all();
  });
}
#elif defined(ORDERED)
// A thread that comes to the next round because of what it has read from one that has gone on.
std::barrier<> all(2);
std::atomic<bool> over{false};
int main() {
  run_threads([](int own) {
    if (own == 2) {
      while (!over.load(std::memory_order::relaxed)) {
      }
      return all.arrive_and_wait();
    }
    all.arrive_and_wait();
    if (own == 1) return;
    over.store(true, std::memory_order::relaxed);
    all.arrive_and_wait();
  });
}
#elif defined(DROP)
std::barrier<> all(needed);
int main() {
  run_threads([](int own) {
    write(own);
    if (own == 0) return all.arrive_and_drop();
    all.arrive_and_wait();
    read_all();
    all.arrive_and_wait();
    data[own] = 2;
#ifdef ANY
    assert(own == 1);
#endif
  });
}
#elif defined(COMPLETION)
// Any thread may call the completion function, before the first one goes on.
thread_local int number = 0;
std::barrier all(needed, []() noexcept {
#ifdef ANY
  assert(number == 1);
#endif
  read_all();
  ++rounds;
});
int main() {
  run_threads([](int own) {
    number = own;
    for (int round = 1; round != 3; ++round) {
      data[own] = round;
#ifdef RACE
      static_cast<void>(all.arrive());
      if (round == 1) break;
#endif
      all.arrive_and_wait();
      assert(rounds == round);
    }
#ifdef RACE
    volatile int seen = rounds;
    static_cast<void>(seen);
#endif
  });
}
#elif defined(LATE_COMPLETION)
std::barrier all(2, []() noexcept { ++rounds; });
int main() {
  run_beside(
      [] {
        auto token = all.arrive();
        all.wait(std::move(token));
        assert(rounds == 1);
      },
      [] { all.arrive_and_wait(); });
}
#elif defined(LATCH) || defined(TRY)
std::latch all(needed);
int main() {
  run_threads([](int own) {
    write(own);
    all.count_down();
#if !defined(RACE) && defined(TRY)
    while (!all.try_wait()) {
    }
#elif !defined(RACE)
    all.wait();
#elif defined(TRY)
    static_cast<void>(all.try_wait());
#endif
    read_all();
  });
}
#elif defined(SEVERAL)
// One thread counts several times.
std::latch all(4);
int main() {
  run_beside(
      [] {
        all.wait();
#ifdef ANY
        assert(rounds != 3);
#endif
        assert(rounds == 3);
      },
      [] {
        for (; rounds != 2; ++rounds) all.count_down();
        ++rounds;
        all.count_down(2);
      });
}
#elif defined(AGAIN)
// Each is another one, in the same memory.
int main() {
  for (int i = 1; i != 4; ++i) {
    std::latch both(2);
    run_beside(
        [&] {
          both.arrive_and_wait();
          assert(rounds == i);
        },
        [&] {
          rounds = i;
          both.count_down();
        });
  }
}
#elif defined(NOBODY)
std::latch all(needed - threads);
int main() {
  all.wait();
  assert(all.try_wait());
}
#elif defined(MOVED)
std::barrier<> all(1);
int main() {
  auto token = all.arrive();
  run_beside([] {},
             [&] {
               all.wait(std::move(token));
#ifdef ANY
               assert(rounds != 0);
#endif
             });
}
#elif defined(LATER) || defined(OLD_TOKEN)
std::barrier<> all(1);
int main() {
  auto first = all.arrive();
#ifdef LATER
  all.wait(std::move(first));
  auto second = all.arrive();
#else
  auto second = all.arrive();
  all.wait(std::move(first));
#endif
  all.wait(std::move(second));
}
#elif defined(OLD_TOKEN_BESIDE)
std::barrier<> all(1);
int main() {
  auto token = all.arrive();
  run_beside([&] { all.wait(std::move(token)); }, [] { static_cast<void>(all.arrive()); });
}
#elif defined(OLD_COMPLETION)
std::barrier all(1, []() noexcept { ++rounds; });
int main() {
  auto token = all.arrive();
  run_beside([&] { all.wait(std::move(token)); }, [] { all.arrive_and_wait(); });
}
#elif defined(OTHER_TOKEN)
std::barrier<> one(1), other(1);
int main() {
  other.wait(one.arrive());
  return 0;
}
#elif defined(TOO_MANY)
std::latch all(1);
int main() {
  all.count_down();
  all.count_down();
}
#elif defined(TOO_MANY_BESIDE)
std::latch all(1);
int main() {
  run_beside([] { all.count_down(); }, [] { all.count_down(); });
  return 0;
}
#elif defined(TOO_MANY_AT_ONCE)
std::barrier<> all(2);
int main() {
  static_cast<void>(all.arrive(3));
  return 0;
}
#elif defined(ALL_DROPPED)
std::barrier<> all(1);
int main() {
  all.arrive_and_drop();
  all.arrive_and_wait();
}
#elif defined(DURING)
// The next phase has not begun while the completion function is called.
struct calls {
  void operator()() noexcept;
};
std::barrier<calls> all(1);
void calls::operator()() noexcept { static_cast<void>(all.arrive()); }
int main() {
  all.arrive_and_wait();
  return 0;
}
#elif defined(NEGATIVE)
int main() {
  std::latch all(-1);
  return 0;
}
#elif defined(THROWS)
std::barrier all(1, [] { throw 1; });
int main() {
  all.arrive_and_wait();
  return 0;
}
#elif defined(ACCESSED)
std::barrier<> all(2);
int main() {
  std::thread t([] {
    data[0] = 1;
    all.arrive_and_wait();
  });
  // The program looks at the barrier's own memory.
  static_cast<void>(__atomic_load_n(reinterpret_cast<unsigned*>(&all), __ATOMIC_RELAXED));
#ifndef RACE
  all.arrive_and_wait();
#endif
  assert(data[0] == 1);
#ifdef RACE
  all.arrive_and_wait();
#endif
  t.join();
}
#elif defined(DESTROYED_AFTER) || defined(DESTROYED_BESIDE)
int main() {
  auto latch = std::make_unique<std::latch>(1);
#ifdef DESTROYED_AFTER
  // Who counts looks at it no more.
  std::thread t([&l = *latch] { l.count_down(); });
  latch->wait();
#else
  // Who waits may do so later.
  std::thread t([&l = *latch] { l.wait(); });
  latch->count_down();
#endif
  latch.reset();
  t.join();
}
#elif defined(DESTROYED_BEFORE)
int main() {
  auto latch = std::make_unique<std::latch>(1);
  std::latch& l = *latch;
  latch.reset();
  l.count_down();
}
#else
std::barrier<> all(needed);
int main() {
  run_threads([](int own) {
    write(own);
#ifdef RACE
    static_cast<void>(all.arrive());
#else
    all.arrive_and_wait();
#endif
    read_all();
    all.arrive_and_wait();
    data[own] = 2;
  });
}
#endif
