// SPDX-License-Identifier: MIT
// Structures of moodycamel: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_moodycamel_concurrent_queue
// moodycamel::ConcurrentQueue without tokens. It orders only the elements of one producer.
#include <optional>
#include <set>

#include <concurrentqueue/concurrentqueue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }
  std::set<int> all() { return runq::field::take_all(*this); }

 private:
  moodycamel::ConcurrentQueue<int> queue_{2};
};

static auto make_test() {
  auto test = runq::field::push_and_pop<queue, runq::field::queue_of_each_producer>();
  test.finally("all", RUNQ_CODE([](auto& q) { return q.all(); }));
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_moodycamel_reader_writer_queue
// moodycamel::ReaderWriterQueue: blocks of a ring, one producer and one consumer; a full block is followed by a new
// one.
#include <optional>

#include <readerwriterqueue/readerwriterqueue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  moodycamel::ReaderWriterQueue<int, 2> queue_{1};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(3); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_moodycamel_circular_buffer
// moodycamel::BlockingReaderWriterCircularBuffer, whose operations here do not wait: a ring and two semaphores.
#include <optional>

#include <readerwriterqueue/readerwritercircularbuffer.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  moodycamel::BlockingReaderWriterCircularBuffer<int> queue_{4};
};

static auto make_test() { return runq::field::producer_and_consumer<queue>(4); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_moodycamel_semaphore
// moodycamel::LightweightSemaphore: a counter, and a semaphore of POSIX to sleep on. Its header must come
// after the other one.
// clang-format off
#include <concurrentqueue/concurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>
// clang-format on

#include "../field.hpp"

class semaphore {
 public:
  void acquire() { semaphore_.wait(); }
  bool try_acquire() { return semaphore_.tryWait(); }
  void release() { semaphore_.signal(); }

 private:
  moodycamel::LightweightSemaphore semaphore_{1, 0};
};
class specification : public runq::spec::semaphore {
 public:
  specification() : runq::spec::semaphore(1) {}
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
