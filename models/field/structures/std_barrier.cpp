// SPDX-License-Identifier: MIT
// std::barrier of libstdc++: three threads have to arrive, and the thread that makes the barrier is one of them. A
// thread that has waited sees what the others wrote before they arrived, and the completion has run once.
#include <array>
#include <atomic>
#include <barrier>
#include <utility>

#include "../field.hpp"

class phase {
 public:
  /// Twice at most.
  void arrive() {
    written_[next_.fetch_add(1, std::memory_order::relaxed)] = 1;
    static_cast<void>(barrier_.arrive());
  }
  /// Once at most, which is how often an arrival's token may be waited for.
  std::array<int, 3> wait() {
    barrier_.wait(std::move(token_));
    return {written_[0], written_[1], completions_};
  }

 private:
  struct completion {
    int* count;
    void operator()() noexcept { ++*count; }
  };
  std::array<int, 2> written_{};
  std::atomic<unsigned> next_{0};
  int completions_ = 0;
  std::barrier<completion> barrier_{3, completion{&completions_}};
  std::barrier<completion>::arrival_token token_ = barrier_.arrive();
};
class specification {
 public:
  void arrive() {
    if (arrived_ == 2) runq::not_allowed();
    ++arrived_;
  }
  std::array<int, 3> wait() {
    if (waited_) runq::not_allowed();
    if (arrived_ != 2) runq::wait_for_another_call();
    waited_ = true;
    return {1, 1, 1};
  }

 private:
  int arrived_ = 0;
  bool waited_ = false;
};

static auto make_test() {
  runq::linearizable<phase, specification> test;
  test.operation("arrive", RUNQ_CODE([](auto& p) { p.arrive(); }));
  test.operation("wait", RUNQ_CODE([](auto& p) { return p.wait(); }));
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
