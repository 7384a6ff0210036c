// tc-expand-math: math ops become polynomials in arith, branch-free, so that a loop over them vectorises and a GPU needs no library.
//
//   %y = math.exp %x : f32      becomes      a rounding to a multiple of ln 2, a polynomial, and a scaling by a power of two
//
// f32 forms follow the Cephes library's coefficients (S. L. Moshier), sin and cos with the argument reduced in f64 (right for |x| < 2^48), erf the rational form used
// by Eigen, pow by way of f64. test/api/math.c holds the bounds, in ulp: exp, exp2 1.5; expm1 2; log 1; log1p 1.5; log2, log10 2.5; sin, cos 1.6; tan 4 (|x| < 20);
// asin, acos, asinh, acosh, atanh 2.5; atan, tanh 3; sinh, cosh 4; erf 6 (more where the result is below the least normal number); erfc 16; rsqrt 1.6; pow 1.
// f64: exp, exp2, expm1, log, log1p, sin, cos, tan and rsqrt are expanded (3 ulp, sin, cos and tan for |x| < 2^40); the rest are calls of libm.
// NaN, infinities and signed zeros give what C's functions give.
// floor, ceil, trunc, roundeven, sqrt, absf, copysign and fma stay: they are instructions.
#include "pass.h"
#include "support/body.h"

#include <math.h>

typedef MlirValue V;
typedef tc__builder B;

static V c(B *b, V like, double v) { return tc__const_f(b, mlirValueGetType(like), v); }
static V add(B *b, V x, V y) { return tc__binary(b, "arith.addf", x, y); }
static V sub(B *b, V x, V y) { return tc__binary(b, "arith.subf", x, y); }
static V mul(B *b, V x, V y) { return tc__binary(b, "arith.mulf", x, y); }
static V divide(B *b, V x, V y) { return tc__binary(b, "arith.divf", x, y); }
static V neg(B *b, V x) { return tc__unary(b, "arith.negf", x); }
static V fma_(B *b, V x, V y, V z) { return tc__ternary(b, "math.fma", x, y, z); }
static V absolute(B *b, V x) { return tc__unary(b, "math.absf", x); }
static V root(B *b, V x) { return tc__unary(b, "math.sqrt", x); }
static V with_sign(B *b, V magnitude, V sign) { return tc__binary(b, "math.copysign", magnitude, sign); }
static V less(B *b, V x, double y) { return tc__cmpf(b, TC__CMPF_OLT, x, c(b, x, y)); }
static V greater(B *b, V x, double y) { return tc__cmpf(b, TC__CMPF_OGT, x, c(b, x, y)); }
static V equals(B *b, V x, double y) { return tc__cmpf(b, TC__CMPF_OEQ, x, c(b, x, y)); }
static V pick(B *b, V cond, V x, V y) { return tc__select(b, cond, x, y); }

static bool is_double(V x) { return mlirTypeIsAF64(tc__scalar_type(x)); }
static MlirType int_type(B *b, V x) { return mlirIntegerTypeGet(b->ctx, is_double(x) ? 64 : 32); }
static V to_bits(B *b, V x) { return tc__convert(b, "arith.bitcast", x, int_type(b, x)); }
static V from_bits(B *b, V i, MlirType t) { return tc__convert(b, "arith.bitcast", i, t); }
static V ci(B *b, V like, int64_t v) { return tc__const_i(b, mlirValueGetType(like), v); }
static V iadd(B *b, V x, V y) { return tc__binary(b, "arith.addi", x, y); }
static V isub(B *b, V x, V y) { return tc__binary(b, "arith.subi", x, y); }
static V shift_left(B *b, V x, int n) { return tc__binary(b, "arith.shli", x, ci(b, x, n)); }
static V shift_right(B *b, V x, int n) { return tc__binary(b, "arith.shrsi", x, ci(b, x, n)); }

// Horner, highest power first.
static V polynomial(B *b, V x, const double *k, size_t n) {
  V y = c(b, x, k[0]);
  for (size_t i = 1; i < n; i++)
    y = fma_(b, y, x, c(b, x, k[i]));
  return y;
}
#define POLY(b, x, ...) polynomial(b, x, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

// ---- exponentials -----------------------------------------------------------------------------------------------------------------------------------

// 2^n as a float for an n that keeps it normal.
static V power_of_two(B *b, V n, V like) {
  bool d = is_double(like);
  return from_bits(b, shift_left(b, iadd(b, n, ci(b, n, d ? 1023 : 127)), d ? 52 : 23), mlirValueGetType(like));
}

// Rounds by adding 1.5 * 2^(mantissa bits): gives the rounded value, and the integer in the low bits.
static V round_magic(B *b, V x, V *out_integer) {
  double magic = is_double(x) ? 6755399441055744.0 : 12582912.0;
  V t = add(b, x, c(b, x, magic));
  *out_integer = isub(b, to_bits(b, t), to_bits(b, c(b, x, magic)));
  return sub(b, t, c(b, x, magic));
}

// exp(r) - 1 for |r| <= ln(2)/2
static V expm1_reduced(B *b, V r) {
  V z = mul(b, r, r), p;
  if (is_double(r))
    p = POLY(b, r, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
             1.0 / 24, 1.0 / 6, 0.5);
  else
    p = POLY(b, r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1);
  return fma_(b, p, z, r);
}

static V reduce_ln2(B *b, V x, V *out_n) {
  bool d = is_double(x);
  V n = round_magic(b, mul(b, x, c(b, x, 1.44269504088896340736)), out_n);
  V r = fma_(b, n, c(b, x, d ? -6.93147180369123816490e-01 : -0.693359375), x);
  return fma_(b, n, c(b, x, d ? -1.90821492927058770002e-10 : 2.12194440e-4), r);
}

// Comparisons are false for NaN, which passes through.
static V clamp(B *b, V x, double low, double high) {
  x = pick(b, less(b, x, low), c(b, x, low), x);
  return pick(b, greater(b, x, high), c(b, x, high), x);
}

// y * 2^n in two steps, so that denormal results are rounded once and 2^n never overflows early.
static V scale(B *b, V y, V n) {
  V half = shift_right(b, n, 1);
  return mul(b, mul(b, y, power_of_two(b, half, y)), power_of_two(b, isub(b, n, half), y));
}

static V expand_exp(B *b, V x) {
  V n, r = reduce_ln2(b, is_double(x) ? clamp(b, x, -746, 710) : clamp(b, x, -105, 89), &n);
  return scale(b, add(b, expm1_reduced(b, r), c(b, x, 1)), n);
}

static V expand_exp2(B *b, V x) {
  V n, y = is_double(x) ? clamp(b, x, -1080, 1025) : clamp(b, x, -152, 129);
  V whole = round_magic(b, y, &n);
  V r = mul(b, sub(b, y, whole), c(b, x, 0.69314718055994530942));
  return scale(b, add(b, expm1_reduced(b, r), c(b, x, 1)), n);
}

static V expand_expm1(B *b, V x) {
  double most = is_double(x) ? 709 : 88; // 2^n is finite up to here
  V y = clamp(b, x, -60, most), n, r = reduce_ln2(b, y, &n);
  V s = power_of_two(b, n, x);
  V z = fma_(b, s, expm1_reduced(b, r), sub(b, s, c(b, x, 1)));
  z = pick(b, greater(b, x, most), expand_exp(b, x), z);
  return pick(b, equals(b, x, 0), x, z); // keeps -0
}

// ---- logarithms -------------------------------------------------------------------------------------------------------------------------------------

// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); returns m - 1.
static V split_mantissa(B *b, V x, V *out_e) {
  bool d = is_double(x);
  MlirType t = mlirValueGetType(x);
  V tiny = less(b, x, d ? 0x1p-1022 : 0x1p-126);
  V y = pick(b, tiny, mul(b, x, c(b, x, d ? 0x1p54 : 0x1p23)), x), i = to_bits(b, y);
  V e = shift_right(b, isub(b, i, ci(b, i, d ? 0x3fe6a09e667f3bcd : 0x3f3504f3)), d ? 52 : 23);
  V m = from_bits(b, isub(b, i, shift_left(b, e, d ? 52 : 23)), t);
  e = isub(b, e, pick(b, tiny, ci(b, e, d ? 54 : 23), ci(b, e, 0)));
  *out_e = tc__convert(b, "arith.sitofp", e, t);
  return sub(b, m, c(b, x, 1));
}

static V log_specials(B *b, V x, V y) {
  y = pick(b, equals(b, x, 0), c(b, x, -INFINITY), y);
  y = pick(b, equals(b, x, INFINITY), x, y);
  return pick(b, tc__cmpf(b, TC__CMPF_UGE, x, c(b, x, 0)), pick(b, tc__cmpf(b, TC__CMPF_UNO, x, x), x, y), c(b, x, NAN));
}

// log(1 + f) less f, for the mantissa.
static V log_tail(B *b, V f) {
  V z = mul(b, f, f);
  if (is_double(f)) { // s = f / (2 + f); log(1 + f) = f - s (f - R), R = f^2/2 + s-series (fdlibm)
    V s = divide(b, f, add(b, f, c(b, f, 2))), w = mul(b, s, s);
    V r = mul(b, w, POLY(b, w, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
                         2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01));
    V half = mul(b, z, c(b, f, 0.5));
    return sub(b, mul(b, s, add(b, half, r)), half);
  }
  V p = POLY(b, f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1,
             -2.4999993993e-1, 3.3333331174e-1);
  return fma_(b, z, c(b, f, -0.5), mul(b, mul(b, p, f), z));
}

static V expand_log(B *b, V x) {
  V e, f = split_mantissa(b, x, &e), tail = log_tail(b, f);
  bool d = is_double(x);
  V y = add(b, f, fma_(b, e, c(b, x, d ? 1.90821492927058770002e-10 : -2.12194440e-4), tail));
  y = fma_(b, e, c(b, x, d ? 6.93147180369123816490e-01 : 0.693359375), y);
  return log_specials(b, x, y);
}

static V log_base(B *b, V x, double factor, double one_step) {
  V e, f = split_mantissa(b, x, &e), tail = log_tail(b, f);
  // f * factor exactly enough: the product in two parts.
  V high = c(b, x, (double)(float)factor), low = c(b, x, factor - (double)(float)factor);
  V y = fma_(b, add(b, f, tail), low, mul(b, tail, high));
  y = add(b, y, mul(b, f, high));
  return log_specials(b, x, fma_(b, e, c(b, x, one_step), y));
}

static V expand_log1p(B *b, V x) {
  V one = c(b, x, 1), u = add(b, x, one), correction = divide(b, sub(b, x, sub(b, u, one)), u);
  V y = add(b, expand_log(b, u), correction);
  V plain = tc__binary(b, "arith.ori", equals(b, u, 1), equals(b, u, INFINITY)); // x itself
  y = pick(b, plain, x, y);
  return pick(b, equals(b, x, -1), c(b, x, -INFINITY), y);
}

// ---- trigonometry -----------------------------------------------------------------------------------------------------------------------------------

// x - q * pi/2 in f64, q in the low bits.
static V reduce_half_pi(B *b, V x, V *out_q) {
  MlirType f64 = mlirF64TypeGet(b->ctx);
  V wide = is_double(x) ? x : tc__convert(b, "arith.extf", x, f64);
  V q = round_magic(b, mul(b, wide, c(b, wide, 0.63661977236758134308)), out_q);
  V r = fma_(b, q, c(b, wide, -1.57079632679489655800e+00), wide);
  r = fma_(b, q, c(b, wide, -6.12323399573676603587e-17), r);
  if (is_double(x))
    return r;
  *out_q = tc__convert(b, "arith.trunci", *out_q, mlirIntegerTypeGet(b->ctx, 32));
  return tc__convert(b, "arith.truncf", r, mlirValueGetType(x));
}

static V sin_reduced(B *b, V r, V z) {
  V p = is_double(r) ? POLY(b, z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
                            8.33333333332248946124e-03, -1.66666666666666324348e-01)
                     : POLY(b, z, 2.7183114939898219064e-6, -1.9839334836096632e-4, 8.3333293858894632e-3, -1.6666666640797e-1);
  return fma_(b, mul(b, p, z), r, r);
}

static V cos_reduced(B *b, V z) {
  V p = is_double(z) ? POLY(b, z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
                            -1.38888888888741095749e-03, 4.16666666666666019037e-02)
                     : POLY(b, z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2);
  V y = fma_(b, z, c(b, z, -0.5), c(b, z, 1));
  return fma_(b, mul(b, z, z), p, y);
}

// quadrant 0: sin, 1: cos, 2: -sin, 3: -cos
static V sine_of_quadrant(B *b, V q, V s, V co) {
  V odd = tc__cmpi(b, TC__CMPI_NE, tc__binary(b, "arith.andi", q, ci(b, q, 1)), ci(b, q, 0));
  V minus = tc__cmpi(b, TC__CMPI_NE, tc__binary(b, "arith.andi", q, ci(b, q, 2)), ci(b, q, 0));
  V y = pick(b, odd, co, s);
  return pick(b, minus, neg(b, y), y);
}

// sin on [-1, 1]: no reduction. The series to x^11: below 2^-30 of the first term.
static V sin_of_unit(B *b, V x) {
  V z = mul(b, x, x);
  V p = POLY(b, z, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6);
  return fma_(b, mul(b, p, z), x, x);
}

// cos on [-1, 1], to x^10.
static V cos_of_unit(B *b, V x) {
  V z = mul(b, x, x);
  V p = POLY(b, z, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24);
  return fma_(b, mul(b, z, z), p, fma_(b, z, c(b, x, -0.5), c(b, x, 1)));
}

static V expand_sin(B *b, V x) {
  V q, r = reduce_half_pi(b, x, &q), z = mul(b, r, r);
  V y = sine_of_quadrant(b, q, sin_reduced(b, r, z), cos_reduced(b, z));
  return pick(b, equals(b, x, 0), x, y);
}

static V expand_cos(B *b, V x) {
  V q, r = reduce_half_pi(b, x, &q), z = mul(b, r, r);
  return sine_of_quadrant(b, iadd(b, q, ci(b, q, 1)), sin_reduced(b, r, z), cos_reduced(b, z));
}

static V expand_tan(B *b, V x) {
  V q, r = reduce_half_pi(b, x, &q), z = mul(b, r, r), s = sin_reduced(b, r, z), co = cos_reduced(b, z);
  V odd = tc__cmpi(b, TC__CMPI_NE, tc__binary(b, "arith.andi", q, ci(b, q, 1)), ci(b, q, 0));
  V y = divide(b, pick(b, odd, neg(b, co), s), pick(b, odd, s, co));
  return pick(b, equals(b, x, 0), x, y);
}

// asin of s with s^2 = z <= 1/4
static V asin_reduced(B *b, V s, V z) {
  V p = POLY(b, z, 4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1);
  return fma_(b, mul(b, p, z), s, s);
}

static V expand_asin(B *b, V x) {
  V a = absolute(b, x), big = greater(b, a, 0.5);
  V z = pick(b, big, mul(b, sub(b, c(b, x, 1), a), c(b, x, 0.5)), mul(b, a, a)), s = pick(b, big, root(b, z), a);
  V p = asin_reduced(b, s, z);
  V y = pick(b, big, fma_(b, p, c(b, x, -2), c(b, x, 1.57079632679489661923)), p);
  return with_sign(b, y, x);
}

static V expand_acos(B *b, V x) {
  V a = absolute(b, x), big = greater(b, a, 0.5);
  V z = pick(b, big, mul(b, sub(b, c(b, x, 1), a), c(b, x, 0.5)), mul(b, x, x)), s = pick(b, big, root(b, z), x);
  V p = asin_reduced(b, s, z), twice = add(b, p, p);
  V far = pick(b, less(b, x, 0), sub(b, c(b, x, 3.14159265358979323846), twice), twice);
  return pick(b, big, far, sub(b, c(b, x, 1.57079632679489661923), p));
}

static V atan_reduced(B *b, V t) {
  V z = mul(b, t, t), p = POLY(b, z, 8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1);
  return fma_(b, mul(b, p, z), t, t);
}

static V atan_positive(B *b, V a) {
  V one = c(b, a, 1), far = greater(b, a, 2.414213562373095), middle = greater(b, a, 0.4142135623730950);
  V numerator = pick(b, far, c(b, a, -1), pick(b, middle, sub(b, a, one), a));
  V denominator = pick(b, far, a, pick(b, middle, add(b, a, one), one));
  V start = pick(b, far, c(b, a, 1.57079632679489661923), pick(b, middle, c(b, a, 0.78539816339744830962), c(b, a, 0)));
  return add(b, start, atan_reduced(b, divide(b, numerator, denominator)));
}

static V expand_atan(B *b, V x) { return with_sign(b, atan_positive(b, absolute(b, x)), x); }

static V expand_atan2(B *b, V y, V x) {
  V ax = absolute(b, x), ay = absolute(b, y), steep = tc__cmpf(b, TC__CMPF_OGT, ay, ax);
  V high = pick(b, steep, ay, ax), low = pick(b, steep, ax, ay);
  V ratio = divide(b, low, high);
  ratio = pick(b, equals(b, high, 0), c(b, x, 0), ratio);
  ratio = pick(b, equals(b, low, INFINITY), c(b, x, 1), ratio);
  V r = atan_positive(b, ratio);
  r = pick(b, steep, sub(b, c(b, x, 1.57079632679489661923), r), r);
  V negative = tc__cmpi(b, TC__CMPI_SLT, to_bits(b, x), ci(b, to_bits(b, x), 0));
  r = pick(b, negative, sub(b, c(b, x, 3.14159265358979323846), r), r);
  r = with_sign(b, r, y);
  V nan = tc__cmpf(b, TC__CMPF_UNO, x, y);
  return pick(b, nan, add(b, x, y), r);
}

// ---- hyperbolic -------------------------------------------------------------------------------------------------------------------------------------

static V expand_tanh(B *b, V x) {
  V a = absolute(b, x), z = mul(b, x, x), one = c(b, x, 1);
  V p = POLY(b, z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1);
  V small = fma_(b, mul(b, p, z), x, x);
  V e = expand_exp(b, add(b, a, a));
  V large = sub(b, one, divide(b, c(b, x, 2), add(b, e, one)));
  return with_sign(b, pick(b, less(b, a, 0.625), small, large), x); // of small too: the fused sum of -0 is +0
}

// exp(a) / 2, which is finite where exp(a) no longer is.
static V half_exp(B *b, V a) {
  V n, r = reduce_ln2(b, clamp(b, a, -105, 90), &n);
  return scale(b, add(b, expm1_reduced(b, r), c(b, a, 1)), isub(b, n, ci(b, n, 1)));
}

static V expand_sinh(B *b, V x) {
  V a = absolute(b, x), z = mul(b, x, x), e = half_exp(b, a);
  V small = fma_(b, mul(b, POLY(b, z, 2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1), z), x, x);
  return pick(b, less(b, a, 1), small, with_sign(b, sub(b, e, divide(b, c(b, x, 0.25), e)), x));
}

static V expand_cosh(B *b, V x) {
  V e = half_exp(b, absolute(b, x));
  return add(b, e, divide(b, c(b, x, 0.25), e));
}

static V expand_asinh(B *b, V x) {
  V a = absolute(b, x), one = c(b, x, 1), z = mul(b, a, a);
  V near = expand_log1p(b, add(b, a, divide(b, z, add(b, one, root(b, add(b, z, one))))));
  V far = add(b, expand_log(b, a), c(b, x, 0.69314718055994530942));
  return with_sign(b, pick(b, greater(b, a, 1e9), far, near), x);
}

static V expand_acosh(B *b, V x) {
  V t = sub(b, x, c(b, x, 1)), near = expand_log1p(b, add(b, t, root(b, fma_(b, t, t, add(b, t, t)))));
  V far = add(b, expand_log(b, x), c(b, x, 0.69314718055994530942));
  return pick(b, less(b, x, 1), c(b, x, NAN), pick(b, greater(b, x, 1e9), far, near));
}

static V expand_atanh(B *b, V x) {
  V a = absolute(b, x), ratio = divide(b, add(b, a, a), sub(b, c(b, x, 1), a));
  return with_sign(b, mul(b, c(b, x, 0.5), expand_log1p(b, ratio)), x);
}

// ---- error function -----------------------------------------------------------------------------------------------------------------------------------

static V expand_erf(B *b, V x) {
  V y = clamp(b, x, -4, 4), z = mul(b, y, y);
  V p = POLY(b, z, -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04,
             -2.95459980854025e-03, -1.60960333262415e-02);
  V q = POLY(b, z, -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02);
  return divide(b, mul(b, y, p), q);
}

static V expand_erfc(B *b, V x) {
  V a = absolute(b, x), one = c(b, x, 1), inverse = divide(b, one, a), y = mul(b, inverse, inverse);
  V near = POLY(b, y, 2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1, 6.210004621745983e-1,
                -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1);
  V far = POLY(b, y, -1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503e+0, 2.921019019210786e+0, -1.015265279202700e+0,
               4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1);
  // exp(-a^2) with the square's rounding error made good: a^2 = s + e.
  V s = mul(b, a, a), e = fma_(b, a, a, neg(b, s));
  V decay = mul(b, expand_exp(b, neg(b, s)), sub(b, one, e));
  V tail = mul(b, mul(b, decay, inverse), pick(b, less(b, a, 2), near, far));
  tail = pick(b, greater(b, a, 10.1), c(b, x, 0), tail);
  tail = pick(b, less(b, x, 0), sub(b, c(b, x, 2), tail), tail);
  return pick(b, less(b, a, 1), sub(b, one, expand_erf(b, x)), tail);
}

// ---- powers -------------------------------------------------------------------------------------------------------------------------------------------

static bool constant_of(V v, double *out) {
  MlirOperation op = tc__def_op(v);
  if (mlirOperationIsNull(op) || !tc__op_is(op, "arith.constant"))
    return false;
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref("value"));
  if (!mlirAttributeIsAFloat(a))
    return false;
  *out = mlirFloatAttrGetValueDouble(a);
  return true;
}

static V small_power(B *b, V x, double y) {
  V none = {NULL}, one = c(b, x, 1);
  if (y == 1)
    return x;
  if (y == 2)
    return mul(b, x, x);
  if (y == 3)
    return mul(b, mul(b, x, x), x);
  if (y == 4)
    return mul(b, mul(b, x, x), mul(b, x, x));
  if (y == 0.5)
    return root(b, x);
  if (y == -0.5)
    return divide(b, one, root(b, x));
  if (y == -1)
    return divide(b, one, x);
  if (y == -2)
    return divide(b, one, mul(b, x, x));
  return none;
}

static V expand_pow(B *b, V x, V y) {
  double k;
  if (constant_of(y, &k)) {
    V z = small_power(b, x, k);
    if (!mlirValueIsNull(z))
      return z;
  }
  if (is_double(x))
    return (V){NULL};
  MlirType f64 = mlirF64TypeGet(b->ctx), f32 = mlirValueGetType(x);
  V a = tc__convert(b, "arith.extf", absolute(b, x), f64), wide_y = tc__convert(b, "arith.extf", y, f64);
  V z = tc__convert(b, "arith.truncf", expand_exp(b, mul(b, wide_y, expand_log(b, a))), f32);
  // |x|^y is right but where log gives 0 * inf; then the sign of a negative base.
  V whole = tc__cmpf(b, TC__CMPF_OEQ, tc__unary(b, "math.floor", y), y);
  V half = mul(b, y, c(b, y, 0.5));
  V odd = tc__binary(b, "arith.andi", whole, tc__cmpf(b, TC__CMPF_ONE, tc__unary(b, "math.floor", half), half));
  V negative = tc__cmpi(b, TC__CMPI_SLT, to_bits(b, x), ci(b, to_bits(b, x), 0));
  V flipped = pick(b, tc__binary(b, "arith.andi", negative, odd), neg(b, z), z);
  V below = tc__binary(b, "arith.andi", less(b, x, 0), greater(b, x, -INFINITY));
  V not_whole = tc__binary(b, "arith.xori", whole, tc__const_i(b, mlirIntegerTypeGet(b->ctx, 1), 1));
  z = pick(b, tc__binary(b, "arith.andi", below, not_whole), c(b, x, NAN), flipped);
  V one = c(b, x, 1);
  V infinite = equals(b, absolute(b, y), INFINITY);
  z = pick(b, tc__binary(b, "arith.andi", infinite, equals(b, absolute(b, x), 1)), one, z);
  z = pick(b, equals(b, x, 1), one, z);
  return pick(b, equals(b, y, 0), one, z);
}

// ---- the pass -----------------------------------------------------------------------------------------------------------------------------------------

// Results known to lie in [-1, 1], by the op they came from: what a sine of a cosine need not reduce.
typedef struct unit_values {
  V values[1024];
  size_t n;
} unit_values;

static bool is_unit(const unit_values *u, V v) {
  for (size_t i = u->n; i-- > 0;)
    if (mlirValueEqual(u->values[i], v))
      return true;
  return false;
}

static bool makes_unit(MlirOperation op) {
  return tc__op_is(op, "math.sin") || tc__op_is(op, "math.cos") || tc__op_is(op, "math.tanh") || tc__op_is(op, "math.erf");
}

typedef struct expansion {
  const char *name;
  V (*fn)(B *b, V x);
  bool f64; // the form is right for f64 too
} expansion;

static V expand_log2(B *b, V x) { return log_base(b, x, 1.44269504088896340736, 1); }
static V expand_log10(B *b, V x) { return log_base(b, x, 0.43429448190325182765, 0.30102999566398119521); }
static V expand_rsqrt(B *b, V x) { return divide(b, c(b, x, 1), root(b, x)); }

static const expansion expansions[] = {
    {"math.exp", expand_exp, true},     {"math.exp2", expand_exp2, true}, {"math.expm1", expand_expm1, true}, {"math.log", expand_log, true},
    {"math.log2", expand_log2, false},  {"math.log10", expand_log10, false}, {"math.log1p", expand_log1p, true}, {"math.sin", expand_sin, true},
    {"math.cos", expand_cos, true},     {"math.tan", expand_tan, true},   {"math.asin", expand_asin, false},   {"math.acos", expand_acos, false},
    {"math.atan", expand_atan, false},  {"math.tanh", expand_tanh, false}, {"math.sinh", expand_sinh, false},  {"math.cosh", expand_cosh, false},
    {"math.asinh", expand_asinh, false}, {"math.acosh", expand_acosh, false}, {"math.atanh", expand_atanh, false}, {"math.erf", expand_erf, false},
    {"math.erfc", expand_erfc, false},  {"math.rsqrt", expand_rsqrt, true},
};

static tc_status expand(MlirOperation op, void *user) {
  unit_values *unit = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length < 6 || memcmp(name.data, "math.", 5) != 0)
    return TC_OK;
  V x = mlirOperationGetOperand(op, 0), y = {NULL};
  bool f32 = mlirTypeIsAF32(mlirValueGetType(x)), f64 = mlirTypeIsAF64(mlirValueGetType(x));
  if (!f32 && !f64)
    return TC_OK;
  B b = tc__builder_before(op);
  if (f32 && is_unit(unit, x) && (tc__op_is(op, "math.sin") || tc__op_is(op, "math.cos")))
    y = tc__op_is(op, "math.sin") ? sin_of_unit(&b, x) : cos_of_unit(&b, x);
  for (size_t i = 0; i < TC_COUNTOF(expansions) && mlirValueIsNull(y); i++)
    if (tc__op_is(op, expansions[i].name) && (f32 || expansions[i].f64))
      y = expansions[i].fn(&b, x);
  if (tc__op_is(op, "math.powf"))
    y = expand_pow(&b, x, mlirOperationGetOperand(op, 1));
  if (tc__op_is(op, "math.atan2") && f32)
    y = expand_atan2(&b, x, mlirOperationGetOperand(op, 1));
  if (mlirValueIsNull(y))
    return TC_OK;
  if (makes_unit(op)) {
    unit->n = unit->n < TC_COUNTOF(unit->values) ? unit->n : 0;
    unit->values[unit->n++] = y;
  }
  tc__replace_op(op, &y);
  return TC_OK;
}

tc_status tc__pass_expand_math(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  unit_values *unit = tc__calloc(1, sizeof *unit);
  tc_status status = unit ? tc__walk(module, expand, unit) : tc__oom();
  tc__free(unit);
  return status;
}
