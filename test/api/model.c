// RUN: test-api-model %S/../models/small/mlp | FileCheck %s
// Loading an archive with its weights, running it, and the errors of a wrong call.
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

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char path[4096];
  tc_model *model = NULL;
  snprintf(path, sizeof path, "%s/model.pt2", argv[1]);
  CHECK(tc_model_load(path, NULL, &model) == TC_OK);
  CHECK(tc_model_input_count(model) == 1 && tc_model_output_count(model) == 1);
  tc_tensor *x = NULL, *want = NULL, *y = NULL;
  snprintf(path, sizeof path, "%s/input0.npy", argv[1]);
  CHECK(tc_tensor_load_npy(path, &x) == TC_OK);
  snprintf(path, sizeof path, "%s/output0.npy", argv[1]);
  CHECK(tc_tensor_load_npy(path, &want) == TC_OK);
  for (int run = 0; run < 2; run++) {
    CHECK(tc_model_run(model, &x, 1, &y, 1) == TC_OK);
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < tc_tensor_elements(want); i++) {
      double a = ((float *)tc_tensor_data(y))[i], b = ((float *)tc_tensor_data(want))[i];
      difference += (a - b) * (a - b);
      norm += b * b;
    }
    CHECK(sqrt(difference / norm) < 1e-5);
    tc_tensor_release(y);
  }
  int64_t shape[2] = {1, 1};
  tc_tensor *wrong = NULL;
  CHECK(tc_tensor_create(TC_F32, 2, shape, &wrong) == TC_OK);
  CHECK(tc_model_run(model, &wrong, 1, &y, 1) == TC_ERR_SHAPE_MISMATCH && !y);
  // CHECK: input 0 ({{.*}}): expected f32[{{.*}}], found f32[1,1]
  printf("%s\n", tc_last_error());
  tc_tensor_release(wrong);
  CHECK(tc_tensor_create(TC_F64, tc_tensor_rank(x), tc_tensor_shape(x), &wrong) == TC_OK);
  CHECK(tc_model_run(model, &wrong, 1, &y, 1) == TC_ERR_DTYPE_MISMATCH && !y);
  tc_tensor_release(wrong);
  CHECK(tc_model_run(model, &x, 1, &y, 0) == TC_ERR_INVALID_ARGUMENT);
  tc_tensor_release(x);
  tc_tensor_release(want);
  tc_model_release(model);
  model = NULL;
  CHECK(tc_model_load("no/such/model.pt2", NULL, &model) != TC_OK && !model);
  // CHECK: no/such/model.pt2
  printf("no/such/model.pt2: %s\n", tc_last_error());
  // CHECK: model ok
  printf("model ok\n");
  return 0;
}
