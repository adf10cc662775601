// SPDX-License-Identifier: MIT
// Operations use a descriptor's number while other threads close the descriptor, or give it up. The number is freed
// exactly once, after its last use: before close() returns, unless an operation is still in progress.
#include "runq/protocol/fd_uses.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

/// A descriptor, as connection.hpp has it. The number is plain memory: 1 while it is the descriptor's.
struct descriptor : scenario {
  void operation() {
    if (!uses.begin()) return told();
    require(number.get() == 1, "an operation uses a number that was freed");
    leave();
  }
  void close() {
    if (!uses.close()) return;
    const bool in_use = uses.used_by_others();
    const bool freed = leave();
    require(in_use || freed, "close() has returned, no operation uses the number, and it is not free");
  }
  void begin_to_give_up() {
    if (!uses.begin_close()) return;
    require(uses.begin(), "no operation begins although those in progress are not told");
    leave();
    before_cancel.set(1);
    uses.cancel();
    leave();
  }
  bool leave() {
    if (!uses.end()) return false;
    require(number.get() == 1, "a number is freed twice");
    number.set(0);
    return true;
  }
  void finish() override {
    require(uses.closed() && uses.canceled(), "the descriptor is not closed after its close");
    require(number.get() == 0, "the number is never freed");
  }
  virtual void told() {}

  fd_uses<atomics> uses;
  cell<int> number{1};
  cell<int> before_cancel{0};
};

// Operations ‖ close.
template <unsigned Operations>
struct use_vs_close final : descriptor {
  void thread(unsigned index) override { index < Operations ? operation() : close(); }
};

// Operation ‖ close ‖ close.
struct two_closes final : descriptor {
  void thread(unsigned index) override { index == 0 ? operation() : close(); }
};

// Operation ‖ the stream is destroyed, and operations are told a little later.
struct use_vs_give_up final : descriptor {
  void thread(unsigned index) override { index == 0 ? operation() : begin_to_give_up(); }
  void told() override {
    require(before_cancel.get() == 1, "an operation is told of the close, but does not see what came before it");
  }
};

// Operation ‖ the stream is destroyed ‖ close.
struct give_up_vs_close final : descriptor {
  void thread(unsigned index) override {
    if (index == 0) {
      operation();
    } else if (index == 1) {
      begin_to_give_up();
    } else {
      close();
    }
  }
};

// A thread writes plain memory and closes ‖ an operation learns of the close: begin() fails, or it asks.
enum class by : std::uint8_t { beginning, closed, canceled };
template <by How>
struct told final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      before.set(1);
      require(uses.close(), "another thread has closed");
      (void)uses.end();
    } else if (is_told()) {
      require(before.get() == 1, "an operation is told of the close, but does not see what came before it");
    }
  }
  [[nodiscard]] bool is_told() {
    if (How == by::closed) return uses.closed();
    if (How == by::canceled) return uses.canceled();
    if (!uses.begin()) return true;
    (void)uses.end();
    return false;
  }

  fd_uses<atomics> uses;
  cell<int> before{0};
};

const bool added[] = {
    add_case<use_vs_close<1>>({
        .name = "fd_uses/use_vs_close",
        .property = "a number is freed once, after its last use, and when close() returns unless it is in use",
        .threads = 2,
        .mutants = {{"end_acquire", "fd_uses.end", std::memory_order::acquire},
                    {"end_release", "fd_uses.end", std::memory_order::release}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<use_vs_close<2>>({
        .name = "fd_uses/two_uses_vs_close",
        .property = "a number with two operations in progress is freed once, after the last of them",
        .threads = 3,
        .kept_for = "two operations are in progress",
    }),
    add_case<two_closes>({
        .name = "fd_uses/two_closes",
        .property = "of two threads that close a descriptor exactly one succeeds",
        .threads = 3,
        .kept_for = "both threads call close()",
    }),
    add_case<use_vs_give_up>({
        .name = "fd_uses/use_vs_give_up",
        .property = "operations begin until they are told of the close, and then see what came before",
        .threads = 2,
        .mutants = {{"cancel_relaxed", "fd_uses.cancel", std::memory_order::relaxed}},
        .kept_for = "operations begin until they are told",
    }),
    add_case<give_up_vs_close>({
        .name = "fd_uses/give_up_vs_close",
        .property = "a task closes a stream while another destroys it: exactly one of them closes the descriptor",
        .threads = 3,
    }),
    add_case<told<by::beginning>>({
        .name = "fd_uses/refused_use_sees_the_close",
        .property = "an operation that does not begin sees what came before the close",
        .threads = 2,
        .mutants = {{"look_relaxed", "fd_uses.look", std::memory_order::relaxed},
                    {"enter_relaxed", "fd_uses.enter", std::memory_order::relaxed},
                    {"enter_failure_relaxed", "fd_uses.enter", std::memory_order::relaxed, 1}},
        .kept_for = "the orders of a begin() that is refused",
    }),
    add_case<told<by::closed>>({
        .name = "fd_uses/closed_sees_the_close",
        .property = "a thread that is told by closed() of the close sees what came before it",
        .threads = 2,
        .mutants = {{"closed_relaxed", "fd_uses.closed", std::memory_order::relaxed}},
        .kept_for = "the order of closed()",
    }),
    add_case<told<by::canceled>>({
        .name = "fd_uses/canceled_sees_the_close",
        .property = "a thread that is told by canceled() of the close sees what came before it",
        .threads = 2,
        .mutants = {{"canceled_relaxed", "fd_uses.canceled", std::memory_order::relaxed}},
        .kept_for = "the order of canceled()",
    }),
};

}  // namespace
}  // namespace runq::model
