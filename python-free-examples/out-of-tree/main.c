// GELU by its definition, x * (1 + erf(x / sqrt(2))) / 2, compiled to one kernel by an installed tc.
#include <math.h>
#include <stdio.h>
#include <tc/tc.h>

static tc_tensor *gelu(tc_tensor *x) { return tc_gelu(x, "none"); }

int main(void) {
  float data[64];
  for (int i = 0; i < 64; i++)
    data[i] = (float)(i - 32) / 8;
  int64_t shape[] = {4, 16};
  tc_function *compiled = NULL;
  tc_tensor *x = NULL;
  if (tc_compile(gelu, NULL, &compiled) != TC_OK || tc_tensor_wrap(data, TC_F32, 2, shape, &x) != TC_OK)
    return fprintf(stderr, "gelu: %s\n", tc_last_error()), 1;
  tc_tensor *y = tc_call(compiled, x);
  if (!y)
    return fprintf(stderr, "gelu: %s\n", tc_last_error()), 1;
  double worst = 0;
  for (int i = 0; i < 64; i++)
    worst = fmax(worst, fabs(((const float *)tc_tensor_data(y))[i] - data[i] * (1 + erf(data[i] * sqrt(0.5))) / 2));
  printf("gelu: worst error against float64: %.1e\n", worst);
  tc_scope_clear();
  tc_tensor_release(x);
  tc_function_release(compiled);
  return worst < 1e-6 ? 0 : 1;
}
