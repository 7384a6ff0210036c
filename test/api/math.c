// RUN: test-api-math | FileCheck %s
// Compiled math against libm one precision up: the errors that passes/cpu/expand_math.c states, and C's results for zeros, infinities
// and NaN.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tc/tc.h>

#define COUNT 60000

static double reference_rsqrt(double x) { return 1 / sqrt(x); }

// name, tc function, reference, f32 bound in ulp, f64 bound in ulp (0 = not tested), largest |x|
#define FUNCTIONS(X)                                                                                                             \
  X(exp, exp, 1.5, 2, INFINITY)                                                                                                  \
  X(exp2, exp2, 1.5, 2, INFINITY)                                                                                                \
  X(expm1, expm1, 2, 3, INFINITY)                                                                                                \
  X(log, log, 1, 2, INFINITY)                                                                                                    \
  X(log2, log2, 2.5, 2, INFINITY)                                                                                                \
  X(log10, log10, 2.5, 2, INFINITY)                                                                                              \
  X(log1p, log1p, 1.5, 2, INFINITY)                                                                                              \
  X(sin, sin, 1.6, 2, 0x1p30)                                                                                                    \
  X(cos, cos, 1.6, 2, 0x1p30)                                                                                                    \
  X(tan, tan, 4, 4, 20)                                                                                                          \
  X(asin, asin, 2.5, 2, INFINITY)                                                                                                \
  X(acos, acos, 2.5, 2, INFINITY)                                                                                                \
  X(atan, atan, 3, 2, INFINITY)                                                                                                  \
  X(sinh, sinh, 4, 3, INFINITY)                                                                                                  \
  X(cosh, cosh, 4, 3, INFINITY)                                                                                                  \
  X(tanh, tanh, 3, 3, INFINITY)                                                                                                  \
  X(asinh, asinh, 2.5, 3, INFINITY)                                                                                              \
  X(acosh, acosh, 2.5, 3, INFINITY)                                                                                              \
  X(atanh, atanh, 2.5, 3, INFINITY)                                                                                              \
  X(erf, erf, 6, 2, INFINITY)                                                                                                    \
  X(erfc, erfc, 16, 6, INFINITY)                                                                                                 \
  X(rsqrt, reference_rsqrt, 1.6, 1.6, INFINITY)

#define WRAP(name, reference, f32, f64, limit)                                                                                   \
  static tc_tensor *call_##name(tc_tensor *x) { return tc_##name(x); }                                                           \
  static double f64_##name(double x) { return reference(x); }
FUNCTIONS(WRAP)

typedef struct function {
  const char *name;
  tc_tensor *(*fn)(tc_tensor *);
  double (*reference)(double);
  double bound[2], limit;
} function;

#define ROW(name, reference, f32, f64, limit) {#name, call_##name, f64_##name, {f32, f64}, limit},
static const function functions[] = {FUNCTIONS(ROW)};

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static double sample(int i, tc_dtype dtype) {
  static const double special[] = {0.0,   -0.0, 1,    -1,    INFINITY, -INFINITY, NAN,  1e-40, -1e-40, 0.5,  -0.5, 2,    -2,   1e9,  -1e9,
                                   -1e10, 88,   88.4, 88.49, -88,      89,        -89, 104,   -104,   -3.92, 709, -745, -1e4, 3e38, -3e38};
  if (i < (int)(sizeof special / sizeof *special))
    return special[i];
  if (i % 2)
    return ((double)(next() >> 11) * 0x1p-53 * 2 - 1) * (i % 4 == 1 ? 20 : 2);
  if (dtype == TC_F64) { // any mantissa, exponents of the f32 range: the reference has one precision only
    uint64_t bits = next();
    double x;
    bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1023 - 60 + (bits >> 52) % 120) << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
  }
  uint32_t bits = (uint32_t)next();
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Units in the last place of dtype between y and the reference r; 1e30 for another class (NaN, infinity, sign of a zero).
static double ulps(double y, double r, tc_dtype dtype) {
  int bits = dtype == TC_F32 ? 23 : 52, least = dtype == TC_F32 ? -126 : -1022;
  double rounded = dtype == TC_F32 ? (double)(float)r : r;
  if (isnan(rounded) || isnan(y))
    return isnan(rounded) && isnan(y) ? 0 : 1e30;
  if (isinf(rounded) || isinf(y))
    return rounded == y || fabs(isinf(y) ? r : y) > (dtype == TC_F32 ? 3.4028e38 : 1.7976e308) ? 0 : 1e30;
  if (y == 0 && rounded == 0)
    return signbit(y) == signbit(rounded) ? 0 : 1e30;
  int e = r == 0 ? least : ilogb(r);
  return ldexp(fabs(y - r), bits - (e < least ? least : e));
}

static int check(const function *f, tc_dtype dtype) {
  int64_t shape[1] = {COUNT};
  tc_tensor *x = NULL;
  tc_function *compiled = NULL;
  int failed = 1;
  if (tc_tensor_create(dtype, 1, shape, &x) == TC_OK && tc_compile(f->fn, NULL, &compiled) == TC_OK) {
    for (int i = 0; i < COUNT; i++) {
      double v = sample(i, dtype);
      // tiny arguments of erf lose digits: x times a polynomial is below the least normal number there
      if (fabs(v) > f->limit || (!strcmp(f->name, "erf") && v != 0 && fabs(v) < 1e-30))
        v = 1;
      if (dtype == TC_F32)
        ((float *)tc_tensor_data(x))[i] = (float)v;
      else
        ((double *)tc_tensor_data(x))[i] = v;
    }
    tc_tensor *y = tc_call(compiled, x);
    double worst = 0, at = 0, got = 0;
    for (int i = 0; y && i < COUNT; i++) {
      double v = dtype == TC_F32 ? ((float *)tc_tensor_data(x))[i] : ((double *)tc_tensor_data(x))[i];
      double result = dtype == TC_F32 ? ((float *)tc_tensor_data(y))[i] : ((double *)tc_tensor_data(y))[i];
      double error = ulps(result, f->reference(v), dtype);
      if (error > worst)
        worst = error, at = v, got = result;
    }
    failed = !y || worst > f->bound[dtype == TC_F64];
    if (failed)
      printf("%s %s: %g ulp at %.17g: %.17g, not %.17g %s\n", f->name, dtype == TC_F32 ? "f32" : "f64", worst, at, got, f->reference(at),
             y ? "" : tc_last_error());
  }
  tc_scope_clear();
  tc_tensor_release(x);
  tc_function_release(compiled);
  return failed;
}

int main(void) {
  int failed = 0, n = 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++, n += 2)
    failed += check(&functions[i], TC_F32) + check(&functions[i], TC_F64);
  // CHECK: 44 functions within their bounds, 0 not
  printf("%d functions within their bounds, %d not\n", n - failed, failed);
  return failed != 0;
}
