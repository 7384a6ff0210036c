// Timing shared by the benches.
#ifndef TC_BENCH_H
#define TC_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline int bench_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double bench_median(double *times, int n) {
  qsort(times, (size_t)n, sizeof *times, bench_compare);
  return times[n / 2];
}

// Uniform in [-1, 1].
static inline void bench_fill(float *data, int64_t n, uint64_t seed) {
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    data[i] = (float)(seed >> 40) * 0x1p-23f - 1.0f;
  }
}

#endif // TC_BENCH_H
