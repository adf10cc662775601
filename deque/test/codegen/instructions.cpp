// SPDX-License-Identifier: MIT
// Counts the instructions that an operation of one_object executes, and those of the same operation by handles: steps a
// child process through 16 of each. Ends with 1 if the object's are more, with 2 if it cannot count.
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>

#include <runq/chase_lev.hpp>
#include <runq/local_queue.hpp>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct task {
  runq::inject_link<task> link{};
};
runq::inject<&task::link> global;
constexpr int times = 16;
task tasks[times];

// What a host writes without one_object: the queue, and its owner handle beside it.
template <class Queue>
struct handles {
  auto push(task* t) noexcept { return owner.push(t); }
  auto pop() noexcept { return owner.pop(); }
  auto steal() noexcept { return queue.make_thief().steal(); }
  auto steal_from(const handles& victim) noexcept { return owner.steal_from(victim.queue.make_thief()); }
  bool empty() const noexcept { return !queue.make_thief().has_work(); }
  std::size_t size() const noexcept { return queue.make_thief().size_approx(); }

  Queue queue;
  typename Queue::owner owner = queue.make_owner();
};

volatile std::size_t sink = 0;

// Each is a function of its own, so that a compiler cannot join it with its neighbours.
template <class Queue>
[[gnu::noinline]] void pushes(Queue& q) {
  for (int i = 0; i != times; ++i) sink = static_cast<std::size_t>(q.push(&tasks[i]));
}
template <class Queue>
[[gnu::noinline]] void pops(Queue& q) {
  for (int i = 0; i != times; ++i) sink = static_cast<bool>(q.pop());
}
template <class Queue>
[[gnu::noinline]] void steals(Queue& q) {
  for (int i = 0; i != times; ++i) sink = static_cast<bool>(q.steal());
}
template <class Queue>
[[gnu::noinline]] void steals_from(Queue& q, Queue& victim) {
  for (int i = 0; i != times; ++i) sink = static_cast<bool>(q.steal_from(victim));
}
template <class Queue>
[[gnu::noinline]] void empties(Queue& q) {
  for (int i = 0; i != times; ++i) sink = q.empty();
}
template <class Queue>
[[gnu::noinline]] void sizes(Queue& q) {
  for (int i = 0; i != times; ++i) sink = q.size();
}

[[noreturn]] void give_up(const char* why) {
  std::perror(why);
  std::_Exit(2);
}

// How many instructions a child executes between its two stops, in `work`, and in stopping.
template <class Work>
long instructions(Work&& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) std::_Exit(2);
    std::raise(SIGSTOP);
    work();
    std::raise(SIGSTOP);
    std::_Exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) give_up("no child to step through");
  long steps = 0;
  do {
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) give_up("PTRACE_SINGLESTEP");
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) give_up("the child has ended");
    ++steps;
  } while (WSTOPSIG(status) != SIGSTOP);
  ptrace(PTRACE_KILL, child, nullptr, nullptr);
  waitpid(child, &status, 0);
  return steps;
}

int more = 0;
long stopping = 0;

void compare(const char* queue, const char* operation, long by_handles, long by_object) {
  const auto each = [](long all) { return static_cast<double>(all - stopping) / times; };
  // A function may execute a few more instructions before its loop.
  const bool ok = by_object < by_handles + times;
  std::printf("%-17s %-10s %8.2f by handles %8.2f by one object%s\n", queue, operation, each(by_handles),
              each(by_object), ok ? "" : "  MORE");
  if (!ok) ++more;
}

// Filled by the parent, so that every child begins with the same queue.
template <class Handles, class Object>
void compare_all(const char* name, Handles& h, Object& o) {
  // A first round, so that no child grows the queue.
  pushes(h), pushes(o);
  pops(h), pops(o);
  pushes(h), pushes(o);
  const auto both = [&](const char* operation, auto&& work) {
    compare(name, operation, instructions([&] { work(h); }), instructions([&] { work(o); }));
  };
  both("pop", [](auto& q) { pops(q); });
  if constexpr (requires { o.steal(); }) both("steal", [](auto& q) { steals(q); });
  both("empty", [](auto& q) { empties(q); });
  both("size", [](auto& q) { sizes(q); });
  pops(h), pops(o);
  both("push", [](auto& q) { pushes(q); });
  both("pop empty", [](auto& q) { pops(q); });
}

template <class Queue, class... Argument>
void compare_queue(const char* name, Argument&... argument) {
  using handled = handles<Queue>;
  using object = runq::one_object<Queue>;
  const std::unique_ptr<handled> h(new handled{Queue(argument...)});
  const auto o = std::make_unique<object>(argument...);
  compare_all(name, *h, *o);
  if constexpr (requires { o->steal_from(*o); }) {
    const std::unique_ptr<handled> h2(new handled{Queue(argument...)});
    const auto o2 = std::make_unique<object>(argument...);
    pushes(*h), pushes(*o);
    compare(name, "steal_from", instructions([&] { steals_from(*h2, *h); }),
            instructions([&] { steals_from(*o2, *o); }));
    pops(*h), pops(*o);
  }
}

}  // namespace

int main() {
  stopping = instructions([] {});
  std::size_t capacity = 128;
  compare_queue<runq::chase_lev<task*>>("chase_lev", capacity);
  compare_queue<runq::bounded_chase_lev<task*>>("bounded_chase_lev", capacity);
  compare_queue<runq::ring<task*>>("ring");
  compare_queue<runq::split_ring<task*>>("split_ring");
  compare_queue<runq::split_deque<task*>>("split_deque");
  compare_queue<runq::local_queue<&task::link>>("local_queue", global);
  while (global.take() != nullptr) continue;
  return more == 0 ? 0 : 1;
}
