// Runs a text encoder exported by torch.export on token ids and prints the start of each output.
// usage: bert [MODEL [TOKEN ...]]   (default: the BERT-base folder of test/models, tokens 101 7592 1010 2088 ... as far as the input goes)
#include <stdio.h>
#include <stdlib.h>
#include <tc/tc.h>

enum { MAX_IO = 8 };

static void fill(tc_tensor *input, int which, int n_tokens, char **tokens) {
  static const int64_t hello[] = {101, 7592, 1010, 2088, 999, 102};
  int64_t *ids = tc_tensor_data(input);
  for (int64_t i = 0; i < tc_tensor_elements(input); i++)
    ids[i] = which == 1 ? 1 : which > 1 ? 0 : i < n_tokens ? atoll(tokens[i]) : n_tokens ? 0 : hello[i % 6]; // ids, mask, types
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "test/models/bert_base_1x12";
  tc_model *model = NULL;
  tc_tensor *inputs[MAX_IO] = {0}, *outputs[MAX_IO] = {0};
  int status = 1;
  if (tc_model_load(path, &(tc_model_options){.synthesize_weights = true}, &model) != TC_OK)
    goto done;
  int n_in = tc_model_input_count(model), n_out = tc_model_output_count(model);
  if (n_in > MAX_IO || n_out > MAX_IO) {
    fprintf(stderr, "bert: more than %d inputs or outputs\n", MAX_IO);
    goto done;
  }
  for (int i = 0; i < n_in; i++) {
    tc_dtype dtype;
    int rank;
    const int64_t *shape;
    if (tc_model_input(model, i, NULL, &dtype, &rank, &shape) != TC_OK || tc_tensor_create(dtype, rank, shape, &inputs[i]) != TC_OK)
      goto done;
    if (dtype != TC_I64) {
      fprintf(stderr, "bert: input %d is %s: expected token ids (i64)\n", i, tc_dtype_name(dtype));
      goto done;
    }
    fill(inputs[i], i, argc - 2 > 0 ? argc - 2 : 0, argv + 2);
  }
  if (tc_model_run(model, inputs, (size_t)n_in, outputs, (size_t)n_out) != TC_OK)
    goto done;
  for (int i = 0; i < n_out; i++) {
    const float *values = tc_tensor_data(outputs[i]);
    printf("output %d:", i);
    for (int64_t k = 0; k < 4 && k < tc_tensor_elements(outputs[i]); k++)
      printf(" %9.5f", (double)values[k]);
    printf(" ... (%lld values)\n", (long long)tc_tensor_elements(outputs[i]));
  }
  status = 0;
done:
  if (status)
    fprintf(stderr, "bert: %s\n", tc_last_error());
  for (int i = 0; i < MAX_IO; i++) {
    tc_tensor_release(inputs[i]);
    tc_tensor_release(outputs[i]);
  }
  tc_model_release(model);
  return status;
}
