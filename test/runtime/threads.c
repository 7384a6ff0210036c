// RUN: test-runtime-threads | FileCheck %s --check-prefix=OK
// OK: ok {{[0-9]+}} checks
// The thread pool: every task runs once, nested and concurrent calls work, workers have indices of their own.
#include "runtime/exec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int checks;
static void check(bool ok, const char *what) {
  checks++;
  if (!ok) {
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
  }
}

enum { N = 1000 };
typedef struct counts {
  atomic_int seen[N];
  atomic_int in_use[8];
  atomic_bool clash, outside;
  int threads;
  bool nested;
} counts;

static void count_inner(void *user, int64_t begin, int64_t end, int worker) {
  (void)worker;
  for (int64_t i = begin; i < end; i++)
    atomic_fetch_add((atomic_int *)user, (int)i);
}

static void count(void *user, int64_t begin, int64_t end, int worker) {
  counts *c = user;
  if (worker < 0 || worker >= c->threads || begin < 0 || end > N || begin >= end) {
    c->outside = true;
    return;
  }
  if (atomic_fetch_add(&c->in_use[worker], 1) != 0)
    c->clash = true;
  for (int64_t i = begin; i < end; i++)
    atomic_fetch_add(&c->seen[i], 1);
  if (c->nested) {
    atomic_int sum = 0;
    tc__parallel_for(10, 4, count_inner, &sum);
    if (sum != 45)
      c->outside = true;
  }
  atomic_fetch_sub(&c->in_use[worker], 1);
}

static bool run_once(int64_t n, int threads, bool nested) {
  counts c = {.threads = threads, .nested = nested};
  tc__parallel_for(n, threads, count, &c);
  for (int i = 0; i < N; i++)
    if (c.seen[i] != (i < n))
      return false;
  return !c.clash && !c.outside;
}

static void *many(void *out) {
  bool ok = true;
  for (int i = 0; i < 200; i++)
    ok &= run_once(1 + i * 4, 1 + i % 8, i % 16 == 0);
  *(bool *)out = ok;
  return NULL;
}

int main(void) {
  tc__threads_set(3);
  check(tc__threads_get() == 3, "threads_set(3)");
  tc__threads_set(0);
  setenv("TC_NUM_THREADS", "5", 1);
  check(tc__threads_get() == 5, "TC_NUM_THREADS=5");
  check(run_once(0, 4, false), "no tasks");
  check(run_once(1, 4, false), "one task");
  check(run_once(N, 1, false), "one thread");
  for (int threads = 2; threads <= 8; threads++) {
    check(run_once(N, threads, false), "all tasks once");
    check(run_once(threads + 1, threads, true), "nested");
    usleep(1000); // the workers go to sleep and are woken
  }
  pthread_t t[4];
  bool ok[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, many, &ok[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], NULL);
    check(ok[i], "calls from several threads at once");
  }
#if !defined(__SANITIZE_THREAD__) // ThreadSanitizer ends a forked child that makes threads
  pid_t child = fork();
  if (child == 0)
    _exit(run_once(N, 4, true) ? 0 : 1);
  int status;
  check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "in a forked child");
#endif
  printf("ok %d checks\n", checks);
  return 0;
}
