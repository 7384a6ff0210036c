// Pointwise ops. Floats are computed in f64 and rounded once, except where ATen's rounding of an intermediate decides the result
// (div_floor, div_trunc). Integers are computed in i64 with wraparound.
#include "internal.h"

#include <math.h>

enum { CHUNK = 256 };

typedef struct params {
  double a, b, c;    ///< an op's float attributes
  int64_t lo, hi;    ///< clamp of integers
  bool has_a, has_b; ///< clamp's bounds
  bool tanh_form;
  bool single; ///< the type computes in f32 in ATen
  int width;   ///< bits of an integer
  bool is_unsigned, is_bool;
} params;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double larger(double a, double b) { return isnan(a) ? a : isnan(b) ? b : a > b ? a : b; }
static double smaller(double a, double b) { return isnan(a) ? a : isnan(b) ? b : a < b ? a : b; }

static double gelu(double x, bool tanh_form) {
  if (tanh_form) // sqrt(2/pi)
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

static double unary_f(tc_op_kind kind, double x, const params *p) {
  switch (kind) {
  case TC_OP_abs:
    return fabs(x);
  case TC_OP_neg:
    return -x;
  case TC_OP_sign:
    return (x > 0) - (x < 0);
  case TC_OP_ceil:
    return ceil(x);
  case TC_OP_floor:
    return floor(x);
  case TC_OP_round:
    return rint(x); // the default rounding mode is half to even
  case TC_OP_trunc:
    return trunc(x);
  case TC_OP_frac:
    return x - trunc(x);
  case TC_OP_sqrt:
    return sqrt(x);
  case TC_OP_rsqrt:
    return 1 / sqrt(x);
  case TC_OP_reciprocal:
    return 1 / x;
  case TC_OP_square:
    return x * x;
  case TC_OP_exp:
    return exp(x);
  case TC_OP_exp2:
    return exp2(x);
  case TC_OP_expm1:
    return expm1(x);
  case TC_OP_log:
    return log(x);
  case TC_OP_log2:
    return log2(x);
  case TC_OP_log10:
    return log10(x);
  case TC_OP_log1p:
    return log1p(x);
  case TC_OP_sin:
    return sin(x);
  case TC_OP_cos:
    return cos(x);
  case TC_OP_tan:
    return tan(x);
  case TC_OP_asin:
    return asin(x);
  case TC_OP_acos:
    return acos(x);
  case TC_OP_atan:
    return atan(x);
  case TC_OP_sinh:
    return sinh(x);
  case TC_OP_cosh:
    return cosh(x);
  case TC_OP_tanh:
    return tanh(x);
  case TC_OP_asinh:
    return asinh(x);
  case TC_OP_acosh:
    return acosh(x);
  case TC_OP_atanh:
    return atanh(x);
  case TC_OP_erf:
    return erf(x);
  case TC_OP_erfc:
    return erfc(x);
  case TC_OP_relu:
    return x <= 0 ? 0 : x;
  case TC_OP_sigmoid:
    return sigmoid(x);
  case TC_OP_log_sigmoid:
    return (x < 0 ? x : isnan(x) ? x : 0) - log1p(exp(-fabs(x)));
  case TC_OP_silu:
    return x / (1 + exp(-x));
  case TC_OP_gelu:
    return gelu(x, p->tanh_form);
  case TC_OP_mish:
    return x * tanh(log1p(exp(x)));
  case TC_OP_hardsigmoid:
    return smaller(larger(x + 3, 0), 6) / 6;
  case TC_OP_hardswish:
    return x * smaller(larger(x + 3, 0), 6) / 6;
  case TC_OP_leaky_relu:
    return x > 0 ? x : x * p->a;
  case TC_OP_elu:
    return x <= 0 ? expm1(x * p->c) * p->a * p->b : x * p->b;
  case TC_OP_softplus:
    return x * p->a > p->b ? x : log1p(exp(x * p->a)) / p->a;
  case TC_OP_clamp:
    if (p->has_a)
      x = larger(x, p->a);
    return p->has_b ? smaller(x, p->b) : x;
  case TC_OP_logical_not:
    return x == 0;
  case TC_OP_isnan:
    return isnan(x) != 0;
  case TC_OP_isinf:
    return isinf(x) != 0;
  case TC_OP_isfinite:
    return isfinite(x) != 0;
  default:
    return x; // cast
  }
}

static int64_t wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrap_neg(int64_t a) { return (int64_t)(0 - (uint64_t)a); }

static int64_t unary_i(tc_op_kind kind, int64_t x, const params *p) {
  switch (kind) {
  case TC_OP_abs:
    return x < 0 ? wrap_neg(x) : x;
  case TC_OP_neg:
    return wrap_neg(x);
  case TC_OP_sign:
    return (x > 0) - (x < 0);
  case TC_OP_square:
    return wrap_mul(x, x);
  case TC_OP_relu:
    return x < 0 ? 0 : x;
  case TC_OP_clamp:
    x = x < p->lo ? p->lo : x;
    return x > p->hi ? p->hi : x;
  case TC_OP_logical_not:
    return x == 0;
  case TC_OP_bitwise_not:
    return p->is_bool ? !x : ~x;
  case TC_OP_isnan:
  case TC_OP_isinf:
    return 0;
  case TC_OP_isfinite:
    return 1;
  default:
    return x; // ceil, floor, round, trunc, cast
  }
}

// ATen's div_floor: from fmod, so that the result is right where a / b rounds up to a whole number.
static float floor_div_f32(float a, float b) {
  if (b == 0)
    return a / b;
  float mod = fmodf(a, b), div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0))
    div -= 1;
  if (div == 0)
    return copysignf(0, a / b);
  float floored = floorf(div);
  return div - floored > 0.5f ? floored + 1 : floored;
}

static double floor_div_f64(double a, double b) {
  if (b == 0)
    return a / b;
  double mod = fmod(a, b), div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0))
    div -= 1;
  if (div == 0)
    return copysign(0, a / b);
  double floored = floor(div);
  return div - floored > 0.5 ? floored + 1 : floored;
}

static double remainder_f(double a, double b) {
  double mod = fmod(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}

static double binary_f(tc_op_kind kind, double a, double b, const params *p) {
  switch (kind) {
  case TC_OP_add:
    return a + b;
  case TC_OP_sub:
    return a - b;
  case TC_OP_mul:
    return a * b;
  case TC_OP_div:
    return a / b;
  case TC_OP_div_floor:
    return p->single ? (double)floor_div_f32((float)a, (float)b) : floor_div_f64(a, b);
  case TC_OP_div_trunc:
    return p->single ? (double)truncf((float)a / (float)b) : trunc(a / b);
  case TC_OP_remainder:
    return remainder_f(a, b);
  case TC_OP_fmod:
    return fmod(a, b);
  case TC_OP_pow:
    return pow(a, b);
  case TC_OP_maximum:
    return larger(a, b);
  case TC_OP_minimum:
    return smaller(a, b);
  case TC_OP_fmax:
    return fmax(a, b);
  case TC_OP_fmin:
    return fmin(a, b);
  case TC_OP_atan2:
    return atan2(a, b);
  case TC_OP_copysign:
    return copysign(a, b);
  case TC_OP_eq:
    return a == b;
  case TC_OP_ne:
    return a != b;
  case TC_OP_lt:
    return a < b;
  case TC_OP_le:
    return a <= b;
  case TC_OP_gt:
    return a > b;
  case TC_OP_ge:
    return a >= b;
  case TC_OP_logical_and:
    return a != 0 && b != 0;
  case TC_OP_logical_or:
    return a != 0 || b != 0;
  case TC_OP_logical_xor:
    return (a != 0) != (b != 0);
  default:
    return a;
  }
}

static int64_t quotient(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? wrap_neg(a) : a / b; }
static int64_t rest(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

static int64_t pow_i(int64_t a, int64_t b) {
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  int64_t r = 1;
  for (; b; b >>= 1, a = wrap_mul(a, a))
    if (b & 1)
      r = wrap_mul(r, a);
  return r;
}

static int64_t binary_i(tc_op_kind kind, int64_t a, int64_t b, const params *p) {
  int64_t r;
  switch (kind) {
  case TC_OP_add:
    return p->is_bool ? a | b : (int64_t)((uint64_t)a + (uint64_t)b);
  case TC_OP_sub:
    return (int64_t)((uint64_t)a - (uint64_t)b);
  case TC_OP_mul:
    return wrap_mul(a, b);
  case TC_OP_div_floor:
    return quotient(a, b) - (rest(a, b) != 0 && (a < 0) != (b < 0));
  case TC_OP_div_trunc:
    return quotient(a, b);
  case TC_OP_remainder:
    r = rest(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  case TC_OP_fmod:
    return rest(a, b);
  case TC_OP_pow:
    return pow_i(a, b);
  case TC_OP_maximum:
  case TC_OP_fmax:
    return a > b ? a : b;
  case TC_OP_minimum:
  case TC_OP_fmin:
    return a < b ? a : b;
  case TC_OP_eq:
    return a == b;
  case TC_OP_ne:
    return a != b;
  case TC_OP_lt:
    return a < b;
  case TC_OP_le:
    return a <= b;
  case TC_OP_gt:
    return a > b;
  case TC_OP_ge:
    return a >= b;
  case TC_OP_logical_and:
    return a && b;
  case TC_OP_logical_or:
    return a || b;
  case TC_OP_logical_xor:
    return !a != !b;
  case TC_OP_bitwise_and:
    return a & b;
  case TC_OP_bitwise_or:
    return a | b;
  case TC_OP_bitwise_xor:
    return a ^ b;
  case TC_OP_shift_left:
    return b < 0 || b >= p->width ? 0 : (int64_t)((uint64_t)a << b);
  case TC_OP_shift_right:
    if (b < 0 || b >= p->width)
      return p->is_unsigned ? 0 : a >> (p->width - 1);
    return a >> b;
  default:
    return a;
  }
}

static int64_t bound(const tc__attr *attr, bool is_lower) {
  if (!attr)
    return is_lower ? INT64_MIN : INT64_MAX;
  if (attr->kind != TC__ATTR_FLOAT)
    return attr->i;
  double f = is_lower ? ceil(attr->f) : floor(attr->f);
  return f >= 0x1p63 ? INT64_MAX : tc__f64_to_i64(f);
}

static params read_params(const tc__call *c) {
  tc_dtype dtype = c->in[0].type.dtype;
  params p = {.single = dtype != TC_F64,
              .width = (int)tc_dtype_size(dtype) * 8,
              .is_unsigned = dtype == TC_U8,
              .is_bool = dtype == TC_BOOL};
  switch (c->kind) {
  case TC_OP_gelu:
    p.tanh_form = strcmp(tc__attrs_str(c->attrs, "approximate", "none"), "tanh") == 0;
    break;
  case TC_OP_leaky_relu:
    p.a = tc__attrs_float(c->attrs, "negative_slope", 0.01);
    break;
  case TC_OP_elu:
    p.a = tc__attrs_float(c->attrs, "alpha", 1);
    p.b = tc__attrs_float(c->attrs, "scale", 1);
    p.c = tc__attrs_float(c->attrs, "input_scale", 1);
    break;
  case TC_OP_softplus:
    p.a = tc__attrs_float(c->attrs, "beta", 1);
    p.b = tc__attrs_float(c->attrs, "threshold", 20);
    break;
  case TC_OP_clamp: {
    const tc__attr *lo = tc__attrs_find(c->attrs, "min"), *hi = tc__attrs_find(c->attrs, "max");
    p.has_a = lo != NULL;
    p.has_b = hi != NULL;
    p.a = tc__attrs_float(c->attrs, "min", 0);
    p.b = tc__attrs_float(c->attrs, "max", 0);
    p.lo = bound(lo, true);
    p.hi = bound(hi, false);
    break;
  }
  default:
    break;
  }
  return p;
}

static tc_status where(const tc__call *c) {
  const tc__buffer *out = &c->out[0];
  size_t size = tc_dtype_size(out->type.dtype);
  tc__strides strides[3];
  for (int i = 0; i < 3; i++)
    tc__strides_broadcast(&c->in[i].type, out->type.rank, &strides[i]);
  tc__walk w;
  tc__walk_init(&w, out->type.rank, out->type.shape, 3, strides);
  char *to = out->data;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w)) {
    const uint8_t *cond = (const uint8_t *)tc__at(&c->in[0], w.at[0]);
    for (int64_t i = 0; i < w.inner; i++, to += size) {
      int k = cond[i * w.step[0]] ? 1 : 2;
      memcpy(to, tc__at(&c->in[k], w.at[k] + i * w.step[k]), size);
    }
  }
  return TC_OK;
}

tc_status tc__interp_pointwise(const tc__call *c) {
  if (c->kind == TC_OP_where)
    return where(c);
  const tc__buffer *out = &c->out[0];
  params p = read_params(c);
  int n = (int)c->n_in;
  tc__strides strides[2];
  for (int i = 0; i < n; i++)
    tc__strides_broadcast(&c->in[i].type, out->type.rank, &strides[i]);
  tc__walk w;
  tc__walk_init(&w, out->type.rank, out->type.shape, n, strides);
  int64_t at = 0;
  for (int64_t r = 0; r < w.rows; r++, tc__walk_next(&w))
    for (int64_t i = 0; i < w.inner; i += CHUNK) {
      int64_t count = w.inner - i < CHUNK ? w.inner - i : CHUNK;
      if (tc__is_float(&c->in[0])) {
        double v[2][CHUNK];
        for (int k = 0; k < n; k++)
          tc__load_f64(v[k], &c->in[k], w.at[k] + i * w.step[k], w.step[k], count);
        for (int64_t j = 0; j < count; j++)
          v[0][j] = n == 1 ? unary_f(c->kind, v[0][j], &p) : binary_f(c->kind, v[0][j], v[1][j], &p);
        tc__store_f64(out, at, 1, v[0], count);
      } else {
        int64_t v[2][CHUNK];
        for (int k = 0; k < n; k++)
          tc__load_i64(v[k], &c->in[k], w.at[k] + i * w.step[k], w.step[k], count);
        for (int64_t j = 0; j < count; j++)
          v[0][j] = n == 1 ? unary_i(c->kind, v[0][j], &p) : binary_i(c->kind, v[0][j], v[1][j], &p);
        tc__store_i64(out, at, 1, v[0], count);
      }
      at += count;
    }
  return TC_OK;
}
