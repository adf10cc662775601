/* SPDX-License-Identifier: MIT */
/* main(), and the threads of include/threads.h, for programs in C. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <threads.h>

struct peers_thread {
  pthread_t id;
  thrd_start_t start;
  void* argument;
};

#ifdef __cplusplus
#define PEERS_THREAD_LOCAL thread_local
#else
#define PEERS_THREAD_LOCAL _Thread_local
#endif
static PEERS_THREAD_LOCAL struct peers_thread* current;

static void* run(void* argument) {
  current = (struct peers_thread*)argument;
  current->start(current->argument);
  return NULL;
}

int thrd_create(thrd_t* made, thrd_start_t start, void* argument) {
  struct peers_thread* const thread = (struct peers_thread*)malloc(sizeof *thread);
  thread->start = start;
  thread->argument = argument;
  made->priv = thread; /* before the thread starts, which may look for itself */
  return pthread_create(&thread->id, NULL, &run, thread);
}
int thrd_join(thrd_t thread) {
  const int error = pthread_join(thread.priv->id, NULL);
  free(thread.priv);
  return error;
}
void thrd_yield(void) { sched_yield(); }
thrd_t thrd_current(void) {
  const thrd_t me = {current};
  return me;
}

int user_main(int argc, char** argv);
int main(int argc, char** argv) { return user_main(argc, argv); }
