// RUN: test-api-tensor %t.npy | FileCheck %s
// Tensors, scopes, eager ops, sticky errors.
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

static void on_diagnostic(tc_severity severity, const char *location, const char *message, void *user) {
  (void)severity;
  ++*(int *)user;
  printf("diagnostic [%s] %s\n", strrchr(location, '/') ? strrchr(location, '/') + 1 : location, message);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  int diagnostics = 0;
  tc_set_diagnostic_handler(on_diagnostic, &diagnostics);

  float values[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  tc_tensor *x = NULL, *copy = NULL, *bad = NULL;
  CHECK(tc_tensor_create_copy(values, TC_F32, 2, shape, &x) == TC_OK);
  CHECK(tc_tensor_rank(x) == 2 && tc_tensor_shape(x)[1] == 3 && tc_tensor_bytes(x) == 24 && tc_tensor_dtype(x) == TC_F32);
  CHECK((uintptr_t)tc_tensor_data(x) % 64 == 0);

  CHECK(tc_tensor_save_npy(x, argv[1]) == TC_OK && tc_tensor_load_npy(argv[1], &copy) == TC_OK);
  CHECK(memcmp(tc_tensor_data(copy), values, sizeof values) == 0 && tc_tensor_shape(copy)[0] == 2);
  tc_tensor_release(copy);

  // CHECK: diagnostic [] shape[1] is -3
  shape[1] = -3;
  CHECK(tc_tensor_create(TC_F32, 2, shape, &bad) == TC_ERR_INVALID_ARGUMENT && !bad);
  // CHECK: diagnostic [] the shape has more than 2^63 bytes
  int64_t huge[2] = {INT64_MAX / 2, INT64_MAX / 2};
  CHECK(tc_tensor_create(TC_F32, 2, huge, &bad) == TC_ERR_INVALID_ARGUMENT && !bad);

  tc_scope scope = tc_scope_open();
  tc_tensor *y = tc_mul(tc_add(x, tc_scalar(1)), tc_scalar_i64(2)); // f32: numbers take the tensor's dtype
  CHECK(y && tc_tensor_dtype(y) == TC_F32);
  for (int i = 0; i < 6; i++)
    CHECK(((float *)tc_tensor_data(y))[i] == (values[i] + 1) * 2);
  tc_tensor_retain(y);
  tc_scope_close(scope);
  CHECK(((float *)tc_tensor_data(y))[5] == 12); // outlives its scope
  tc_tensor_release(y);

  // An error names the op and the caller's line; what is built on it is NULL without a second report.
  float three[3] = {0};
  int64_t four[1] = {3}, wrong[1] = {2};
  tc_tensor *a = NULL, *b = NULL;
  CHECK(tc_tensor_create_copy(three, TC_F32, 1, four, &a) == TC_OK && tc_tensor_create_copy(three, TC_F32, 1, wrong, &b) == TC_OK);
  diagnostics = 0;
  // CHECK: diagnostic [tensor.c:[[#@LINE+1]]] add: {{.*}}broadcast
  CHECK(tc_sin(tc_cos(tc_add(a, b))) == NULL);
  CHECK(diagnostics == 1 && strstr(tc_last_error(), "add"));
  tc_tensor_release(a);
  tc_tensor_release(b);
  tc_tensor_release(x);
  tc_tensor_release(NULL);
  tc_scope_clear();
  // CHECK: tensor ok
  printf("tensor ok\n");
  return 0;
}
