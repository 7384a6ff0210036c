// sin(cos(x)), n = 2^24: ours on one and two threads against a libm loop on one, in turn.
#include "bench.h"

#include <math.h>
#include <tc/tc.h>

static tc_tensor *wave(tc_tensor *x) { return tc_sin(tc_cos(x)); }

__attribute__((noinline)) static void libm_wave(const float *x, float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    y[i] = sinf(cosf(x[i]));
}

int main(void) {
  enum { ROUNDS = 7 };
  int64_t n = INT64_C(1) << 24;
  float *data = aligned_alloc(64, (size_t)n * sizeof *data), *out = aligned_alloc(64, (size_t)n * sizeof *out);
  if (!data || !out)
    return 1;
  bench_fill(data, n, 1);
  for (int64_t i = 0; i < n; i++)
    data[i] *= 10;
  tc_tensor *x = NULL;
  tc_function *f = NULL;
  if (tc_tensor_wrap(data, TC_F32, 1, &n, &x) != TC_OK || tc_compile(wave, NULL, &f) != TC_OK)
    return fprintf(stderr, "%s\n", tc_last_error()), 1;
  // The worker threads of an executable are fixed when it is made: one function for each count.
  tc_function *two = NULL;
  tc_set_num_threads(1);
  tc_scope scope = tc_scope_open();
  tc_tensor *y = tc_call(f, x);
  tc_set_num_threads(2);
  if (!y || tc_compile(wave, NULL, &two) != TC_OK || !tc_call(two, x))
    return fprintf(stderr, "%s\n", tc_last_error()), 1;
  double worst = 0;
  for (int64_t i = 0; i < n; i++)
    worst = fmax(worst, fabs(((float *)tc_tensor_data(y))[i] - sin(cos((double)data[i]))));
  tc_scope_close(scope);
  double ours1[ROUNDS], ours2[ROUNDS], libm[ROUNDS];
  libm_wave(data, out, n);
  for (int r = 0; r < ROUNDS; r++) {
    double t0 = bench_now_ms();
    libm_wave(data, out, n);
    double t1 = bench_now_ms();
    scope = tc_scope_open();
    tc_call(f, x);
    double t2 = bench_now_ms();
    tc_call(two, x);
    double t3 = bench_now_ms();
    tc_scope_close(scope);
    libm[r] = t1 - t0;
    ours1[r] = t2 - t1;
    ours2[r] = t3 - t2;
  }
  double l = bench_median(libm, ROUNDS), a = bench_median(ours1, ROUNDS), b = bench_median(ours2, ROUNDS);
  printf("sin(cos(x)) n=2^24: libm loop %.1f ms; ours, 1 thread %.1f ms (%.1fx); 2 threads %.1f ms (%.1fx); worst error %.1e\n", l, a, l / a,
         b, l / b, worst);
  tc_function_release(f);
  tc_function_release(two);
  tc_tensor_release(x);
  worst = fmax(worst, fabs((double)out[n / 2] - sin(cos((double)data[n / 2])))); // the peer's work is used
  free(data);
  free(out);
  return worst < 5e-7 ? 0 : 1;
}
