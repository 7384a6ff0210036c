// f32 matmul N x N against OpenBLAS, in turn, on one and two threads.
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <tc/tc.h>

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

static tc_tensor *product(tc_tensor *a, tc_tensor *b) { return tc_matmul(a, b, false, false); }

static int bench(sgemm_fn sgemm, void (*set_threads)(int), int64_t n, int threads) {
  enum { ROUNDS = 9 };
  int64_t shape[2] = {n, n};
  tc_tensor *a = NULL, *b = NULL, *c = NULL;
  tc_function *f = NULL;
  if (tc_tensor_create(TC_F32, 2, shape, &a) != TC_OK || tc_tensor_create(TC_F32, 2, shape, &b) != TC_OK ||
      tc_tensor_create(TC_F32, 2, shape, &c) != TC_OK || tc_compile(product, NULL, &f) != TC_OK)
    return fprintf(stderr, "%s\n", tc_last_error()), 1;
  bench_fill(tc_tensor_data(a), n * n, 1);
  bench_fill(tc_tensor_data(b), n * n, 2);
  tc_set_num_threads(threads);
  if (set_threads)
    set_threads(threads);
  double ours[ROUNDS], theirs[ROUNDS], worst = 0;
  for (int r = -2; r < ROUNDS; r++) {
    tc_scope scope = tc_scope_open();
    double t0 = bench_now_ms();
    tc_tensor *y = tc_call(f, a, b);
    double t1 = bench_now_ms();
    if (!y)
      return fprintf(stderr, "%s\n", tc_last_error()), 1;
    if (sgemm)
      sgemm(101, 111, 111, (int)n, (int)n, (int)n, 1, tc_tensor_data(a), (int)n, tc_tensor_data(b), (int)n, 0, tc_tensor_data(c), (int)n);
    double t2 = bench_now_ms();
    if (r >= 0) {
      ours[r] = t1 - t0;
      theirs[r] = t2 - t1;
    } else { // a sample of rows against float64
      const float *pa = tc_tensor_data(a), *pb = tc_tensor_data(b), *py = tc_tensor_data(y);
      for (int64_t i = 0; i < n; i += n / 7 + 1)
        for (int64_t j = 0; j < n; j++) {
          double sum = 0;
          for (int64_t k = 0; k < n; k++)
            sum += (double)pa[i * n + k] * pb[k * n + j];
          worst = fmax(worst, fabs(sum - py[i * n + j]) / sqrt((double)n));
        }
    }
    tc_scope_close(scope);
  }
  double x = bench_median(ours, ROUNDS), y = bench_median(theirs, ROUNDS), flop = 2e-6 * (double)n * (double)n * (double)n;
  printf("matmul %lld^3 f32, %d thread%s: ours %.2f ms (%.0f GFLOP/s)", (long long)n, threads, threads > 1 ? "s" : "", x, flop / x);
  if (sgemm)
    printf(", OpenBLAS %.2f ms (%.0f GFLOP/s), ratio %.2f", y, flop / y, y / x);
  printf(", worst error %.1e\n", worst);
  tc_function_release(f);
  tc_tensor_release(a);
  tc_tensor_release(b);
  tc_tensor_release(c);
  return worst < 1e-5 ? 0 : 1;
}

int main(int argc, char **argv) {
  void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  sgemm_fn sgemm = NULL;
  void (*set_threads)(int) = NULL;
  if (lib) {
    void *p = dlsym(lib, "cblas_sgemm"), *q = dlsym(lib, "openblas_set_num_threads");
    memcpy(&sgemm, &p, sizeof p);
    memcpy(&set_threads, &q, sizeof q);
  } else {
    fprintf(stderr, "bench-matmul: no OpenBLAS here (apt-get install libopenblas0-pthread): ours alone\n");
  }
  int64_t sizes[16] = {512, 1024};
  int n = 2, status = 0;
  for (int i = 1; i < argc && i <= 16; i++)
    sizes[(n = i) - 1] = atoll(argv[i]);
  for (int i = 0; i < n; i++)
    for (int threads = 1; threads <= 2; threads++)
      status |= bench(sgemm, set_threads, sizes[i], threads);
  return status;
}
