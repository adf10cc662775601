/* SPDX-License-Identifier: MIT
 *
 * runqkit's queues for C11: ring, runnext, chase_lev, split_ring, split_deque and shared_fifo of `void*`, and
 * local_queue with its global queue of tasks that carry a link. Contracts and protocols are those of the C++ headers;
 * docs/queues/ has a page for each.
 *
 * Who may call. A queue has one owner: the functions marked "Owner only" are for one thread at a time, the one that
 * makes the first of these calls. To hand a queue to another thread, call its …_hand_over() and let that happen before
 * the next thread's first call. The functions marked "Any thread" need nothing but that the queue exists.
 * …_create() and …_destroy() may be called only while no other thread uses the queue.
 *
 * What an element is. A `void*` that the queue never dereferences. The thread that gets it owns what it points to, and
 * sees everything that was written before it was pushed.
 *
 * Errors. No function calls back, throws, prints or sets errno; one that can fail returns a runq_status. A library
 * that was built without NDEBUG ends the process with a message when an owner function is called from a second thread.
 * No argument may be NULL unless its function says so.
 *
 * Needs POSIX threads and no C++ run-time library: `cc -std=c11 main.c -lrunqkit_c -pthread`.
 */
#ifndef RUNQ_H
#define RUNQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a call. RUNQ_OK is 0; with any other status nothing has changed and no output was written. */
typedef enum runq_status {
  RUNQ_OK = 0,
  RUNQ_EMPTY,     /**< nothing was there */
  RUNQ_LOST,      /**< another thread moved first; another try may succeed */
  RUNQ_FULL,      /**< there is no room */
  RUNQ_NO_MEMORY, /**< there is no room, and no memory to make some */
  RUNQ_INVALID    /**< an argument that the function's comment rules out */
} runq_status;

/** A word for a status, as in "empty"; never NULL. */
const char* runq_status_text(runq_status status);

/** What …_observe() saw of a queue. …_pushed_since() says whether an element was pushed after that.
 *
 *  Queues that were found empty one after the other need not have been empty together: a task that moves from a queue
 *  that is asked later to one that was asked before is seen in neither. So observe each, and then ask each, in the
 *  opposite order, whether an element was pushed since. If all were empty and no answer is yes, all were empty at one
 *  moment. The other queues cannot be observed: an element that is pushed and taken again leaves no trace there. */
typedef struct runq_observation {
  bool empty;
  uint64_t pushed; /**< for …_pushed_since() only */
} runq_observation;

/* ---- ring: a bounded FIFO; thieves take half of it by one claim (docs/queues/ring.md) */

#define RUNQ_RING_CAPACITY 256

typedef struct runq_ring runq_ring;

/** A new, empty ring, or NULL when there is no memory: 2.3 kB, in one block. Nothing else here allocates. */
runq_ring* runq_ring_create(void);
/** Frees it; NULL is allowed. Elements still inside are not touched. */
void runq_ring_destroy(runq_ring* ring);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_ring_hand_over(runq_ring* ring);

/** Adds one element behind all others, or RUNQ_FULL. Owner only. Wait-free. */
runq_status runq_ring_push(runq_ring* ring, void* element);
/** Adds the first of `count` elements, in order, as many as fit, all published at once; returns how many. Owner only.
 *  Wait-free. */
size_t runq_ring_push_batch(runq_ring* ring, void* const* elements, size_t count);
/** Takes the oldest element, or RUNQ_EMPTY. Owner only. Lock-free: it tries again only when a thief took something. */
runq_status runq_ring_pop(runq_ring* ring, void** element);
/** Takes the older half, ⌊n/2⌋ of n elements, oldest first, into `elements`, for which there must be room for
 *  RUNQ_RING_CAPACITY / 2; returns how many: 0 if a thief took something meanwhile, so that there is room, or if
 *  the ring held fewer than two. Owner only. Wait-free. */
size_t runq_ring_shed_half(runq_ring* ring, void** elements);
/** How many elements fit now; thieves can only increase it. Owner only. Wait-free. */
size_t runq_ring_room(runq_ring* ring);

/** Takes the oldest element: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread. Wait-free. */
runq_status runq_ring_steal(const runq_ring* victim, void** element);
/** Takes half of the victim's elements, rounded up, at most `limit` and what fits into `into`, oldest first: the newest
 *  of them goes to `element`, to be run at once, the others are in `into` then. `taken`, which may be NULL, gets their
 *  number. RUNQ_INVALID when `into` is the victim or `limit` is 0. The owner of `into` only. Wait-free. */
runq_status runq_ring_steal_half_into(const runq_ring* victim, runq_ring* into, size_t limit, void** element,
                                      size_t* taken);
/** Takes half of the victim's elements, rounded up, at most `room`, oldest first, into `elements`; `taken` gets their
 *  number. `elements` may be written to whatever the status. RUNQ_INVALID when `room` is 0. Any thread. Wait-free. */
runq_status runq_ring_steal_half(const runq_ring* victim, void** elements, size_t room, size_t* taken);
/** Whether there is something to take: the question to ask before going to sleep. Any thread. Wait-free. */
bool runq_ring_has_work(const runq_ring* ring);
/** A guess at the number of elements, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_ring_size_approx(const runq_ring* ring);
/** See runq_observation. Any thread. Wait-free. */
runq_observation runq_ring_observe(const runq_ring* ring);
bool runq_ring_pushed_since(const runq_ring* ring, runq_observation seen);

/* ---- runnext: one slot for the task that was made runnable last (docs/queues/runnext.md) */

/** How often a thief pauses before it takes what it saw in a runnext slot: the owner is usually about to run it. */
#define RUNQ_DEFAULT_BACKOFF 64

typedef struct runq_runnext runq_runnext;

/** A new, empty slot, or NULL when there is no memory. Nothing else here allocates. */
runq_runnext* runq_runnext_create(void);
/** Frees it; NULL is allowed. An element still inside is not touched. */
void runq_runnext_destroy(runq_runnext* slot);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_runnext_hand_over(runq_runnext* slot);

/** Puts an element into the slot. `displaced` gets the one that was there, or NULL: queue that elsewhere. RUNQ_INVALID
 *  when `element` is NULL, which is how an empty slot looks. Owner only. Wait-free. */
runq_status runq_runnext_put(runq_runnext* slot, void* element, void** displaced);
/** Takes the element, or RUNQ_EMPTY. Owner only. Wait-free. */
runq_status runq_runnext_take(runq_runnext* slot, void** element);

/** Takes the element if it is still there after `backoff` pauses: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread.
 *  Wait-free. */
runq_status runq_runnext_steal(const runq_runnext* slot, size_t backoff, void** element);
/** Whether the slot holds an element: the question to ask before going to sleep. Any thread. Wait-free. */
bool runq_runnext_has_work(const runq_runnext* slot);
/** A guess at the same, which costs the owner less; never for deciding to sleep. Any thread. Wait-free. */
bool runq_runnext_has_work_approx(const runq_runnext* slot);

/* ---- chase_lev: an unbounded deque; the owner works at its newest end (docs/queues/chase_lev.md) */

typedef struct runq_chase_lev runq_chase_lev;

/** A new, empty deque, or NULL when there is no memory. Its first push makes room for `initial_capacity` elements. */
runq_chase_lev* runq_chase_lev_create(size_t initial_capacity);
/** Frees it; NULL is allowed. Elements still inside are not touched. */
void runq_chase_lev_destroy(runq_chase_lev* deque);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_chase_lev_hand_over(runq_chase_lev* deque);

/** Adds one element at the bottom, or RUNQ_NO_MEMORY. Owner only. Wait-free but for the growth, which allocates. */
runq_status runq_chase_lev_push(runq_chase_lev* deque, void* element);
/** Adds the first of `count` elements, in order, all published at once; returns how many, fewer than `count` only if
 * there is no memory. Owner only. Wait-free but for the growth, which allocates. */
size_t runq_chase_lev_push_batch(runq_chase_lev* deque, void* const* elements, size_t count);
/** Takes the newest element, or RUNQ_EMPTY, also when a thief got the last one. Owner only. Wait-free. */
runq_status runq_chase_lev_pop(runq_chase_lev* deque, void** element);
/** Elements that fit before a push has to grow the deque; before the first push, those for which it will make room. Any
 *  thread. Wait-free. */
size_t runq_chase_lev_capacity(const runq_chase_lev* deque);

/** Takes the oldest element: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread. Wait-free. */
runq_status runq_chase_lev_steal(const runq_chase_lev* deque, void** element);
/** Whether there is something to take: the question to ask before going to sleep. While the owner pops the last
 *  element, the answer may be yes or no. Any thread. Wait-free. */
bool runq_chase_lev_has_work(const runq_chase_lev* deque);
/** A guess at the number of elements, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_chase_lev_size_approx(const runq_chase_lev* deque);

/* ---- bounded_chase_lev: a chase_lev of fixed capacity; only its …_create() allocates */

typedef struct runq_bounded_chase_lev runq_bounded_chase_lev;

/** A new, empty deque for `capacity` elements, rounded up to a power of two, at least 2; or NULL when there is no
 *  memory. */
runq_bounded_chase_lev* runq_bounded_chase_lev_create(size_t capacity);
/** Frees it; NULL is allowed. Elements still inside are not touched. */
void runq_bounded_chase_lev_destroy(runq_bounded_chase_lev* deque);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_bounded_chase_lev_hand_over(runq_bounded_chase_lev* deque);

/** Adds one element at the bottom, or RUNQ_FULL. Owner only. Wait-free. */
runq_status runq_bounded_chase_lev_push(runq_bounded_chase_lev* deque, void* element);
/** Adds the first of `count` elements, in order, all published at once; returns how many fitted. Owner only.
 *  Wait-free. */
size_t runq_bounded_chase_lev_push_batch(runq_bounded_chase_lev* deque, void* const* elements, size_t count);
/** Takes the newest element, or RUNQ_EMPTY, also when a thief got the last one. Owner only. Wait-free. */
runq_status runq_bounded_chase_lev_pop(runq_bounded_chase_lev* deque, void** element);
/** How many elements fit. Any thread. Wait-free. */
size_t runq_bounded_chase_lev_capacity(const runq_bounded_chase_lev* deque);

/** Takes the oldest element: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread. Wait-free. */
runq_status runq_bounded_chase_lev_steal(const runq_bounded_chase_lev* deque, void** element);
/** Whether there is something to take: the question to ask before going to sleep. While the owner pops the last
 *  element, the answer may be yes or no. Any thread. Wait-free. */
bool runq_bounded_chase_lev_has_work(const runq_bounded_chase_lev* deque);
/** A guess at the number of elements, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_bounded_chase_lev_size_approx(const runq_bounded_chase_lev* deque);

/* ---- split_ring: a bounded queue, whose owner pushes and pops without a locked instruction
 * (docs/queues/split_ring.md)
 *
 * The owner claims a run of 16 elements at once; the others are public. A steal takes public elements, and only if
 * there are none, it takes from the run: then the thief asks the owner, waits for about a microsecond, and makes a
 * heavy fence. On Linux that is the system call membarrier(2), an interrupt of each processor that runs a thread of the
 * process. Where there is no such call, each pop has a fence. */

#define RUNQ_SPLIT_RING_CAPACITY 256

typedef struct runq_split_ring runq_split_ring;

/** A new, empty ring, or NULL when there is no memory: 2.3 kB, in one block. Nothing else here allocates. */
runq_split_ring* runq_split_ring_create(void);
/** Frees it; NULL is allowed. Elements still inside are not touched. */
void runq_split_ring_destroy(runq_split_ring* ring);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_split_ring_hand_over(runq_split_ring* ring);

/** Adds one element behind all others, or RUNQ_FULL: when it would be RUNQ_SPLIT_RING_CAPACITY places behind the oldest
 *  one of the owner's run, whatever thieves have taken in between. Owner only. Wait-free. */
runq_status runq_split_ring_push(runq_split_ring* ring, void* element);
/** Adds the first of `count` elements, in order, as many as fit, all published at once; returns how many. Owner only.
 *  Wait-free. */
size_t runq_split_ring_push_batch(runq_split_ring* ring, void* const* elements, size_t count);
/** Takes the oldest element that no thief has taken, or RUNQ_EMPTY. Owner only. Lock-free: it tries again only when a
 *  thief took something or asked for it. */
runq_status runq_split_ring_pop(runq_split_ring* ring, void** element);
/** How many elements fit now, counted as a push counts. Owner only. Wait-free. */
size_t runq_split_ring_room(runq_split_ring* ring);

/** Takes the oldest public element, or one of the owner's run: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread.
 *  Wait-free. */
runq_status runq_split_ring_steal(const runq_split_ring* victim, void** element);
/** Takes half of the victim's public elements, rounded up, or from the run as above; at most `limit` and what fits into
 *  `into`, oldest first: the newest of them goes to `element`, to be run at once, the others are in `into` then.
 *  `taken`, which may be NULL, gets their number. RUNQ_INVALID when `into` is the victim or `limit` is 0. The owner of
 *  `into` only. Wait-free. */
runq_status runq_split_ring_steal_half_into(const runq_split_ring* victim, runq_split_ring* into, size_t limit,
                                            void** element, size_t* taken);
/** Takes as many as runq_split_ring_steal_half_into, at most `room`, oldest first, into `elements`; `taken` gets their
 *  number. `elements` may be written to whatever the status. RUNQ_INVALID when `room` is 0. Any thread. Wait-free. */
runq_status runq_split_ring_steal_half(const runq_split_ring* victim, void** elements, size_t room, size_t* taken);
/** Whether there is something to take: the question to ask before going to sleep. Any thread. Wait-free. */
bool runq_split_ring_has_work(const runq_split_ring* ring);
/** A guess at the number of elements, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_split_ring_size_approx(const runq_split_ring* ring);

/* ---- split_deque: a bounded LIFO deque for fork/join, whose owner pushes and pops without a locked instruction
 * (docs/queues/split_deque.md)
 *
 * The newest elements are private to the owner, the older ones public. A steal takes public elements, and only if there
 * are none, private ones, by a heavy fence as with split_ring. */

#define RUNQ_SPLIT_DEQUE_CAPACITY 256

typedef struct runq_split_deque runq_split_deque;

/** A new, empty deque, or NULL when there is no memory: 2.3 kB, in one block. Nothing else here allocates. */
runq_split_deque* runq_split_deque_create(void);
/** Frees it; NULL is allowed. Elements still inside are not touched. */
void runq_split_deque_destroy(runq_split_deque* deque);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_split_deque_hand_over(runq_split_deque* deque);

/** Adds one element, or RUNQ_FULL. Owner only. Wait-free. */
runq_status runq_split_deque_push(runq_split_deque* deque, void* element);
/** Takes the newest element, or RUNQ_EMPTY. Owner only. Lock-free: it tries again only when a thief took something or
 *  asked for it. */
runq_status runq_split_deque_pop(runq_split_deque* deque, void** element);

/** Takes the oldest element: RUNQ_OK, RUNQ_EMPTY or RUNQ_LOST. Any thread. Wait-free. */
runq_status runq_split_deque_steal(const runq_split_deque* victim, void** element);
/** Takes half of the victim's public elements, rounded up, or, if there are none, of its private ones; at most `limit`
 *  and what fits into `into`, oldest first: the newest of them goes to `element`, to be run at once, the others are in
 *  `into` then. `taken`, which may be NULL, gets their number. RUNQ_INVALID when `into` is the victim or `limit` is 0.
 *  The owner of `into` only. Wait-free. */
runq_status runq_split_deque_steal_half_into(const runq_split_deque* victim, runq_split_deque* into, size_t limit,
                                             void** element, size_t* taken);
/** Takes as many as runq_split_deque_steal_half_into, at most `room`, oldest first, into `elements`; `taken` gets their
 *  number. `elements` may be written to whatever the status. RUNQ_INVALID when `room` is 0. Any thread. Wait-free. */
runq_status runq_split_deque_steal_half(const runq_split_deque* victim, void** elements, size_t room, size_t* taken);
/** Whether there is something to take: the question to ask before going to sleep. No also if the owner is popping the
 *  last element. Any thread. Wait-free. */
bool runq_split_deque_has_work(const runq_split_deque* deque);
/** A guess at the number of elements, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_split_deque_size_approx(const runq_split_deque* deque);

/* ---- shared_fifo: an unbounded queue that all threads share, under a lock (docs/queues/shared_fifo.md) */

typedef struct runq_shared_fifo runq_shared_fifo;

/** A new, empty queue, or NULL when there is no memory. */
runq_shared_fifo* runq_shared_fifo_create(void);
/** Frees it; NULL is allowed. It must be empty: with checks the program ends if it is not. */
void runq_shared_fifo_destroy(runq_shared_fifo* fifo);

/** Adds one element behind all others, or RUNQ_NO_MEMORY. Any thread. Locks. */
runq_status runq_shared_fifo_put(runq_shared_fifo* fifo, void* element);
/** Adds `count` elements, in order, next to each other, or RUNQ_NO_MEMORY. Any thread. Locks. */
runq_status runq_shared_fifo_put_batch(runq_shared_fifo* fifo, void* const* elements, size_t count);
/** Takes the oldest element, or RUNQ_EMPTY. Any thread. Locks. */
runq_status runq_shared_fifo_take(runq_shared_fifo* fifo, void** element);
/** Takes a fair share, which `processors` (0 counts as 1) share, into `elements`, in order: the least of size, size /
 *  processors + 1, `room` and 128. Returns how many. Any thread. Locks. */
size_t runq_shared_fifo_take_batch(runq_shared_fifo* fifo, size_t processors, void** elements, size_t room);
/** Whether there is something to take: the question to ask before going to sleep. Any thread. Locks. */
bool runq_shared_fifo_has_work(const runq_shared_fifo* fifo);
/** A guess at the same, never for deciding to sleep. Any thread. Wait-free. */
bool runq_shared_fifo_has_work_approx(const runq_shared_fifo* fifo);
/** The number of elements a moment ago, for statistics. Any thread. Wait-free. */
size_t runq_shared_fifo_size_approx(const runq_shared_fifo* fifo);
/** See runq_observation. Any thread. Locks. */
runq_observation runq_shared_fifo_observe(const runq_shared_fifo* fifo);
bool runq_shared_fifo_pushed_since(const runq_shared_fifo* fifo, runq_observation seen);

/* ---- local_queue: what one processor owns; it overflows into a global queue (docs/queues/local_queue.md) */

/** The link that a task carries, as any member of its struct; needs no initialisation. While the task is queued the
 *  link belongs to the queue, and a task is in one queue at a time. */
typedef struct runq_task {
  void* private_link;
} runq_task;

/** From the link back to the struct that carries it: RUNQ_TASK_OF(link, struct job, link). */
#define RUNQ_TASK_OF(link, type, member) ((type*)(void*)((char*)(link)-offsetof(type, member)))

/** The queue that all processors share: a list under a lock. */
typedef struct runq_global runq_global;

/** A new, empty queue, or NULL when there is no memory. Nothing else here allocates. */
runq_global* runq_global_create(void);
/** Frees it; NULL is allowed. It must be empty, and the local queues that overflow into it destroyed. */
void runq_global_destroy(runq_global* global);
/** Appends one task. Any thread. Locks. */
void runq_global_put(runq_global* global, runq_task* task);
/** Appends `count` tasks, in order, under one lock. Any thread. Locks. */
void runq_global_put_batch(runq_global* global, runq_task* const* tasks, size_t count);
/** Takes the oldest task, or NULL. Any thread. Locks. */
runq_task* runq_global_take(runq_global* global);
/** Whether there is something to take: the question to ask before going to sleep. Any thread. Locks. */
bool runq_global_has_work(const runq_global* global);
/** A guess at the same, never for deciding to sleep. Any thread. Wait-free. */
bool runq_global_has_work_approx(const runq_global* global);
/** The number of tasks a moment ago, for statistics. Any thread. Wait-free. */
size_t runq_global_size_approx(const runq_global* global);
/** See runq_observation. Any thread. Locks. */
runq_observation runq_global_observe(const runq_global* global);
bool runq_global_pushed_since(const runq_global* global, runq_observation seen);

typedef struct runq_local_queue runq_local_queue;

/** A new, empty queue that overflows into `global`, or NULL when there is no memory: 2.4 kB, in one block. Nothing else
 *  here allocates. */
runq_local_queue* runq_local_queue_create(runq_global* global);
/** Frees it; NULL is allowed. Tasks still inside are not touched; see runq_local_queue_drain(). */
void runq_local_queue_destroy(runq_local_queue* queue);
/** Makes the next thread that calls an owner function the owner. Owner only. */
void runq_local_queue_hand_over(runq_local_queue* queue);

/** Queues a task behind all others of this processor. When the ring is full, its older half and the task go to the
 *  global queue. Returns how many went there. Owner only. Lock-free while there is room. */
size_t runq_local_queue_push(runq_local_queue* queue, runq_task* task);
/** Makes a task the next to run, and queues the one that was to run next as runq_local_queue_push() does. Returns how
 *  many went to the global queue. Owner only. Lock-free while there is room. */
size_t runq_local_queue_push_next(runq_local_queue* queue, runq_task* task);
/** Queues `count` tasks, in order, at once; what does not fit goes to the global queue. Returns how many went there.
 *  Owner only. Lock-free while there is room. */
size_t runq_local_queue_push_batch(runq_local_queue* queue, runq_task* const* tasks, size_t count);
/** Takes the next task, or NULL. `from_runnext`, which may be NULL, says whether it was the one to run next: a
 * scheduler lets such a task use the rest of its predecessor's time slice. Owner only. Lock-free. */
runq_task* runq_local_queue_pop(runq_local_queue* queue, bool* from_runnext);
/** Takes the oldest task of the ring, or NULL, and leaves the runnext slot alone. Owner only. Lock-free. */
runq_task* runq_local_queue_pop_oldest(runq_local_queue* queue);
/** Takes a fair share of the global queue, which `processors` (0 counts as 1) share: returns the first task, or NULL,
 *  and queues the others here. Owner only. Locks. */
runq_task* runq_local_queue_take_from(runq_local_queue* queue, runq_global* global, size_t processors);
/** Takes half of the victim's ring, rounded up, into this queue; the newest of them goes to `task`, to be run at once.
 *  If the ring is empty and `runnext_too`, takes what the victim was to run next instead, after `backoff` pauses.
 *  `taken`, which may be NULL, gets the number. RUNQ_INVALID when the victim is `queue`. Otherwise RUNQ_OK, RUNQ_EMPTY
 *  or RUNQ_LOST. The owner of `queue` only. Wait-free. */
runq_status runq_local_queue_steal(runq_local_queue* queue, const runq_local_queue* victim, bool runnext_too,
                                   size_t backoff, runq_task** task, size_t* taken);
/** Moves everything to the back of `global`, in the order in which it would have run: for a processor that retires.
 *  Returns how many. Owner only. Locks. */
size_t runq_local_queue_drain(runq_local_queue* queue, runq_global* global);
/** Whether there is something to take: the question to ask before going to sleep. It may say no while push_next() is
 *  under way; so wake others after that has returned. Any thread. Lock-free. */
bool runq_local_queue_has_work(const runq_local_queue* queue);
/** A guess at the same, which costs the owner less; never for deciding to sleep. Any thread. Lock-free. */
bool runq_local_queue_has_work_approx(const runq_local_queue* queue);
/** A guess at the number of tasks in the ring, never for deciding to sleep. Any thread. Wait-free. */
size_t runq_local_queue_size_approx(const runq_local_queue* queue);

#ifdef __cplusplus
}
#endif

#endif /* RUNQ_H */
