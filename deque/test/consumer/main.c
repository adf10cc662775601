/* SPDX-License-Identifier: MIT
 * A first program of a user of the C interface. It must build with every way to add the library to a project. */
#include <runq.h>

struct job {
  int id;
  runq_task link;
};

int main(void) {
  runq_global* global = runq_global_create();
  runq_local_queue* queue = runq_local_queue_create(global);
  struct job a = {.id = 1}, b = {.id = 2};
  runq_local_queue_push(queue, &a.link);
  runq_local_queue_push_next(queue, &b.link);
  const int first = RUNQ_TASK_OF(runq_local_queue_pop(queue, NULL), struct job, link)->id;
  const int second = RUNQ_TASK_OF(runq_local_queue_pop(queue, NULL), struct job, link)->id;
  runq_local_queue_destroy(queue);
  runq_global_destroy(global);

  runq_chase_lev* deque = runq_chase_lev_create(64);
  void* got = NULL;
  const int pushed = runq_chase_lev_push(deque, &a) == RUNQ_OK;
  const int stolen = runq_chase_lev_steal(deque, &got) == RUNQ_OK && got == &a;
  runq_chase_lev_destroy(deque);
  return first == 2 && second == 1 && pushed && stolen ? 0 : 1;
}
