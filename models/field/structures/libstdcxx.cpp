// SPDX-License-Identifier: MIT
// Structures of libstdc++: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_std_shared_mutex
// std::shared_mutex of libstdc++, which is a read-write lock of pthreads.
#include <shared_mutex>

#include "../field.hpp"

using number = runq::field::shared_number<std::shared_mutex>;

RUNQ_FIELD(runq::field::write_and_read<number>)
#endif

#ifdef FIELD_std_latch
// std::latch of libstdc++: what is written before a count is seen after the wait.
#define RUNQ_CHECK_LIBRARY_BARRIERS
#include <latch>

#include "../field.hpp"

class gate {
 public:
  int arrive() {
    written_[arrived_.fetch_add(1, std::memory_order::relaxed)] = 1;
    latch_.count_down();
    return 1;
  }
  int wait() {
    latch_.wait();
    return written_[0] + written_[1];
  }
  bool try_wait() { return latch_.try_wait(); }

 private:
  std::latch latch_{2};
  std::atomic<unsigned> arrived_{0};
  std::array<int, 2> written_{};
};
class specification {
 public:
  int arrive() {
    if (arrived_ == 2) runq::not_allowed();
    ++arrived_;
    return 1;
  }
  int wait() {
    if (arrived_ != 2) runq::wait_for_another_call();
    return 2;
  }
  /// May fail for no reason.
  bool try_wait() { return runq::any_of(2) == 0 && arrived_ == 2; }

 private:
  int arrived_ = 0;
};

static auto make_test() {
  runq::linearizable<gate, specification> test;
  test.operation("arrive", RUNQ_CODE([](auto& g) { return g.arrive(); }));
  test.operation("wait", RUNQ_CODE([](auto& g) { return g.wait(); }));
  test.operation("try_wait", RUNQ_CODE([](auto& g) { return g.try_wait(); }));
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_std_counting_semaphore
// std::counting_semaphore of libstdc++.
#include <semaphore>

#include "../field.hpp"

class semaphore {
 public:
  void acquire() { semaphore_.acquire(); }
  bool try_acquire() { return semaphore_.try_acquire(); }
  void release() { semaphore_.release(); }

 private:
  std::counting_semaphore<> semaphore_{1};
};
/// try_acquire() may fail for no reason.
class specification : public runq::spec::semaphore {
 public:
  specification() : runq::spec::semaphore(1) {}
  bool try_acquire() { return runq::any_of(2) == 0 && runq::spec::semaphore::try_acquire(); }
};

static auto make_test() {
  runq::linearizable<semaphore, specification> test;
  test.operation("acquire", RUNQ_CODE([](auto& s) { return s.acquire(); }));
  test.operation("try_acquire", RUNQ_CODE([](auto& s) { return s.try_acquire(); }));
  test.operation("release", RUNQ_CODE([](auto& s) { return s.release(); }));
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_std_barrier
// std::barrier of libstdc++: three threads have to arrive, and the thread that makes the barrier is one of them. A
// thread that has waited sees what the others wrote before they arrived, and the completion has run once.
#define RUNQ_CHECK_LIBRARY_BARRIERS
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
#endif

#ifdef FIELD_std_stop_token
// std::stop_source and std::stop_token of libstdc++: one request wins, and a callback runs once if one has been made.
// One thread at most registers callbacks.
#include <stop_token>
#include <utility>

#include "../field.hpp"

class stop {
 public:
  bool request() { return source_.request_stop(); }
  bool requested() { return token_.stop_requested(); }
  /// How often a callback has run that existed for a moment.
  int listen() {
    int runs = 0;
    {
      const std::stop_callback callback(token_, [&runs] { ++runs; });
    }
    return runs;
  }

 private:
  std::stop_source source_;
  std::stop_token token_ = source_.get_token();
};
class specification {
 public:
  bool request() { return !std::exchange(requested_, true); }
  [[nodiscard]] bool requested() const { return requested_; }
  [[nodiscard]] int listen() const { return requested_ ? 1 : 0; }

 private:
  bool requested_ = false;
};

static auto make_test() {
  runq::linearizable<stop, specification> test;
  test.operation("request", RUNQ_CODE([](auto& s) { return s.request(); }));
  test.operation("requested", RUNQ_CODE([](auto& s) { return s.requested(); }));
  test.operation("listen", RUNQ_CODE([](auto& s) { return s.listen(); })).by("listener");
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_std_call_once
// std::call_once of libstdc++, which is that of pthreads.
#include <mutex>

#include "../field.hpp"

class once {
 public:
  /// How often the value has been made: by the first caller, for all.
  int get() {
    std::call_once(made_, [this] { ++value_; });
    return value_;
  }

 private:
  std::once_flag made_;
  int value_ = 0;
};
class specification {
 public:
  [[nodiscard]] int get() const { return 1; }
};

static auto make_test() {
  runq::linearizable<once, specification> test;
  test.operation("get", RUNQ_CODE([](auto& o) { return o.get(); }));
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_std_atomic_wait
// std::atomic::wait and notify_all of libstdc++, after a release store.
#include <atomic>

#include "../field.hpp"

class flag {
 public:
  void set() {
    letter_ = 1;
    flag_.store(1, std::memory_order::release);
    flag_.notify_all();
  }
  int wait() {
    flag_.wait(0, std::memory_order::acquire);
    return letter_;
  }

 private:
  std::atomic<int> flag_{0};
  int letter_ = 0;
};

static auto make_test() { return runq::field::set_and_wait<flag>(); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_std_atomic_shared_ptr
// std::atomic<std::shared_ptr> of libstdc++, which locks a bit of the pointer.
#include <atomic>
#include <memory>

#include "../field.hpp"

class pointer {
 public:
  int load() { return *pointer_.load(); }
  void store(int value) { pointer_.store(std::make_shared<int>(value)); }
  int exchange(int value) { return *pointer_.exchange(std::make_shared<int>(value)); }

 private:
  std::atomic<std::shared_ptr<int>> pointer_{std::make_shared<int>(0)};
};
class specification : public runq::spec::reg<int> {
 public:
  int load() { return read(); }
  void store(int value) { write(value); }
};

static auto make_test() {
  runq::linearizable<pointer, specification> test;
  test.operation("load", RUNQ_CODE([](auto& p) { return p.load(); }));
  test.operation("store", RUNQ_CODE([](auto& p, int value) { p.store(value); }), runq::fresh);
  test.operation("exchange", RUNQ_CODE([](auto& p, int value) { return p.exchange(value); }), runq::fresh);
  return test;
}

RUNQ_FIELD(make_test)
#endif
