// Runs an image classifier exported by torch.export and prints its five best classes.
// usage: resnet50 [MODEL]   (default: the ResNet-50 folder of test/models, whose weights follow a rule; a .pt2 brings its own)
#include "fixture_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <tc/tc.h>

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "test/models/resnet50_1x3x64x64";
  tc_model *model = NULL;
  tc_tensor *image = NULL, *logits = NULL;
  tc_dtype dtype;
  int rank, status = 1;
  const int64_t *shape;
  if (tc_model_load(path, &(tc_model_options){.synthesize_weights = true}, &model) != TC_OK ||
      tc_model_input(model, 0, NULL, &dtype, &rank, &shape) != TC_OK || tc_tensor_create(dtype, rank, shape, &image) != TC_OK)
    goto done;
  float *pixels = tc_tensor_data(image);
  for (int64_t i = 0; i < tc_tensor_elements(image); i++)
    pixels[i] = fixture_uniform("input0", i);
  if (tc_model_run(model, &image, 1, &logits, 1) != TC_OK)
    goto done;
  const float *scores = tc_tensor_data(logits);
  int64_t classes = tc_tensor_elements(logits), best[5] = {0};
  int found = 0;
  for (; found < 5 && found < classes; found++) { // a selection: five passes
    int64_t top = -1;
    for (int64_t c = 0; c < classes; c++) {
      int taken = 0;
      for (int k = 0; k < found; k++)
        taken |= best[k] == c;
      if (!taken && (top < 0 || scores[c] > scores[top]))
        top = c;
    }
    best[found] = top;
    printf("top %d: class %4lld  logit %8.4f\n", found + 1, (long long)top, (double)scores[top]);
  }
  status = 0;
done:
  if (status)
    fprintf(stderr, "resnet50: %s\n", tc_last_error());
  tc_tensor_release(image);
  tc_tensor_release(logits);
  tc_model_release(model);
  return status;
}
