/* SPDX-License-Identifier: MIT */
/* The threads of CDSChecker's harness, as its programs use them: as C11's, but that a thread's function returns
   nothing, and that a thread's number can be compared (`priv`). Made of pthreads, which the checker models. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct peers_thread;
typedef struct {
  struct peers_thread* priv;
} thrd_t;
typedef void (*thrd_start_t)(void* argument);

int thrd_create(thrd_t* made, thrd_start_t start, void* argument);
int thrd_join(thrd_t thread);
void thrd_yield(void);
thrd_t thrd_current(void);

#ifdef __cplusplus
}
#endif
