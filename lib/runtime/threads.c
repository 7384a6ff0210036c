// The thread pool. One a process, made at the first parallel call and grown when a later call asks for more workers.
//
// A job is published in one atomic word: how many more workers may enter, and how many are inside. The caller works too, and when
// the tasks run out it closes the word and waits only for those that have entered: a worker that is still asleep costs nothing,
// and a forked child (which has no workers) still makes progress.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_getaffinity
#endif
#include "exec.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { MAX_WORKERS = 1024, SPIN_NS = 50000 };

typedef struct job {
  void (*fn)(void *user, int64_t begin, int64_t end, int worker);
  void *user;
  int64_t n_tasks, chunk;
  _Atomic int64_t next; ///< the first task that nobody took
} job;

static atomic_int chosen_threads; ///< 0 = the default
static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic uint32_t
    gate;             ///< high half: workers that may still enter (also the index of the next one); low half: workers inside
static job current;   ///< written only while the gate is closed and empty
static int n_workers; ///< guarded by busy
static atomic_int sleepers;
static pthread_mutex_t sleep_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sleep_cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int default_threads(void) {
  const char *text = getenv("TC_NUM_THREADS");
  if (text && *text) {
    char *end;
    long n = strtol(text, &end, 10);
    if (!*end && n >= 1)
      return n > MAX_WORKERS ? MAX_WORKERS : (int)n;
    tc__report(TC_SEVERITY_WARNING, NULL, "TC_NUM_THREADS: expected a number of at least 1, found '%s'; ignored", text);
  }
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : n;
}

void tc__threads_set(int n) { atomic_store(&chosen_threads, n < 0 ? 0 : n > MAX_WORKERS ? MAX_WORKERS : n); }

int tc__threads_get(void) {
  static atomic_int by_default;
  int n = atomic_load(&chosen_threads);
  if (n > 0)
    return n;
  n = atomic_load(&by_default);
  if (n == 0) {
    n = default_threads();
    atomic_store(&by_default, n);
  }
  return n;
}

static void work(int worker) {
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&current.next, current.chunk, memory_order_relaxed);
    if (begin >= current.n_tasks)
      return;
    int64_t left = current.n_tasks - begin;
    current.fn(current.user, begin, begin + (left < current.chunk ? left : current.chunk), worker);
  }
}

// Enters the job if it has room. The worker's index is the place it took: unique while the job runs.
static bool enter(int *out_worker) {
  uint32_t g = atomic_load(&gate);
  while (g >> 16)
    if (atomic_compare_exchange_weak(&gate, &g, g - (1u << 16) + 1)) {
      *out_worker = (int)(g >> 16);
      return true;
    }
  return false;
}

static void *worker_main(void *unused) {
  (void)unused;
  int64_t idle_since = now_ns();
  for (unsigned turn = 0;; turn++) {
    int worker;
    if (enter(&worker)) {
      work(worker);
      atomic_fetch_sub(&gate, 1);
      idle_since = now_ns();
      continue;
    }
    pause_cpu();
    if (turn % 64 || now_ns() - idle_since < SPIN_NS)
      continue;
    pthread_mutex_lock(&sleep_mutex);
    atomic_fetch_add(&sleepers, 1); // before the gate is read again: the caller opens the gate, then reads sleepers
    while (!(atomic_load(&gate) >> 16))
      pthread_cond_wait(&sleep_cond, &sleep_mutex);
    atomic_fetch_sub(&sleepers, 1);
    pthread_mutex_unlock(&sleep_mutex);
    idle_since = now_ns();
  }
  return NULL;
}

// The child of a fork has the caller alone.
static void after_fork(void) {
  n_workers = 0;
  atomic_store(&gate, 0);
  atomic_store(&sleepers, 0);
  atomic_flag_clear(&busy);
  pthread_mutex_init(&sleep_mutex, NULL);
  pthread_cond_init(&sleep_cond, NULL);
}

static void register_fork(void) { pthread_atfork(NULL, NULL, after_fork); }

// Makes up to `wanted` workers; fewer when the system has no more threads to give.
static void grow(int wanted) {
  if (n_workers >= wanted)
    return;
  pthread_once(&fork_once, register_fork);
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) != 0)
    return;
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  while (n_workers < wanted) {
    pthread_t thread;
    if (pthread_create(&thread, &attr, worker_main, NULL) != 0)
      break;
    n_workers++;
  }
  pthread_attr_destroy(&attr);
}

void tc__parallel_for(int64_t n_tasks, int threads, void (*fn)(void *user, int64_t begin, int64_t end, int worker), void *user) {
  if (n_tasks <= 0)
    return;
  if (threads > MAX_WORKERS)
    threads = MAX_WORKERS;
  if (threads > n_tasks)
    threads = (int)n_tasks;
  // Taken by the call around this one, or by another thread's: run alone rather than wait.
  if (threads <= 1 || atomic_flag_test_and_set(&busy)) {
    fn(user, 0, n_tasks, 0);
    return;
  }
  grow(threads - 1);
  current.fn = fn;
  current.user = user;
  current.n_tasks = n_tasks;
  // A few chunks a thread even out uneven tasks and a core that is taken away. next may pass n_tasks by one chunk a thread.
  current.chunk = n_tasks / ((int64_t)threads * 4) + 1;
  atomic_store_explicit(&current.next, 0, memory_order_relaxed);
  atomic_store(&gate, (uint32_t)(threads - 1) << 16);
  if (atomic_load(&sleepers) > 0) {
    pthread_mutex_lock(&sleep_mutex);
    pthread_cond_broadcast(&sleep_cond);
    pthread_mutex_unlock(&sleep_mutex);
  }
  work(0);
  atomic_fetch_and(&gate, 0xffff); // no more may enter
  for (int turn = 0; atomic_load(&gate) != 0; turn++) {
    pause_cpu();
    if (turn > 4096) // the worker may be waiting for this very core
      sched_yield();
  }
  atomic_flag_clear(&busy);
}
