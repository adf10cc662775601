// SPDX-License-Identifier: MIT
// The C interface: every function of runq.h is one call of the C++ queue behind it.
//
// Compile it with C++20 and without exceptions, and it needs no C++ run-time library, so that a C program is linked by
// its C compiler: the policy below takes memory from malloc() and its lock from POSIX threads.
#include "runq.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include <pthread.h>
#include <runq/chase_lev.hpp>
#include <runq/inject.hpp>
#include <runq/local_queue.hpp>
#include <runq/membarrier.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>
#include <runq/shared_fifo.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

// Not an anonymous namespace, because the structs of runq.h, which have linkage, are made of these types.
namespace runq_c {

struct c_atomics : runq::std_atomics {
  class mutex {
   public:
    mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() { pthread_mutex_destroy(&mutex_); }
    void lock() noexcept { pthread_mutex_lock(&mutex_); }
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
    bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }

   private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  };
  static void* allocate(std::size_t bytes) noexcept { return std::malloc(bytes); }
  static void deallocate(void* p) noexcept { std::free(p); }
};

// The object in a runq_task's memory while a queue has the task. C++ gives memory a new object by placement new, so
// every push makes a node of the task; C code never looks into it.
struct node {
  runq::inject_link<node, c_atomics> link;
};
static_assert(sizeof(node) <= sizeof(runq_task) && alignof(node) <= alignof(runq_task));

using ring = runq::basic_ring<void*, RUNQ_RING_CAPACITY, std::uint64_t, c_atomics>;
using runnext = runq::basic_runnext<void*, c_atomics>;
using chase_lev = runq::basic_chase_lev<void*, c_atomics>;
using bounded_chase_lev = runq::basic_chase_lev<void*, c_atomics, runq::when_full::refuse>;
using shared_fifo = runq::basic_shared_fifo<void*, c_atomics>;
// They allocate nothing and have no lock, so the policy that ships serves C as it is.
using split_ring = runq::split_ring<void*>;
using split_deque = runq::split_deque<void*>;
static_assert(split_ring::capacity() == RUNQ_SPLIT_RING_CAPACITY);
static_assert(split_deque::capacity() == RUNQ_SPLIT_DEQUE_CAPACITY);
using global_queue = runq::inject<&node::link>;
using local_queue = runq::local_queue<&node::link>;

static_assert(RUNQ_DEFAULT_BACKOFF == runnext::default_backoff);

// A queue and its owner handle. C has no owner type, so the caller must see to it that only one thread at a time uses
// it.
template <class Queue>
struct with_owner {
  template <class... Arguments>
  explicit with_owner(Arguments&... arguments) noexcept : queue(arguments...) {}
  Queue queue;
  typename Queue::owner owner = queue.make_owner();
};

}  // namespace runq_c

struct runq_ring : runq_c::with_owner<runq_c::ring> {
  using with_owner::with_owner;
};
struct runq_runnext : runq_c::with_owner<runq_c::runnext> {
  using with_owner::with_owner;
};
struct runq_chase_lev : runq_c::with_owner<runq_c::chase_lev> {
  using with_owner::with_owner;
};
struct runq_bounded_chase_lev : runq_c::with_owner<runq_c::bounded_chase_lev> {
  using with_owner::with_owner;
};
struct runq_split_ring : runq_c::with_owner<runq_c::split_ring> {
  using with_owner::with_owner;
};
struct runq_split_deque : runq_c::with_owner<runq_c::split_deque> {
  using with_owner::with_owner;
};
struct runq_shared_fifo {
  runq_c::shared_fifo queue{};
};
struct runq_global {
  runq_c::global_queue queue{};
};

struct runq_local_queue : runq_c::with_owner<runq_c::local_queue> {
  using with_owner::with_owner;
};

namespace {

runq_c::node* node_of(runq_task* task) noexcept { return ::new (static_cast<void*>(task)) runq_c::node; }
runq_task* task_of(runq_c::node* n) noexcept { return static_cast<runq_task*>(static_cast<void*>(n)); }

// Makes a list of tasks in an array, because the C++ queues take lists.
runq_c::global_queue::chain chain_of(runq_task* const* tasks, std::size_t count) noexcept {
  runq_c::global_queue::chain batch;
  for (std::size_t i = 0; i != count; ++i) batch.push_back(node_of(tasks[i]));
  return batch;
}

runq_status status_of(runq::steal_status s) noexcept {
  switch (s) {
    case runq::steal_status::taken: return RUNQ_OK;
    case runq::steal_status::empty: return RUNQ_EMPTY;
    case runq::steal_status::lost: break;
  }
  return RUNQ_LOST;
}

// Hands out what was stolen, if anything was.
runq_status give(const runq::steal_result<void*>& loot, void** element) noexcept {
  if (loot) *element = loot.value;
  return status_of(loot.status);
}

runq_status give(const std::optional<void*>& popped, void** element) noexcept {
  if (popped) *element = *popped;
  return popped ? RUNQ_OK : RUNQ_EMPTY;
}

template <class Observation>
runq_observation seen_of(const Observation& seen) noexcept {
  return {seen.empty(), seen.puts};
}

template <class Queue>
runq_status steal_half_into(const Queue& victim, Queue& into, std::size_t limit, void** element, std::size_t* taken) {
  if (&victim == &into || limit == 0) return RUNQ_INVALID;
  const auto loot = victim.queue.make_thief().steal_half_into(into.owner, limit);
  if (loot && taken != nullptr) *taken = loot.count;
  return give(loot, element);
}

template <class Queue>
runq_status steal_half(const Queue& victim, void** elements, std::size_t room, std::size_t* taken) {
  if (room == 0) return RUNQ_INVALID;
  const auto loot = victim.queue.make_thief().steal_half(std::span(elements, room));
  if (loot) *taken = loot.count;
  return status_of(loot.status);
}

// The queues are aligned to cache lines, which malloc() does not promise.
template <class T, class... Arguments>
T* create(Arguments&... arguments) noexcept {
  void* memory = nullptr;
  return posix_memalign(&memory, alignof(T), sizeof(T)) == 0 ? ::new (memory) T(arguments...) : nullptr;
}

template <class T>
void destroy(T* object) noexcept {
  if (object == nullptr) return;
  object->~T();
  std::free(object);
}

}  // namespace

extern "C" {

const char* runq_status_text(runq_status status) {
  switch (status) {
    case RUNQ_OK: return "ok";
    case RUNQ_EMPTY: return "empty";
    case RUNQ_LOST: return "lost";
    case RUNQ_FULL: return "full";
    case RUNQ_NO_MEMORY: return "no memory";
    case RUNQ_INVALID: return "invalid";
  }
  return "unknown";
}

runq_ring* runq_ring_create(void) { return create<runq_ring>(); }
void runq_ring_destroy(runq_ring* ring) { destroy(ring); }
void runq_ring_hand_over(runq_ring* ring) { ring->owner.rebind(); }

runq_status runq_ring_push(runq_ring* ring, void* element) { return ring->owner.push(element) ? RUNQ_OK : RUNQ_FULL; }
size_t runq_ring_push_batch(runq_ring* ring, void* const* elements, size_t count) {
  return ring->owner.push_batch(std::span(elements, count));
}
runq_status runq_ring_pop(runq_ring* ring, void** element) { return give(ring->owner.pop(), element); }
size_t runq_ring_shed_half(runq_ring* ring, void** elements) {
  return ring->owner.shed_half(std::span<void*, RUNQ_RING_CAPACITY / 2>(elements, RUNQ_RING_CAPACITY / 2));
}
size_t runq_ring_room(runq_ring* ring) { return ring->owner.room(); }

runq_status runq_ring_steal(const runq_ring* victim, void** element) {
  return give(victim->queue.make_thief().steal(), element);
}
runq_status runq_ring_steal_half_into(const runq_ring* victim, runq_ring* into, size_t limit, void** element,
                                      size_t* taken) {
  return steal_half_into(*victim, *into, limit, element, taken);
}
runq_status runq_ring_steal_half(const runq_ring* victim, void** elements, size_t room, size_t* taken) {
  return steal_half(*victim, elements, room, taken);
}
bool runq_ring_has_work(const runq_ring* ring) { return ring->queue.make_thief().has_work(); }
size_t runq_ring_size_approx(const runq_ring* ring) { return ring->queue.make_thief().size_approx(); }
runq_observation runq_ring_observe(const runq_ring* ring) {
  const auto seen = ring->queue.make_thief().observe();
  return {seen.empty(), seen.tail};
}
bool runq_ring_pushed_since(const runq_ring* ring, runq_observation seen) {
  return ring->queue.make_thief().pushed_since({.head = 0, .tail = seen.pushed});
}

runq_runnext* runq_runnext_create(void) { return create<runq_runnext>(); }
void runq_runnext_destroy(runq_runnext* slot) { destroy(slot); }
void runq_runnext_hand_over(runq_runnext* slot) { slot->owner.rebind(); }

runq_status runq_runnext_put(runq_runnext* slot, void* element, void** displaced) {
  if (element == nullptr) return RUNQ_INVALID;
  *displaced = slot->owner.put(element).value_or(nullptr);
  return RUNQ_OK;
}
runq_status runq_runnext_take(runq_runnext* slot, void** element) { return give(slot->owner.take(), element); }

runq_status runq_runnext_steal(const runq_runnext* slot, size_t backoff, void** element) {
  return give(slot->queue.make_thief().steal(backoff), element);
}
bool runq_runnext_has_work(const runq_runnext* slot) { return slot->queue.make_thief().has_work(); }
bool runq_runnext_has_work_approx(const runq_runnext* slot) { return slot->queue.make_thief().has_work_approx(); }

// The functions that both kinds of chase_lev have. Their names begin with NAME; a push that finds no room returns FULL.
// NOLINTBEGIN(bugprone-macro-parentheses): a parameter is a name.
#define RUNQ_CHASE_LEV_FUNCTIONS(NAME, FULL)                                                                  \
  void NAME##_destroy(NAME* deque) { destroy(deque); }                                                        \
  void NAME##_hand_over(NAME* deque) { deque->owner.rebind(); }                                               \
  runq_status NAME##_push(NAME* deque, void* element) { return deque->owner.push(element) ? RUNQ_OK : FULL; } \
  size_t NAME##_push_batch(NAME* deque, void* const* elements, size_t count) {                                \
    return deque->owner.push_batch(std::span(elements, count));                                               \
  }                                                                                                           \
  runq_status NAME##_pop(NAME* deque, void** element) { return give(deque->owner.pop(), element); }           \
  size_t NAME##_capacity(const NAME* deque) { return deque->queue.capacity(); }                               \
  runq_status NAME##_steal(const NAME* deque, void** element) {                                               \
    return give(deque->queue.make_thief().steal(), element);                                                  \
  }                                                                                                           \
  bool NAME##_has_work(const NAME* deque) { return deque->queue.make_thief().has_work(); }                    \
  size_t NAME##_size_approx(const NAME* deque) { return deque->queue.make_thief().size_approx(); }
// NOLINTEND(bugprone-macro-parentheses)

RUNQ_CHASE_LEV_FUNCTIONS(runq_chase_lev, RUNQ_NO_MEMORY)
runq_chase_lev* runq_chase_lev_create(size_t initial_capacity) { return create<runq_chase_lev>(initial_capacity); }

RUNQ_CHASE_LEV_FUNCTIONS(runq_bounded_chase_lev, RUNQ_FULL)
runq_bounded_chase_lev* runq_bounded_chase_lev_create(size_t capacity) {
  runq_bounded_chase_lev* const made = create<runq_bounded_chase_lev>(capacity);
  if (made == nullptr || made->queue.capacity() != 0) return made;
  destroy(made);
  return nullptr;
}

// The functions that split_ring and split_deque have. Their names begin with NAME.
// NOLINTBEGIN(bugprone-macro-parentheses): a parameter is a name.
#define RUNQ_SPLIT_FUNCTIONS(NAME)                                                                                  \
  NAME* NAME##_create(void) { return create<NAME>(); }                                                              \
  void NAME##_destroy(NAME* queue) { destroy(queue); }                                                              \
  void NAME##_hand_over(NAME* queue) { queue->owner.rebind(); }                                                     \
  runq_status NAME##_push(NAME* queue, void* element) { return queue->owner.push(element) ? RUNQ_OK : RUNQ_FULL; }  \
  runq_status NAME##_pop(NAME* queue, void** element) { return give(queue->owner.pop(), element); }                 \
  runq_status NAME##_steal(const NAME* victim, void** element) {                                                    \
    return give(victim->queue.make_thief().steal(), element);                                                       \
  }                                                                                                                 \
  runq_status NAME##_steal_half_into(const NAME* victim, NAME* into, size_t limit, void** element, size_t* taken) { \
    return steal_half_into(*victim, *into, limit, element, taken);                                                  \
  }                                                                                                                 \
  runq_status NAME##_steal_half(const NAME* victim, void** elements, size_t room, size_t* taken) {                  \
    return steal_half(*victim, elements, room, taken);                                                              \
  }                                                                                                                 \
  bool NAME##_has_work(const NAME* queue) { return queue->queue.make_thief().has_work(); }                          \
  size_t NAME##_size_approx(const NAME* queue) { return queue->queue.make_thief().size_approx(); }
// NOLINTEND(bugprone-macro-parentheses)

RUNQ_SPLIT_FUNCTIONS(runq_split_ring)
size_t runq_split_ring_push_batch(runq_split_ring* ring, void* const* elements, size_t count) {
  return ring->owner.push_batch(std::span(elements, count));
}
size_t runq_split_ring_room(runq_split_ring* ring) { return ring->owner.room(); }

RUNQ_SPLIT_FUNCTIONS(runq_split_deque)

runq_shared_fifo* runq_shared_fifo_create(void) { return create<runq_shared_fifo>(); }
void runq_shared_fifo_destroy(runq_shared_fifo* fifo) { destroy(fifo); }
runq_status runq_shared_fifo_put(runq_shared_fifo* fifo, void* element) {
  return fifo->queue.put(element) ? RUNQ_OK : RUNQ_NO_MEMORY;
}
runq_status runq_shared_fifo_put_batch(runq_shared_fifo* fifo, void* const* elements, size_t count) {
  return fifo->queue.put_batch({elements, count}) ? RUNQ_OK : RUNQ_NO_MEMORY;
}
runq_status runq_shared_fifo_take(runq_shared_fifo* fifo, void** element) { return give(fifo->queue.take(), element); }
size_t runq_shared_fifo_take_batch(runq_shared_fifo* fifo, size_t processors, void** elements, size_t room) {
  return room == 0 ? 0 : fifo->queue.take_batch(std::max<size_t>(processors, 1), {elements, room});
}
bool runq_shared_fifo_has_work(const runq_shared_fifo* fifo) { return fifo->queue.has_work(); }
bool runq_shared_fifo_has_work_approx(const runq_shared_fifo* fifo) { return fifo->queue.has_work_approx(); }
size_t runq_shared_fifo_size_approx(const runq_shared_fifo* fifo) { return fifo->queue.size_approx(); }
runq_observation runq_shared_fifo_observe(const runq_shared_fifo* fifo) { return seen_of(fifo->queue.observe()); }
bool runq_shared_fifo_pushed_since(const runq_shared_fifo* fifo, runq_observation seen) {
  return fifo->queue.pushed_since({.puts = static_cast<std::size_t>(seen.pushed)});
}

runq_global* runq_global_create(void) { return create<runq_global>(); }
void runq_global_destroy(runq_global* global) { destroy(global); }
void runq_global_put(runq_global* global, runq_task* task) { global->queue.put(node_of(task)); }
void runq_global_put_batch(runq_global* global, runq_task* const* tasks, size_t count) {
  global->queue.splice(chain_of(tasks, count));
}
runq_task* runq_global_take(runq_global* global) { return task_of(global->queue.take()); }
bool runq_global_has_work(const runq_global* global) { return global->queue.has_work(); }
bool runq_global_has_work_approx(const runq_global* global) { return global->queue.has_work_approx(); }
size_t runq_global_size_approx(const runq_global* global) { return global->queue.size_approx(); }
runq_observation runq_global_observe(const runq_global* global) { return seen_of(global->queue.observe()); }
bool runq_global_pushed_since(const runq_global* global, runq_observation seen) {
  return global->queue.pushed_since({.puts = static_cast<std::size_t>(seen.pushed)});
}

runq_local_queue* runq_local_queue_create(runq_global* global) { return create<runq_local_queue>(global->queue); }
void runq_local_queue_destroy(runq_local_queue* queue) { destroy(queue); }
void runq_local_queue_hand_over(runq_local_queue* queue) { queue->owner.rebind(); }

size_t runq_local_queue_push(runq_local_queue* queue, runq_task* task) { return queue->owner.push(node_of(task)); }
size_t runq_local_queue_push_next(runq_local_queue* queue, runq_task* task) {
  return queue->owner.push_next(node_of(task));
}
size_t runq_local_queue_push_batch(runq_local_queue* queue, runq_task* const* tasks, size_t count) {
  return queue->owner.push_batch(chain_of(tasks, count));
}
runq_task* runq_local_queue_pop(runq_local_queue* queue, bool* from_runnext) {
  const auto next = queue->owner.pop();
  if (from_runnext != nullptr) *from_runnext = next.from_runnext;
  return task_of(next.task);
}
runq_task* runq_local_queue_pop_oldest(runq_local_queue* queue) { return task_of(queue->owner.pop_oldest()); }
runq_task* runq_local_queue_take_from(runq_local_queue* queue, runq_global* global, size_t processors) {
  return task_of(queue->owner.take_from(global->queue, std::max(processors, std::size_t{1})));
}
runq_status runq_local_queue_steal(runq_local_queue* queue, const runq_local_queue* victim, bool runnext_too,
                                   size_t backoff, runq_task** task, size_t* taken) {
  if (queue == victim) return RUNQ_INVALID;
  const auto loot = queue->owner.steal_from(victim->queue.make_thief(),
                                            runnext_too ? runq::steal_runnext::yes : runq::steal_runnext::no,
                                            runq_c::local_queue::capacity(), backoff);
  if (loot) *task = task_of(loot.value);
  if (loot && taken != nullptr) *taken = loot.count;
  return status_of(loot.status);
}
size_t runq_local_queue_drain(runq_local_queue* queue, runq_global* global) {
  auto all = queue->owner.drain();
  const size_t count = all.size();
  global->queue.splice(std::move(all));
  return count;
}
bool runq_local_queue_has_work(const runq_local_queue* queue) { return queue->queue.make_thief().has_work(); }
bool runq_local_queue_has_work_approx(const runq_local_queue* queue) {
  return queue->queue.make_thief().has_work_approx();
}
size_t runq_local_queue_size_approx(const runq_local_queue* queue) { return queue->queue.make_thief().size_approx(); }

}  // extern "C"
