// RUN: test-api-function | FileCheck %s
// Compiled functions agree with their eager run, recompile for new shapes, and report errors with the caller's line.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tc/tc.h>

#define CHECK(cond)                                                                                                              \
  do {                                                                                                                           \
    if (!(cond)) {                                                                                                               \
      printf("%s:%d: %s failed: %s\n", __FILE__, __LINE__, #cond, tc_last_error());                                              \
      exit(1);                                                                                                                   \
    }                                                                                                                            \
  } while (0)

static int traced;

static tc_tensor *wave(tc_tensor *x) {
  traced++;
  return tc_sin(tc_cos(x));
}

static tc_tensor *weights; // captured: becomes a parameter

static tc_tensor *layer(tc_tensor *x, tc_tensor *bias) {
  tc_tensor *h = tc_add(tc_matmul(x, weights, false, true), bias);
  int64_t dims[1] = {1};
  return tc_sub(tc_gelu(h, "none"), tc_mean(h, dims, 1, true));
}

static tc_tensor *broken(tc_tensor *x) { return tc_exp(tc_matmul(x, x, false, false)); }

static tc_tensor *random_tensor(int rank, const int64_t *shape, unsigned seed) {
  tc_tensor *t = NULL;
  CHECK(tc_tensor_create(TC_F32, rank, shape, &t) == TC_OK);
  float *data = tc_tensor_data(t);
  for (int64_t i = 0; i < tc_tensor_elements(t); i++) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 8) * 0x1p-23f - 1.0f;
  }
  return t;
}

static double distance(tc_tensor *a, tc_tensor *b) {
  CHECK(a && b && tc_tensor_elements(a) == tc_tensor_elements(b));
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < tc_tensor_elements(a); i++) {
    double x = ((float *)tc_tensor_data(a))[i], y = ((float *)tc_tensor_data(b))[i];
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return sqrt(difference / norm);
}

int main(void) {
  int64_t sizes[3] = {10000, 1, 37};
  tc_function *f = NULL;
  CHECK(tc_compile(wave, NULL, &f) == TC_OK);
  for (int i = 0; i < 3; i++) {
    tc_tensor *x = random_tensor(1, &sizes[i], 7);
    CHECK(distance(tc_call(f, x), wave(x)) < 1e-6);
    int before = traced;
    CHECK(distance(tc_call(f, x), wave(x)) < 1e-6);
    CHECK(traced == before + 1); // only the eager call ran the function: the compiled one was replayed
    tc_tensor_release(x);
  }
  CHECK(strstr(tc_function_explain(f), "kernels: 1 "));
  tc_function_release(f);

  int64_t w_shape[2] = {64, 96}, x_shape[2] = {10, 96}, b_shape[1] = {64};
  weights = random_tensor(2, w_shape, 1);
  tc_tensor *x = random_tensor(2, x_shape, 2), *bias = random_tensor(1, b_shape, 3);
  tc_tensor *eager = layer(x, bias);
  static const char *const backends[] = {NULL, "eager", "interp"};
  for (int i = 0; i < 3; i++) {
    CHECK(tc_compile(layer, &(tc_compile_options){.backend = backends[i]}, &f) == TC_OK);
    tc_tensor *y = tc_call(f, x, bias);
    double error = distance(y, eager);
    printf("%s: %s\n", backends[i] ? backends[i] : "default", error < 1e-5 ? "agrees" : "differs");
    tc_function_release(f);
  }
  // CHECK: default: agrees
  // CHECK: eager: agrees
  // CHECK: interp: agrees

  CHECK(tc_compile(wave, &(tc_compile_options){.backend = "intrep"}, &f) == TC_OK);
  CHECK(!tc_call(f, x));
  // CHECK: Invalid backend: 'intrep', did you mean: 'interp'?
  printf("%s\n", tc_last_error());
  tc_function_release(f);

  CHECK(tc_compile(broken, NULL, &f) == TC_OK);
  CHECK(!tc_call(f, x));
  // CHECK: matmul
  printf("%s\n", tc_last_error());
  CHECK(!tc_call(f, NULL));
  tc_function_release(f);

  tc_tensor_release(x);
  tc_tensor_release(bias);
  tc_tensor_release(weights);
  tc_scope_clear();
  // CHECK: function ok
  printf("function ok\n");
  return 0;
}
