// sin(cos(x)): trace a C function, compile it to one kernel, call it.
#include <math.h>
#include <stdio.h>
#include <tc/tc.h>

static tc_tensor *wave(tc_tensor *x) { return tc_sin(tc_cos(x)); }

int main(void) {
  enum { N = 10000 };
  static float data[N];
  for (int i = 0; i < N; i++)
    data[i] = (float)i * 0.01f - 50.0f;
  tc_function *compiled = NULL;
  tc_tensor *x = NULL;
  int64_t shape[] = {N};
  if (tc_compile(wave, NULL, &compiled) != TC_OK || tc_tensor_wrap(data, TC_F32, 1, shape, &x) != TC_OK)
    return fprintf(stderr, "sincos: %s\n", tc_last_error()), 1;
  tc_tensor *y = tc_call(compiled, x); // traced and compiled here, replayed by later calls
  if (!y)
    return fprintf(stderr, "sincos: %s\n", tc_last_error()), 1;
  double worst = 0;
  for (int i = 0; i < N; i++)
    worst = fmax(worst, fabs(((float *)tc_tensor_data(y))[i] - sin(cos((double)data[i]))));
  printf("%sworst error against float64: %.2e\n", tc_function_explain(compiled), worst);
  tc_scope_clear();
  tc_tensor_release(x);
  tc_function_release(compiled);
  return worst < 5e-7 ? 0 : 1;
}
