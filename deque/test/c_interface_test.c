/* SPDX-License-Identifier: MIT
 * The C interface, used by a C11 program. First the program calls every function on one thread. Then a second thread
 * steals from each kind of queue, and each element must be taken exactly once. */
#include <pthread.h>
#include <runq.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static void* at(char* base, size_t i) { return base + i; }

static void ring_alone(void) {
  char things[RUNQ_RING_CAPACITY + 1];
  void* batch[RUNQ_RING_CAPACITY + 1];
  void* out[RUNQ_RING_CAPACITY / 2];
  void* got = NULL;
  size_t taken = 0;
  for (size_t i = 0; i != sizeof things; ++i) batch[i] = at(things, i);
  runq_ring* mine = runq_ring_create();
  runq_ring* theirs = runq_ring_create();
  EXPECT(mine != NULL && theirs != NULL);

  EXPECT(runq_ring_pop(mine, &got) == RUNQ_EMPTY && runq_ring_steal(mine, &got) == RUNQ_EMPTY && got == NULL);
  EXPECT(!runq_ring_has_work(mine) && runq_ring_room(mine) == RUNQ_RING_CAPACITY);
  EXPECT(runq_ring_push(mine, things) == RUNQ_OK);
  EXPECT(runq_ring_has_work(mine) && runq_ring_size_approx(mine) == 1);
  EXPECT(runq_ring_push_batch(mine, batch + 1, RUNQ_RING_CAPACITY) == RUNQ_RING_CAPACITY - 1);
  EXPECT(runq_ring_push(mine, things) == RUNQ_FULL && runq_ring_room(mine) == 0);
  EXPECT(runq_ring_pop(mine, &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_ring_steal(mine, &got) == RUNQ_OK && got == at(things, 1));

  /* 254 elements are left: 2 … 255. The thief takes half of them, 2 … 128. It gets the newest one as the result, and
   * the others go into its own ring. */
  EXPECT(runq_ring_steal_half_into(mine, theirs, RUNQ_RING_CAPACITY, &got, &taken) == RUNQ_OK);
  EXPECT(got == at(things, 128) && taken == 127 && runq_ring_size_approx(theirs) == 126);
  EXPECT(runq_ring_pop(theirs, &got) == RUNQ_OK && got == at(things, 2));
  EXPECT(runq_ring_steal_half_into(mine, mine, 1, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_ring_steal_half_into(mine, theirs, 0, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_ring_steal_half_into(mine, theirs, 1, &got, NULL) == RUNQ_OK && got == at(things, 129));
  EXPECT(taken == 127);
  /* 126 elements are left: 130 … 255. */
  EXPECT(runq_ring_shed_half(mine, out) == 63 && out[0] == at(things, 130) && out[62] == at(things, 192));
  EXPECT(runq_ring_size_approx(mine) == 63);
  /* 193 … 255 are left. The first steal takes half of them into memory: 193 … 224. The second has room for two only. */
  EXPECT(runq_ring_steal_half(mine, out, RUNQ_RING_CAPACITY / 2, &taken) == RUNQ_OK && taken == 32);
  EXPECT(out[0] == at(things, 193) && out[31] == at(things, 224));
  EXPECT(runq_ring_steal_half(mine, out, 0, &taken) == RUNQ_INVALID);
  EXPECT(runq_ring_steal_half(mine, out, 2, &taken) == RUNQ_OK && taken == 2 && out[1] == at(things, 226));
  runq_ring_hand_over(mine);
  runq_ring_destroy(mine);
  runq_ring_destroy(theirs);
  runq_ring_destroy(NULL);
}

static void runnext_alone(void) {
  char things[2];
  void* got = things;
  runq_runnext* slot = runq_runnext_create();
  EXPECT(slot != NULL && !runq_runnext_has_work(slot) && !runq_runnext_has_work_approx(slot));
  EXPECT(runq_runnext_put(slot, NULL, &got) == RUNQ_INVALID && got == things);
  EXPECT(runq_runnext_put(slot, at(things, 0), &got) == RUNQ_OK && got == NULL && runq_runnext_has_work(slot));
  EXPECT(runq_runnext_put(slot, at(things, 1), &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_runnext_take(slot, &got) == RUNQ_OK && got == at(things, 1));
  EXPECT(runq_runnext_take(slot, &got) == RUNQ_EMPTY);
  EXPECT(runq_runnext_steal(slot, 0, &got) == RUNQ_EMPTY);
  EXPECT(runq_runnext_put(slot, at(things, 0), &got) == RUNQ_OK);
  EXPECT(runq_runnext_steal(slot, RUNQ_DEFAULT_BACKOFF, &got) == RUNQ_OK && got == at(things, 0));
  runq_runnext_hand_over(slot);
  runq_runnext_destroy(slot);
  runq_runnext_destroy(NULL);
}

static void chase_lev_alone(void) {
  char things[100];
  void* got = NULL;
  runq_chase_lev* deque = runq_chase_lev_create(8);
  EXPECT(deque != NULL && runq_chase_lev_capacity(deque) == 8 && !runq_chase_lev_has_work(deque));
  EXPECT(runq_chase_lev_pop(deque, &got) == RUNQ_EMPTY && runq_chase_lev_steal(deque, &got) == RUNQ_EMPTY);
  for (size_t i = 0; i != sizeof things; ++i) EXPECT(runq_chase_lev_push(deque, at(things, i)) == RUNQ_OK);
  EXPECT(runq_chase_lev_capacity(deque) == 128 && runq_chase_lev_size_approx(deque) == 100);
  EXPECT(runq_chase_lev_has_work(deque));
  EXPECT(runq_chase_lev_pop(deque, &got) == RUNQ_OK && got == at(things, 99));
  EXPECT(runq_chase_lev_steal(deque, &got) == RUNQ_OK && got == at(things, 0));
  void* const batch[] = {at(things, 7), at(things, 8), at(things, 9)};
  EXPECT(runq_chase_lev_push_batch(deque, batch, 3) == 3 && runq_chase_lev_size_approx(deque) == 101);
  EXPECT(runq_chase_lev_pop(deque, &got) == RUNQ_OK && got == at(things, 9));
  runq_chase_lev_hand_over(deque);
  runq_chase_lev_destroy(deque);
  runq_chase_lev_destroy(NULL);

  /* There is no memory for so large an array: the first push reports that, and the deque stays usable. */
  deque = runq_chase_lev_create((size_t)-1 / 2);
  EXPECT(deque != NULL && runq_chase_lev_push(deque, things) == RUNQ_NO_MEMORY);
  EXPECT(runq_chase_lev_pop(deque, &got) == RUNQ_EMPTY);
  runq_chase_lev_destroy(deque);
}

static void bounded_chase_lev_alone(void) {
  char things[5];
  void* got = NULL;
  runq_bounded_chase_lev* deque = runq_bounded_chase_lev_create(3);
  EXPECT(deque != NULL && runq_bounded_chase_lev_capacity(deque) == 4 && !runq_bounded_chase_lev_has_work(deque));
  EXPECT(runq_bounded_chase_lev_pop(deque, &got) == RUNQ_EMPTY);
  EXPECT(runq_bounded_chase_lev_steal(deque, &got) == RUNQ_EMPTY);
  for (size_t i = 0; i != 3; ++i) EXPECT(runq_bounded_chase_lev_push(deque, at(things, i)) == RUNQ_OK);
  void* batch[] = {at(things, 3), at(things, 4)};
  EXPECT(runq_bounded_chase_lev_push_batch(deque, batch, 2) == 1);
  EXPECT(runq_bounded_chase_lev_push(deque, at(things, 4)) == RUNQ_FULL);
  EXPECT(runq_bounded_chase_lev_has_work(deque) && runq_bounded_chase_lev_size_approx(deque) == 4);
  EXPECT(runq_bounded_chase_lev_steal(deque, &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_bounded_chase_lev_pop(deque, &got) == RUNQ_OK && got == at(things, 3));
  EXPECT(runq_bounded_chase_lev_push(deque, at(things, 4)) == RUNQ_OK);
  runq_bounded_chase_lev_hand_over(deque);
  runq_bounded_chase_lev_destroy(deque);
  runq_bounded_chase_lev_destroy(NULL);
  EXPECT(runq_bounded_chase_lev_create((size_t)-1 / 2) == NULL);
}

static void split_ring_alone(void) {
  char things[RUNQ_SPLIT_RING_CAPACITY + 1];
  void* batch[RUNQ_SPLIT_RING_CAPACITY + 1];
  void* out[RUNQ_SPLIT_RING_CAPACITY];
  void* got = NULL;
  size_t taken = 0;
  for (size_t i = 0; i != sizeof things; ++i) batch[i] = at(things, i);
  runq_split_ring* mine = runq_split_ring_create();
  runq_split_ring* theirs = runq_split_ring_create();
  EXPECT(mine != NULL && theirs != NULL);

  EXPECT(runq_split_ring_pop(mine, &got) == RUNQ_EMPTY && runq_split_ring_steal(mine, &got) == RUNQ_EMPTY);
  EXPECT(got == NULL && !runq_split_ring_has_work(mine) && runq_split_ring_room(mine) == RUNQ_SPLIT_RING_CAPACITY);
  EXPECT(runq_split_ring_push(mine, things) == RUNQ_OK);
  EXPECT(runq_split_ring_has_work(mine) && runq_split_ring_size_approx(mine) == 1);
  EXPECT(runq_split_ring_push_batch(mine, batch + 1, RUNQ_SPLIT_RING_CAPACITY) == RUNQ_SPLIT_RING_CAPACITY - 1);
  EXPECT(runq_split_ring_push(mine, things) == RUNQ_FULL && runq_split_ring_room(mine) == 0);
  /* The first pop makes 0 … 15 the owner's run. The thief takes the oldest public element. */
  EXPECT(runq_split_ring_pop(mine, &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_split_ring_room(mine) == 1);
  EXPECT(runq_split_ring_steal(mine, &got) == RUNQ_OK && got == at(things, 16));
  EXPECT(runq_split_ring_room(mine) == 1 && runq_split_ring_size_approx(mine) == 254);
  /* 17 … 255 are public. The thief takes half of them, rounded up: 17 … 136. */
  EXPECT(runq_split_ring_steal_half_into(mine, theirs, RUNQ_SPLIT_RING_CAPACITY, &got, &taken) == RUNQ_OK);
  EXPECT(got == at(things, 136) && taken == 120 && runq_split_ring_size_approx(theirs) == 119);
  EXPECT(runq_split_ring_pop(theirs, &got) == RUNQ_OK && got == at(things, 17));
  EXPECT(runq_split_ring_steal_half_into(mine, mine, 1, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_ring_steal_half_into(mine, theirs, 0, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_ring_steal_half_into(mine, theirs, 1, &got, NULL) == RUNQ_OK && got == at(things, 137));
  EXPECT(taken == 120);
  EXPECT(runq_split_ring_steal_half(mine, out, 0, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_ring_steal_half(mine, out, 2, &taken) == RUNQ_OK && taken == 2 && out[1] == at(things, 139));
  /* When nothing is public any more, thieves take the run, too; 1 is the oldest element of it. */
  char seen[sizeof things] = {0};
  size_t rest = 0;
  while (runq_split_ring_steal_half(mine, out, RUNQ_SPLIT_RING_CAPACITY, &taken) == RUNQ_OK) {
    for (size_t i = 0; i != taken; ++i) ++seen[(char*)out[i] - things];
    rest += taken;
  }
  EXPECT(rest == 15 + 116 && !runq_split_ring_has_work(mine));
  for (size_t i = 0; i != sizeof things; ++i) {
    EXPECT(seen[i] == ((i >= 1 && i <= 15) || (i >= 140 && i <= 255) ? 1 : 0));
  }
  EXPECT(runq_split_ring_pop(mine, &got) == RUNQ_EMPTY);
  runq_split_ring_hand_over(mine);
  runq_split_ring_destroy(mine);
  runq_split_ring_destroy(theirs);
  runq_split_ring_destroy(NULL);
}

static void split_deque_alone(void) {
  char things[RUNQ_SPLIT_DEQUE_CAPACITY + 1];
  void* out[RUNQ_SPLIT_DEQUE_CAPACITY];
  void* got = NULL;
  size_t taken = 0;
  runq_split_deque* mine = runq_split_deque_create();
  runq_split_deque* theirs = runq_split_deque_create();
  EXPECT(mine != NULL && theirs != NULL);

  EXPECT(runq_split_deque_pop(mine, &got) == RUNQ_EMPTY && runq_split_deque_steal(mine, &got) == RUNQ_EMPTY);
  EXPECT(got == NULL && !runq_split_deque_has_work(mine));
  /* Three elements are private. The thief takes the older half, 0 and 1, and so makes the third one public. */
  for (size_t i = 0; i != 3; ++i) EXPECT(runq_split_deque_push(mine, at(things, i)) == RUNQ_OK);
  EXPECT(runq_split_deque_has_work(mine) && runq_split_deque_size_approx(mine) == 3);
  EXPECT(runq_split_deque_steal_half(mine, out, 0, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_deque_steal_half(mine, out, RUNQ_SPLIT_DEQUE_CAPACITY, &taken) == RUNQ_OK && taken == 2);
  EXPECT(out[0] == at(things, 0) && out[1] == at(things, 1));
  EXPECT(runq_split_deque_pop(mine, &got) == RUNQ_OK && got == at(things, 2));

  for (size_t i = 0; i != RUNQ_SPLIT_DEQUE_CAPACITY; ++i) {
    EXPECT(runq_split_deque_push(mine, at(things, i)) == RUNQ_OK);
  }
  EXPECT(runq_split_deque_push(mine, at(things, RUNQ_SPLIT_DEQUE_CAPACITY)) == RUNQ_FULL);
  EXPECT(runq_split_deque_pop(mine, &got) == RUNQ_OK && got == at(things, 255));
  EXPECT(runq_split_deque_steal(mine, &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_split_deque_steal_half_into(mine, mine, 1, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_deque_steal_half_into(mine, theirs, 0, &got, &taken) == RUNQ_INVALID);
  EXPECT(runq_split_deque_steal_half_into(mine, theirs, 1, &got, NULL) == RUNQ_OK && got == at(things, 1));
  EXPECT(taken == 2);
  EXPECT(runq_split_deque_steal_half_into(mine, theirs, 3, &got, &taken) == RUNQ_OK && taken == 3);
  EXPECT(got == at(things, 4) && runq_split_deque_size_approx(theirs) == 2);
  EXPECT(runq_split_deque_pop(theirs, &got) == RUNQ_OK && got == at(things, 3));
  runq_split_deque_hand_over(mine);
  runq_split_deque_destroy(mine);
  runq_split_deque_destroy(theirs);
  runq_split_deque_destroy(NULL);
}

static void shared_fifo_alone(void) {
  enum { count = 300 };
  char things[count];
  void* batch[count];
  void* got = NULL;
  runq_shared_fifo* fifo = runq_shared_fifo_create();
  EXPECT(fifo != NULL && !runq_shared_fifo_has_work(fifo) && !runq_shared_fifo_has_work_approx(fifo));
  EXPECT(runq_shared_fifo_take(fifo, &got) == RUNQ_EMPTY && got == NULL);
  EXPECT(runq_shared_fifo_put(fifo, at(things, 0)) == RUNQ_OK);
  for (size_t i = 1; i != count; ++i) batch[i - 1] = at(things, i);
  EXPECT(runq_shared_fifo_put_batch(fifo, batch, count - 1) == RUNQ_OK);
  EXPECT(runq_shared_fifo_put_batch(fifo, NULL, 0) == RUNQ_OK);
  EXPECT(runq_shared_fifo_has_work(fifo) && runq_shared_fifo_has_work_approx(fifo));
  EXPECT(runq_shared_fifo_size_approx(fifo) == count);
  EXPECT(runq_shared_fifo_take(fifo, &got) == RUNQ_OK && got == at(things, 0));
  EXPECT(runq_shared_fifo_take_batch(fifo, 4, batch, 0) == 0);
  EXPECT(runq_shared_fifo_take_batch(fifo, 4, batch, count) == 299 / 4 + 1);
  EXPECT(batch[0] == at(things, 1) && batch[74] == at(things, 75));
  EXPECT(runq_shared_fifo_take_batch(fifo, 0, batch, count) == 128 && batch[127] == at(things, 203));
  EXPECT(runq_shared_fifo_take_batch(fifo, 1, batch, 50) == 50 &&
         runq_shared_fifo_take_batch(fifo, 1, batch, 50) == 46);
  EXPECT(batch[45] == at(things, 299) && !runq_shared_fifo_has_work_approx(fifo));
  runq_shared_fifo_destroy(fifo);
  runq_shared_fifo_destroy(NULL);
}

/* A task of a runtime that uses the queues: a struct of its own, with the link anywhere in it. */
struct job {
  int number;
  runq_task link;
  atomic_int times_taken;
};

static struct job* job_of(runq_task* task) { return RUNQ_TASK_OF(task, struct job, link); }

/* The same of each queue that can be observed: an element that is pushed and taken again leaves it empty, and is
 * known. */
#define OBSERVED(QUEUE, PUSH, TAKE)                                             \
  do {                                                                          \
    runq_observation seen = QUEUE##_observe(queue);                             \
    EXPECT(seen.empty && !QUEUE##_pushed_since(queue, seen));                   \
    PUSH;                                                                       \
    EXPECT(!QUEUE##_observe(queue).empty && QUEUE##_pushed_since(queue, seen)); \
    seen = QUEUE##_observe(queue);                                              \
    TAKE;                                                                       \
    EXPECT(QUEUE##_observe(queue).empty && !QUEUE##_pushed_since(queue, seen)); \
    PUSH;                                                                       \
    TAKE;                                                                       \
    EXPECT(QUEUE##_observe(queue).empty&& QUEUE##_pushed_since(queue, seen));   \
    QUEUE##_destroy(queue);                                                     \
  } while (0)

static void observed(void) {
  char thing = 0;
  void* got = NULL;
  {
    runq_ring* queue = runq_ring_create();
    OBSERVED(runq_ring, EXPECT(runq_ring_push(queue, &thing) == RUNQ_OK),
             EXPECT(runq_ring_pop(queue, &got) == RUNQ_OK));
  }
  {
    runq_shared_fifo* queue = runq_shared_fifo_create();
    OBSERVED(runq_shared_fifo, EXPECT(runq_shared_fifo_put(queue, &thing) == RUNQ_OK),
             EXPECT(runq_shared_fifo_take(queue, &got) == RUNQ_OK));
  }
  {
    runq_global* queue = runq_global_create();
    runq_task task;
    OBSERVED(runq_global, runq_global_put(queue, &task), EXPECT(runq_global_take(queue) == &task));
  }
}

/* Whether both were empty at one moment. `meanwhile` is called in between, where another thread might run. */
static bool both_empty(const runq_ring* ring, const runq_shared_fifo* fifo, void (*meanwhile)(void)) {
  const runq_observation of_ring = runq_ring_observe(ring);
  if (meanwhile != NULL) meanwhile();
  const runq_observation of_fifo = runq_shared_fifo_observe(fifo);
  return of_ring.empty && of_fifo.empty && !runq_shared_fifo_pushed_since(fifo, of_fifo) &&
         !runq_ring_pushed_since(ring, of_ring);
}

static runq_ring* to;
static runq_shared_fifo* from;
static void move_an_element(void) {
  void* element = NULL;
  EXPECT(runq_shared_fifo_take(from, &element) == RUNQ_OK);
  EXPECT(runq_ring_push(to, element) == RUNQ_OK);
}

static void a_moving_element_is_not_overlooked(void) {
  char thing = 0;
  void* got = NULL;
  to = runq_ring_create();
  from = runq_shared_fifo_create();
  EXPECT(both_empty(to, from, NULL));
  EXPECT(runq_shared_fifo_put(from, &thing) == RUNQ_OK);
  EXPECT(!both_empty(to, from, move_an_element));
  EXPECT(runq_ring_pop(to, &got) == RUNQ_OK && got == &thing);
  EXPECT(both_empty(to, from, NULL));
  runq_ring_destroy(to);
  runq_shared_fifo_destroy(from);
}

static void local_queue_alone(void) {
  enum { count = RUNQ_RING_CAPACITY + 10 };
  struct job jobs[count];
  runq_task* links[count];
  runq_task* got = NULL;
  size_t taken = 0;
  bool next = true;
  memset(jobs, 0xa5, sizeof jobs); /* the links need no initialisation */
  for (int i = 0; i != count; ++i) {
    jobs[i].number = i;
    links[i] = &jobs[i].link;
  }
  runq_global* global = runq_global_create();
  runq_local_queue* mine = runq_local_queue_create(global);
  runq_local_queue* theirs = runq_local_queue_create(global);
  EXPECT(global != NULL && mine != NULL && theirs != NULL);

  EXPECT(runq_local_queue_pop(mine, &next) == NULL && !next && runq_local_queue_pop_oldest(mine) == NULL);
  EXPECT(!runq_local_queue_has_work(mine) && !runq_global_has_work(global) && runq_global_take(global) == NULL);
  EXPECT(runq_local_queue_take_from(mine, global, 0) == NULL);
  EXPECT(runq_local_queue_push(mine, links[0]) == 0);
  EXPECT(runq_local_queue_push_next(mine, links[1]) == 0);
  EXPECT(runq_local_queue_push_next(mine, links[2]) == 0); /* 1 goes behind 0 */
  EXPECT(runq_local_queue_size_approx(mine) == 2 && runq_local_queue_has_work(mine));
  EXPECT(runq_local_queue_has_work_approx(mine) && !runq_global_has_work_approx(global));
  EXPECT(job_of(runq_local_queue_pop(mine, &next))->number == 2 && next);
  EXPECT(job_of(runq_local_queue_pop(mine, &next))->number == 0 && !next);
  EXPECT(job_of(runq_local_queue_pop_oldest(mine))->number == 1);

  /* 256 tasks fit, and 10 overflow into the global queue. */
  EXPECT(runq_local_queue_push_batch(mine, links, count) == 10 && runq_global_size_approx(global) == 10);
  EXPECT(runq_local_queue_steal(theirs, mine, false, 0, &got, &taken) == RUNQ_OK && taken == 128);
  EXPECT(job_of(got)->number == 127 && runq_local_queue_size_approx(theirs) == 127);
  EXPECT(runq_local_queue_steal(mine, mine, false, 0, &got, &taken) == RUNQ_INVALID);
  /* The share of one of two processors in ten tasks is 10 / 2 + 1 = 6. The first is returned to be run, and five are
   * queued behind the 128 that are left. */
  EXPECT(job_of(runq_local_queue_take_from(mine, global, 2))->number == 256);
  EXPECT(runq_local_queue_size_approx(mine) == 133);
  EXPECT(job_of(runq_global_take(global))->number == 262);
  runq_global_put(global, links[262]);
  runq_global_put_batch(global, links + 256, 1);
  EXPECT(runq_global_size_approx(global) == 5);

  /* When a processor goes away, drain() moves all of its tasks to the global queue: first the one to run next. */
  EXPECT(runq_local_queue_push_next(theirs, links[127]) == 0);
  EXPECT(runq_local_queue_drain(theirs, global) == 128 && !runq_local_queue_has_work(theirs));
  for (int i = 0; i != 5; ++i) EXPECT(runq_global_take(global) != NULL);
  EXPECT(job_of(runq_global_take(global))->number == 127);
  EXPECT(job_of(runq_global_take(global))->number == 0);
  while (runq_global_take(global) != NULL) continue;
  while (runq_local_queue_pop(mine, NULL) != NULL) continue;

  /* A thief takes the task that is to run next only if it asks for it. */
  EXPECT(runq_local_queue_push_next(mine, links[3]) == 0);
  EXPECT(runq_local_queue_steal(theirs, mine, false, 0, &got, NULL) == RUNQ_EMPTY);
  EXPECT(runq_local_queue_steal(theirs, mine, true, RUNQ_DEFAULT_BACKOFF, &got, NULL) == RUNQ_OK);
  EXPECT(job_of(got)->number == 3);

  runq_local_queue_hand_over(mine);
  runq_local_queue_destroy(mine);
  runq_local_queue_destroy(theirs);
  runq_local_queue_destroy(NULL);
  runq_global_destroy(global);
  runq_global_destroy(NULL);
}

/* ---- two threads: the owner pushes all jobs and pops now and then; the thief steals until it is told to stop */

enum { job_count = 20000 };
static struct job jobs[job_count];
static atomic_bool thief_is_there, all_pushed;
static int stolen; /* written by the thief, read after it was joined */

static void take(void* job) { atomic_fetch_add(&((struct job*)job)->times_taken, 1); }
static void take_stolen(void* job) {
  take(job);
  ++stolen;
}

struct robbery {
  void* victim;
  void (*rob)(void*);
};
/* On a machine with one processor the thief runs only when the owner yields. The owner has queued something by then. */
static void let_the_thief_run(int i) {
  if (i % 1024 == 0) sched_yield();
}
static void* start(void* robbery) {
  atomic_store(&thief_is_there, true);
  ((struct robbery*)robbery)->rob(((struct robbery*)robbery)->victim);
  return NULL;
}

/* The thief may stop after a steal that finds nothing, if it saw `all_pushed` before that steal. */
static bool go_on(runq_status last, bool stop) { return last != RUNQ_EMPTY || !stop; }

static void rob_ring(void* victim) {
  runq_ring* mine = runq_ring_create();
  EXPECT(mine != NULL);
  runq_status status;
  bool stop;
  do {
    void* job = NULL;
    stop = atomic_load(&all_pushed);
    status = runq_ring_steal_half_into(victim, mine, RUNQ_RING_CAPACITY, &job, NULL);
    if (status == RUNQ_OK) {
      take_stolen(job);
      while (runq_ring_pop(mine, &job) == RUNQ_OK) take_stolen(job);
    }
  } while (go_on(status, stop));
  runq_ring_destroy(mine);
}

static void rob_ring_to_memory(void* victim) {
  runq_status status;
  bool stop;
  do {
    void* loot[RUNQ_RING_CAPACITY / 2];
    size_t taken = 0;
    stop = atomic_load(&all_pushed);
    status = runq_ring_steal_half(victim, loot, RUNQ_RING_CAPACITY / 2, &taken);
    for (size_t i = 0; i != taken; ++i) take_stolen(loot[i]);
  } while (go_on(status, stop));
}

static void rob_runnext(void* victim) {
  runq_status status;
  bool stop;
  do {
    void* job = NULL;
    stop = atomic_load(&all_pushed);
    status = runq_runnext_steal(victim, 1, &job);
    if (status == RUNQ_OK) take_stolen(job);
  } while (go_on(status, stop));
}

static void rob_chase_lev(void* victim) {
  runq_status status;
  bool stop;
  do {
    void* job = NULL;
    stop = atomic_load(&all_pushed);
    status = runq_chase_lev_steal(victim, &job);
    if (status == RUNQ_OK) take_stolen(job);
  } while (go_on(status, stop));
}

static void rob_split_ring(void* victim) {
  runq_split_ring* mine = runq_split_ring_create();
  EXPECT(mine != NULL);
  runq_status status;
  bool stop;
  do {
    void* job = NULL;
    stop = atomic_load(&all_pushed);
    status = runq_split_ring_steal_half_into(victim, mine, RUNQ_SPLIT_RING_CAPACITY, &job, NULL);
    if (status == RUNQ_OK) {
      take_stolen(job);
      while (runq_split_ring_pop(mine, &job) == RUNQ_OK) take_stolen(job);
    }
  } while (go_on(status, stop));
  runq_split_ring_destroy(mine);
}

static void rob_split_deque(void* victim) {
  runq_status status;
  bool stop;
  do {
    void* loot[RUNQ_SPLIT_DEQUE_CAPACITY];
    size_t taken = 0;
    stop = atomic_load(&all_pushed);
    status = runq_split_deque_steal_half(victim, loot, RUNQ_SPLIT_DEQUE_CAPACITY, &taken);
    for (size_t i = 0; i != taken; ++i) take_stolen(loot[i]);
  } while (go_on(status, stop));
}

static runq_global* shared;

static void rob_local_queue(void* victim) {
  runq_local_queue* mine = runq_local_queue_create(shared);
  EXPECT(mine != NULL);
  runq_status status;
  bool stop;
  do {
    runq_task* task = NULL;
    stop = atomic_load(&all_pushed);
    status = runq_local_queue_steal(mine, victim, true, 1, &task, NULL);
    if (status != RUNQ_OK) task = runq_local_queue_take_from(mine, shared, 2);
    if (task != NULL) status = RUNQ_OK;
    for (; task != NULL; task = runq_local_queue_pop(mine, NULL)) take_stolen(job_of(task));
  } while (go_on(status, stop));
  runq_local_queue_destroy(mine);
}

static void own_ring(void* queue) {
  void* job = NULL;
  for (int i = 0; i != job_count; ++i) {
    while (runq_ring_push(queue, &jobs[i]) == RUNQ_FULL) {
      if (runq_ring_pop(queue, &job) == RUNQ_OK) take(job);
    }
    let_the_thief_run(i);
  }
  while (runq_ring_pop(queue, &job) == RUNQ_OK) take(job);
}

static void own_runnext(void* slot) {
  void* job = NULL;
  for (int i = 0; i != job_count; ++i) {
    EXPECT(runq_runnext_put(slot, &jobs[i], &job) == RUNQ_OK);
    if (job != NULL) take(job);
    let_the_thief_run(i);
  }
  if (runq_runnext_take(slot, &job) == RUNQ_OK) take(job);
}

static void own_chase_lev(void* queue) {
  void* job = NULL;
  for (int i = 0; i != job_count; ++i) {
    EXPECT(runq_chase_lev_push(queue, &jobs[i]) == RUNQ_OK);
    let_the_thief_run(i);
    if (i % 3 == 0 && runq_chase_lev_pop(queue, &job) == RUNQ_OK) take(job);
  }
  while (runq_chase_lev_pop(queue, &job) == RUNQ_OK) take(job);
}

static void own_split_ring(void* queue) {
  void* job = NULL;
  for (int i = 0; i != job_count; ++i) {
    while (runq_split_ring_push(queue, &jobs[i]) == RUNQ_FULL) {
      if (runq_split_ring_pop(queue, &job) == RUNQ_OK) take(job);
    }
    let_the_thief_run(i);
  }
  while (runq_split_ring_pop(queue, &job) == RUNQ_OK) take(job);
}

static void own_split_deque(void* queue) {
  void* job = NULL;
  for (int i = 0; i != job_count; ++i) {
    while (runq_split_deque_push(queue, &jobs[i]) == RUNQ_FULL) {
      if (runq_split_deque_pop(queue, &job) == RUNQ_OK) take(job);
    }
    let_the_thief_run(i);
    if (i % 3 == 0 && runq_split_deque_pop(queue, &job) == RUNQ_OK) take(job);
  }
  while (runq_split_deque_pop(queue, &job) == RUNQ_OK) take(job);
}

static void own_local_queue(void* queue) {
  runq_task* task = NULL;
  for (int i = 0; i != job_count; ++i) {
    if (i % 2 == 0) {
      runq_local_queue_push(queue, &jobs[i].link);
    } else {
      runq_local_queue_push_next(queue, &jobs[i].link);
    }
    let_the_thief_run(i);
    if (i % 5 == 0 && (task = runq_local_queue_pop(queue, NULL)) != NULL) take(job_of(task));
  }
  do {
    while ((task = runq_local_queue_pop(queue, NULL)) != NULL) take(job_of(task));
    if ((task = runq_local_queue_take_from(queue, shared, 2)) != NULL) take(job_of(task));
  } while (task != NULL);
}

static void two_threads(const char* name, void* queue, void (*own)(void*), void (*rob)(void*)) {
  EXPECT(queue != NULL);
  int round = 0;
  do { /* repeats the test if the owner was done before the thief got anything */
    pthread_t thief;
    struct robbery robbery = {queue, rob};
    stolen = 0;
    atomic_store(&thief_is_there, false);
    atomic_store(&all_pushed, false);
    for (int i = 0; i != job_count; ++i) {
      jobs[i].number = i;
      atomic_store(&jobs[i].times_taken, 0);
    }
    EXPECT(pthread_create(&thief, NULL, start, &robbery) == 0);
    while (!atomic_load(&thief_is_there)) sched_yield();
    own(queue);
    atomic_store(&all_pushed, true);
    EXPECT(pthread_join(thief, NULL) == 0);
    for (int i = 0; i != job_count; ++i) EXPECT(atomic_load(&jobs[i].times_taken) == 1);
  } while (stolen == 0 && ++round != 1000);
  EXPECT(stolen > 0);
  printf("%s: %d jobs, each taken once, %d of them by the thief\n", name, job_count, stolen);
}

int main(void) {
  ring_alone();
  runnext_alone();
  chase_lev_alone();
  bounded_chase_lev_alone();
  split_ring_alone();
  split_deque_alone();
  shared_fifo_alone();
  observed();
  a_moving_element_is_not_overlooked();
  local_queue_alone();
  EXPECT(strcmp(runq_status_text(RUNQ_LOST), "lost") == 0 && strcmp(runq_status_text(RUNQ_OK), "ok") == 0);

  runq_ring* ring = runq_ring_create();
  two_threads("ring", ring, own_ring, rob_ring);
  two_threads("ring, to memory", ring, own_ring, rob_ring_to_memory);
  runq_ring_destroy(ring);
  runq_runnext* slot = runq_runnext_create();
  two_threads("runnext", slot, own_runnext, rob_runnext);
  runq_runnext_destroy(slot);
  runq_chase_lev* deque = runq_chase_lev_create(64);
  two_threads("chase_lev", deque, own_chase_lev, rob_chase_lev);
  runq_chase_lev_destroy(deque);
  runq_split_ring* split_ring = runq_split_ring_create();
  two_threads("split_ring", split_ring, own_split_ring, rob_split_ring);
  runq_split_ring_destroy(split_ring);
  runq_split_deque* split_deque = runq_split_deque_create();
  two_threads("split_deque", split_deque, own_split_deque, rob_split_deque);
  runq_split_deque_destroy(split_deque);
  shared = runq_global_create();
  EXPECT(shared != NULL);
  runq_local_queue* queue = runq_local_queue_create(shared);
  two_threads("local_queue", queue, own_local_queue, rob_local_queue);
  runq_local_queue_destroy(queue);
  runq_global_destroy(shared);
  return 0;
}
