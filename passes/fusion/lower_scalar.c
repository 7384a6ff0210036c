// The scalar form of every pointwise op. f16 and bf16 are computed in f32 and rounded once, as ATen does on the CPU.
#include "lower_tc_to_linalg.h"

#include <float.h>
#include <math.h>

typedef MlirValue V;

static bool is_float(tc_dtype d) { return tc_dtype_is_float(d); }
static bool is_half(tc_dtype d) { return d == TC_F16 || d == TC_BF16; }

// The range of to's integers that fits a double: conversions outside of it are undefined in LLVM, so they are clamped first.
static void int_range(tc_dtype to, double *low, double *high) {
  int bits = (int)tc_dtype_size(to) * 8;
  if (to == TC_U8) {
    *low = 0;
    *high = 255;
    return;
  }
  *low = -ldexp(1, bits - 1);
  *high = bits == 64 ? 9223372036854774784.0 : ldexp(1, bits - 1) - 1;
}

V tc__lower_cast(tc__builder *b, V x, tc_dtype from, tc_dtype to) {
  if (from == to)
    return x;
  MlirType t = tc__storage_element(b->ctx, to), s = mlirValueGetType(x);
  if (to == TC_BOOL)
    return is_float(from) ? tc__cmpf(b, TC__CMPF_UNE, x, tc__const_f(b, s, 0)) : tc__cmpi(b, TC__CMPI_NE, x, tc__const_i(b, s, 0));
  if (is_float(from) && is_float(to)) {
    MlirType f32 = mlirF32TypeGet(b->ctx);
    if (is_half(from) && is_half(to)) // f16 <-> bf16 by way of f32
      return tc__convert(b, "arith.truncf", tc__convert(b, "arith.extf", x, f32), t);
    if (from == TC_F64 && is_half(to)) // ATen rounds twice, by way of f32
      return tc__convert(b, "arith.truncf", tc__convert(b, "arith.truncf", x, f32), t);
    return tc__convert(b, tc_dtype_size(from) < tc_dtype_size(to) ? "arith.extf" : "arith.truncf", x, t);
  }
  if (is_float(from)) {
    double low, high;
    if (is_half(from)) {
      x = tc__convert(b, "arith.extf", x, mlirF32TypeGet(b->ctx));
      s = mlirValueGetType(x);
    }
    // By way of the wide integer, so that small types wrap as C's conversions through int64 do; NaN gives 0.
    tc_dtype wide = TC_I64;
    MlirType i64 = tc__storage_element(b->ctx, wide);
    int_range(wide, &low, &high);
    if (from != TC_F64)
      high = 9223371487098961920.0; // the largest f32 below 2^63
    V nan = tc__cmpf(b, TC__CMPF_UNO, x, x);
    x = tc__binary(b, "arith.minnumf", tc__binary(b, "arith.maxnumf", x, tc__const_f(b, s, low)), tc__const_f(b, s, high));
    x = tc__select(b, nan, tc__const_f(b, s, 0), x);
    if (to == TC_I32) { // the common narrow case vectorises better directly
      int_range(to, &low, &high);
      V fits = tc__binary(b, "arith.minnumf", tc__binary(b, "arith.maxnumf", x, tc__const_f(b, s, low)),
                          tc__const_f(b, s, from == TC_F64 ? high : 2147483520.0));
      return tc__convert(b, "arith.fptosi", fits, t);
    }
    V i = tc__convert(b, "arith.fptosi", x, i64);
    return to == TC_I64 ? i : tc__convert(b, "arith.trunci", i, t);
  }
  bool is_unsigned = from == TC_U8 || from == TC_BOOL;
  if (is_float(to)) {
    MlirType f32 = mlirF32TypeGet(b->ctx);
    V f = tc__convert(b, is_unsigned ? "arith.uitofp" : "arith.sitofp", x, is_half(to) ? f32 : t);
    return is_half(to) ? tc__convert(b, "arith.truncf", f, t) : f;
  }
  size_t from_size = from == TC_BOOL ? 0 : tc_dtype_size(from), to_size = tc_dtype_size(to);
  if (from_size == to_size)
    return x;
  return tc__convert(b, from_size > to_size ? "arith.trunci" : is_unsigned ? "arith.extui" : "arith.extsi", x, t);
}

// ---- composite forms: floats of one type -----------------------------------------------------------------------------------------------------------

static V cf(tc__builder *b, V like, double v) { return tc__const_f(b, mlirValueGetType(like), v); }
static V add(tc__builder *b, V x, V y) { return tc__binary(b, "arith.addf", x, y); }
static V sub(tc__builder *b, V x, V y) { return tc__binary(b, "arith.subf", x, y); }
static V mul(tc__builder *b, V x, V y) { return tc__binary(b, "arith.mulf", x, y); }
static V divide(tc__builder *b, V x, V y) { return tc__binary(b, "arith.divf", x, y); }

static V sigmoid(tc__builder *b, V x) { return divide(b, cf(b, x, 1), add(b, cf(b, x, 1), tc__unary(b, "math.exp", tc__unary(b, "arith.negf", x)))); }

static V clamp(tc__builder *b, V x, double low, double high) { // NaN stays NaN
  return tc__binary(b, "arith.minimumf", tc__binary(b, "arith.maximumf", x, cf(b, x, low)), cf(b, x, high));
}

static V gelu(tc__builder *b, V x, bool tanh_form) {
  V half = mul(b, x, cf(b, x, 0.5));
  V inner;
  if (tanh_form) {
    V cube = mul(b, mul(b, x, x), x);
    inner = tc__unary(b, "math.tanh", mul(b, cf(b, x, 0.79788456080286535588), add(b, x, mul(b, cf(b, x, 0.044715), cube))));
  } else {
    inner = tc__unary(b, "math.erf", mul(b, x, cf(b, x, 0.70710678118654752440)));
  }
  return mul(b, half, add(b, cf(b, x, 1), inner));
}

static V softplus(tc__builder *b, V x, double beta, double threshold) {
  V scaled = mul(b, x, cf(b, x, beta));
  V soft = divide(b, tc__unary(b, "math.log1p", tc__unary(b, "math.exp", scaled)), cf(b, x, beta));
  return tc__select(b, tc__cmpf(b, TC__CMPF_OGT, scaled, cf(b, x, threshold)), x, soft);
}

static V float_unary(tc__builder *b, tc_op_kind kind, V x, const tc__attrs *attrs) {
  static const struct {
    tc_op_kind kind;
    const char *op;
  } direct[] = {
      {TC_OP_abs, "math.absf"}, {TC_OP_neg, "arith.negf"}, {TC_OP_ceil, "math.ceil"}, {TC_OP_floor, "math.floor"}, {TC_OP_round, "math.roundeven"},
      {TC_OP_trunc, "math.trunc"}, {TC_OP_sqrt, "math.sqrt"}, {TC_OP_exp, "math.exp"}, {TC_OP_exp2, "math.exp2"}, {TC_OP_expm1, "math.expm1"},
      {TC_OP_log, "math.log"}, {TC_OP_log2, "math.log2"}, {TC_OP_log10, "math.log10"}, {TC_OP_log1p, "math.log1p"}, {TC_OP_sin, "math.sin"},
      {TC_OP_cos, "math.cos"}, {TC_OP_tan, "math.tan"}, {TC_OP_asin, "math.asin"}, {TC_OP_acos, "math.acos"}, {TC_OP_atan, "math.atan"},
      {TC_OP_sinh, "math.sinh"}, {TC_OP_cosh, "math.cosh"}, {TC_OP_tanh, "math.tanh"}, {TC_OP_asinh, "math.asinh"}, {TC_OP_acosh, "math.acosh"},
      {TC_OP_atanh, "math.atanh"}, {TC_OP_erf, "math.erf"}, {TC_OP_erfc, "math.erfc"}};
  for (size_t i = 0; i < TC_COUNTOF(direct); i++)
    if (direct[i].kind == kind)
      return tc__unary(b, direct[i].op, x);
  V zero = cf(b, x, 0), one = cf(b, x, 1);
  switch (kind) {
  case TC_OP_rsqrt:
    return divide(b, one, tc__unary(b, "math.sqrt", x));
  case TC_OP_reciprocal:
    return divide(b, one, x);
  case TC_OP_square:
    return mul(b, x, x);
  case TC_OP_frac:
    return sub(b, x, tc__unary(b, "math.trunc", x));
  case TC_OP_sign:
    return tc__select(b, tc__cmpf(b, TC__CMPF_OGT, x, zero), one, tc__select(b, tc__cmpf(b, TC__CMPF_OLT, x, zero), cf(b, x, -1), zero));
  case TC_OP_relu:
    return tc__binary(b, "arith.maximumf", x, zero);
  case TC_OP_sigmoid:
    return sigmoid(b, x);
  case TC_OP_log_sigmoid: {
    V magnitude = tc__unary(b, "math.absf", x);
    V tail = tc__unary(b, "math.log1p", tc__unary(b, "math.exp", tc__unary(b, "arith.negf", magnitude)));
    return sub(b, tc__binary(b, "arith.minimumf", x, zero), tail);
  }
  case TC_OP_silu:
    return divide(b, x, add(b, one, tc__unary(b, "math.exp", tc__unary(b, "arith.negf", x))));
  case TC_OP_gelu:
    return gelu(b, x, strcmp(tc__attrs_str(attrs, "approximate", "none"), "tanh") == 0);
  case TC_OP_mish:
    return mul(b, x, tc__unary(b, "math.tanh", softplus(b, x, 1, 20)));
  case TC_OP_hardsigmoid:
    return divide(b, clamp(b, add(b, x, cf(b, x, 3)), 0, 6), cf(b, x, 6));
  case TC_OP_hardswish:
    return divide(b, mul(b, x, clamp(b, add(b, x, cf(b, x, 3)), 0, 6)), cf(b, x, 6));
  case TC_OP_leaky_relu:
    return tc__select(b, tc__cmpf(b, TC__CMPF_OGT, x, zero), x, mul(b, x, cf(b, x, tc__attrs_float(attrs, "negative_slope", 0.01))));
  case TC_OP_elu: {
    double alpha = tc__attrs_float(attrs, "alpha", 1), scale = tc__attrs_float(attrs, "scale", 1), in = tc__attrs_float(attrs, "input_scale", 1);
    V negative = mul(b, tc__unary(b, "math.expm1", mul(b, x, cf(b, x, in))), cf(b, x, alpha * scale));
    return tc__select(b, tc__cmpf(b, TC__CMPF_OLE, x, zero), negative, mul(b, x, cf(b, x, scale)));
  }
  case TC_OP_softplus:
    return softplus(b, x, tc__attrs_float(attrs, "beta", 1), tc__attrs_float(attrs, "threshold", 20));
  case TC_OP_clamp: {
    const tc__attr *low = tc__attrs_find(attrs, "min"), *high = tc__attrs_find(attrs, "max");
    if (low)
      x = tc__binary(b, "arith.maximumf", x, cf(b, x, tc__attrs_float(attrs, "min", 0)));
    return high ? tc__binary(b, "arith.minimumf", x, cf(b, x, tc__attrs_float(attrs, "max", 0))) : x;
  }
  default:
    return (V){NULL};
  }
}

// ---- integers ---------------------------------------------------------------------------------------------------------------------------------------

static V ci(tc__builder *b, V like, int64_t v) { return tc__const_i(b, mlirValueGetType(like), v); }

static V int_unary(tc__builder *b, tc_op_kind kind, V x, bool is_unsigned, const tc__attrs *attrs) {
  V zero = ci(b, x, 0);
  switch (kind) {
  case TC_OP_abs:
    return is_unsigned ? x : tc__select(b, tc__cmpi(b, TC__CMPI_SLT, x, zero), tc__binary(b, "arith.subi", zero, x), x);
  case TC_OP_neg:
    return tc__binary(b, "arith.subi", zero, x);
  case TC_OP_sign: {
    V positive = tc__select(b, tc__cmpi(b, TC__CMPI_NE, x, zero), ci(b, x, 1), zero);
    return is_unsigned ? positive : tc__select(b, tc__cmpi(b, TC__CMPI_SLT, x, zero), ci(b, x, -1), positive);
  }
  case TC_OP_ceil:
  case TC_OP_floor:
  case TC_OP_round:
  case TC_OP_trunc:
    return x;
  case TC_OP_square:
    return tc__binary(b, "arith.muli", x, x);
  case TC_OP_relu:
    return is_unsigned ? x : tc__binary(b, "arith.maxsi", x, zero);
  case TC_OP_clamp: {
    const tc__attr *low = tc__attrs_find(attrs, "min"), *high = tc__attrs_find(attrs, "max");
    if (low)
      x = tc__binary(b, is_unsigned ? "arith.maxui" : "arith.maxsi", x, ci(b, x, tc__attrs_int(attrs, "min", 0)));
    return high ? tc__binary(b, is_unsigned ? "arith.minui" : "arith.minsi", x, ci(b, x, tc__attrs_int(attrs, "max", 0))) : x;
  }
  default:
    return (V){NULL};
  }
}

// Division as the table says: by zero gives 0, and the one overflow (lowest / -1) wraps; both are undefined in LLVM. The divisor is replaced by 1 in these
// cases, which is right for the overflow, and the zero case is selected away.
static V int_divide(tc__builder *b, tc_op_kind kind, V x, V y, bool is_unsigned) {
  V zero = ci(b, x, 0), one = ci(b, x, 1), by_zero = tc__cmpi(b, TC__CMPI_EQ, y, zero);
  if (is_unsigned) {
    V safe = tc__select(b, by_zero, one, y);
    bool rest = kind == TC_OP_remainder || kind == TC_OP_fmod;
    return tc__select(b, by_zero, zero, tc__binary(b, rest ? "arith.remui" : "arith.divui", x, safe));
  }
  V minus_one = tc__cmpi(b, TC__CMPI_EQ, y, ci(b, y, -1));
  V safe = tc__select(b, tc__binary(b, "arith.ori", by_zero, minus_one), one, y);
  V negated = tc__binary(b, "arith.subi", zero, x);
  V quotient = tc__select(b, minus_one, negated, tc__binary(b, "arith.divsi", x, safe));
  V rest = tc__select(b, minus_one, zero, tc__binary(b, "arith.remsi", x, safe));
  V differs = tc__cmpi(b, TC__CMPI_NE, rest, zero);
  V signs = tc__cmpi(b, TC__CMPI_SLT, tc__binary(b, "arith.xori", rest, y), zero);
  V adjust = tc__binary(b, "arith.andi", differs, signs);
  V result;
  switch (kind) {
  case TC_OP_div_trunc:
    result = quotient;
    break;
  case TC_OP_div_floor:
    result = tc__select(b, adjust, tc__binary(b, "arith.subi", quotient, one), quotient);
    break;
  case TC_OP_fmod:
    result = rest;
    break;
  default:
    result = tc__select(b, adjust, tc__binary(b, "arith.addi", rest, y), rest);
    break;
  }
  return tc__select(b, by_zero, zero, result);
}

static V int_binary(tc__builder *b, tc_op_kind kind, V x, V y, tc_dtype d) {
  bool u = d == TC_U8 || d == TC_BOOL, boolean = d == TC_BOOL;
  switch (kind) {
  case TC_OP_add:
    return tc__binary(b, boolean ? "arith.ori" : "arith.addi", x, y);
  case TC_OP_sub:
    return tc__binary(b, "arith.subi", x, y);
  case TC_OP_mul:
    return tc__binary(b, boolean ? "arith.andi" : "arith.muli", x, y);
  case TC_OP_div_floor:
  case TC_OP_div_trunc:
  case TC_OP_remainder:
  case TC_OP_fmod:
    return int_divide(b, kind, x, y, u);
  case TC_OP_maximum:
  case TC_OP_fmax:
    return tc__binary(b, u ? "arith.maxui" : "arith.maxsi", x, y);
  case TC_OP_minimum:
  case TC_OP_fmin:
    return tc__binary(b, u ? "arith.minui" : "arith.minsi", x, y);
  case TC_OP_bitwise_and:
    return tc__binary(b, "arith.andi", x, y);
  case TC_OP_bitwise_or:
    return tc__binary(b, "arith.ori", x, y);
  case TC_OP_bitwise_xor:
    return tc__binary(b, "arith.xori", x, y);
  case TC_OP_shift_left:
  case TC_OP_shift_right: {
    int64_t width = (int64_t)tc_dtype_size(d) * 8;
    V over = tc__cmpi(b, TC__CMPI_UGE, y, ci(b, y, width)); // a negative count is a huge unsigned one
    V count = tc__select(b, over, ci(b, y, width - 1), y);
    if (kind == TC_OP_shift_left)
      return tc__select(b, over, ci(b, x, 0), tc__binary(b, "arith.shli", x, count));
    V shifted = tc__binary(b, u ? "arith.shrui" : "arith.shrsi", x, count);
    return u ? tc__select(b, over, ci(b, x, 0), shifted) : shifted;
  }
  default:
    return (V){NULL};
  }
}

static V float_binary(tc__builder *b, tc_op_kind kind, V x, V y) {
  switch (kind) {
  case TC_OP_add:
    return add(b, x, y);
  case TC_OP_sub:
    return sub(b, x, y);
  case TC_OP_mul:
    return mul(b, x, y);
  case TC_OP_div:
    return divide(b, x, y);
  case TC_OP_div_trunc:
    return tc__unary(b, "math.trunc", divide(b, x, y));
  case TC_OP_fmod:
    return tc__binary(b, "arith.remf", x, y);
  case TC_OP_remainder: { // C's remainder, moved to the sign of y
    V rest = tc__binary(b, "arith.remf", x, y), zero = cf(b, x, 0);
    V differs = tc__cmpf(b, TC__CMPF_UNE, rest, zero);
    V signs = tc__binary(b, "arith.xori", tc__cmpf(b, TC__CMPF_OLT, rest, zero), tc__cmpf(b, TC__CMPF_OLT, y, zero));
    return tc__select(b, tc__binary(b, "arith.andi", differs, signs), add(b, rest, y), rest);
  }
  case TC_OP_div_floor: { // ATen's div_floor: exact where floor(x / y) rounds up
    V zero = cf(b, x, 0), rest = tc__binary(b, "arith.remf", x, y), quotient = divide(b, sub(b, x, rest), y);
    V differs = tc__cmpf(b, TC__CMPF_UNE, rest, zero);
    V signs = tc__binary(b, "arith.xori", tc__cmpf(b, TC__CMPF_OLT, rest, zero), tc__cmpf(b, TC__CMPF_OLT, y, zero));
    quotient = tc__select(b, tc__binary(b, "arith.andi", differs, signs), sub(b, quotient, cf(b, x, 1)), quotient);
    V floored = tc__unary(b, "math.floor", quotient);
    floored = tc__select(b, tc__cmpf(b, TC__CMPF_OGT, sub(b, quotient, floored), cf(b, x, 0.5)), add(b, floored, cf(b, x, 1)), floored);
    V signed_zero = tc__binary(b, "math.copysign", zero, divide(b, x, y));
    V result = tc__select(b, tc__cmpf(b, TC__CMPF_OEQ, quotient, zero), signed_zero, floored);
    return tc__select(b, tc__cmpf(b, TC__CMPF_OEQ, y, zero), divide(b, x, y), result);
  }
  case TC_OP_pow:
    return tc__binary(b, "math.powf", x, y);
  case TC_OP_maximum:
    return tc__binary(b, "arith.maximumf", x, y);
  case TC_OP_minimum:
    return tc__binary(b, "arith.minimumf", x, y);
  case TC_OP_fmax:
    return tc__binary(b, "arith.maxnumf", x, y);
  case TC_OP_fmin:
    return tc__binary(b, "arith.minnumf", x, y);
  case TC_OP_atan2:
    return tc__binary(b, "math.atan2", x, y);
  case TC_OP_copysign:
    return tc__binary(b, "math.copysign", x, y);
  default:
    return (V){NULL};
  }
}

static V compare(tc__builder *b, tc_op_kind kind, V x, V y, tc_dtype d) {
  static const struct {
    tc_op_kind kind;
    int f, s, u;
  } rows[] = {{TC_OP_eq, TC__CMPF_OEQ, TC__CMPI_EQ, TC__CMPI_EQ},    {TC_OP_ne, TC__CMPF_UNE, TC__CMPI_NE, TC__CMPI_NE},
              {TC_OP_lt, TC__CMPF_OLT, TC__CMPI_SLT, TC__CMPI_ULT},  {TC_OP_le, TC__CMPF_OLE, TC__CMPI_SLE, TC__CMPI_ULE},
              {TC_OP_gt, TC__CMPF_OGT, TC__CMPI_SGT, TC__CMPI_UGT},  {TC_OP_ge, TC__CMPF_OGE, TC__CMPI_SGE, TC__CMPI_UGE}};
  bool u = d == TC_U8 || d == TC_BOOL;
  for (size_t i = 0; i < TC_COUNTOF(rows); i++)
    if (rows[i].kind == kind)
      return is_float(d) ? tc__cmpf(b, rows[i].f, x, y) : tc__cmpi(b, u ? rows[i].u : rows[i].s, x, y);
  return (V){NULL};
}

static V logical(tc__builder *b, tc_op_kind kind, const V *args, size_t n, tc_dtype d) {
  MlirType i1 = mlirIntegerTypeGet(b->ctx, 1);
  V x = args[0];
  if (kind == TC_OP_isnan || kind == TC_OP_isinf || kind == TC_OP_isfinite) {
    if (!is_float(d))
      return tc__const_i(b, i1, kind == TC_OP_isfinite);
    if (kind == TC_OP_isnan)
      return tc__cmpf(b, TC__CMPF_UNO, x, x);
    V magnitude = tc__unary(b, "math.absf", x), infinity = cf(b, x, INFINITY);
    return tc__cmpf(b, kind == TC_OP_isinf ? TC__CMPF_OEQ : TC__CMPF_OLT, magnitude, infinity);
  }
  V p = tc__lower_cast(b, x, d, TC_BOOL);
  if (kind == TC_OP_logical_not)
    return tc__binary(b, "arith.xori", p, tc__const_i(b, i1, 1));
  V q = n > 1 ? tc__lower_cast(b, args[1], d, TC_BOOL) : p;
  return tc__binary(b, kind == TC_OP_logical_and ? "arith.andi" : kind == TC_OP_logical_or ? "arith.ori" : "arith.xori", p, q);
}

V tc__lower_scalar(tc__builder *b, tc_op_kind kind, const V *given, size_t n, tc_dtype in, tc_dtype out, const tc__attrs *attrs) {
  tc_op_family family = tc__op_info_get(kind)->family;
  if (kind == TC_OP_where)
    return tc__select(b, given[0], given[1], given[2]);
  if (kind == TC_OP_cast)
    return tc__lower_cast(b, given[0], in, out);
  V args[3];
  tc_dtype d = is_half(in) ? TC_F32 : in;
  for (size_t i = 0; i < n && i < 3; i++)
    args[i] = tc__lower_cast(b, given[i], in, d);
  V y = {NULL};
  if (family == TC_FAMILY_LOGICAL)
    return logical(b, kind, args, n, d);
  if (family == TC_FAMILY_COMPARE)
    return compare(b, kind, args[0], args[1], d);
  if (kind == TC_OP_bitwise_not)
    return tc__binary(b, "arith.xori", args[0], ci(b, args[0], -1));
  if (n == 1)
    y = is_float(d) ? float_unary(b, kind, args[0], attrs) : int_unary(b, kind, args[0], d == TC_U8 || d == TC_BOOL, attrs);
  else if (n == 2)
    y = is_float(d) ? float_binary(b, kind, args[0], args[1]) : int_binary(b, kind, args[0], args[1], d);
  return mlirValueIsNull(y) ? y : tc__lower_cast(b, y, d, out);
}

bool tc__lower_pointwise(tc__lowering *l) {
  // Integer powers are a loop: the interpreter runs them.
  if (l->kind == TC_OP_pow && !is_float(l->in_types[0].dtype))
    return false;
  tc_dtype in = l->in_types[l->kind == TC_OP_where ? 1 : 0].dtype;
  const tc__type *out = &l->out_types[0];
  tc__generic g = {.n_outs = 1, .n_loops = (size_t)out->rank};
  size_t slot[3] = {0};
  for (size_t i = 0; i < l->n; i++) {
    slot[i] = g.n_ins;
    for (size_t k = 0; k < i; k++) // x * x reads x once
      if (mlirValueEqual(l->in[k], l->in[i]))
        slot[i] = slot[k];
    if (slot[i] != g.n_ins)
      continue;
    g.ins[g.n_ins] = l->in[i];
    g.in_maps[g.n_ins++] = tc__broadcast_map(l->b.ctx, &l->in_types[i], out);
  }
  g.outs[0] = tc__lower_empty(l, out);
  g.out_maps[0] = tc__identity_map(l->b.ctx, (size_t)out->rank);
  tc__builder *body = tc__generic_begin(&l->b, &g);
  V args[3];
  for (size_t i = 0; i < l->n; i++)
    args[i] = tc__generic_arg(&g, slot[i]);
  V y = tc__lower_scalar(body, l->kind, args, l->n, in, out->dtype, &l->attrs);
  if (mlirValueIsNull(y)) {
    mlirBlockDestroy(g.block);
    mlirOperationDestroy(tc__def_op(g.outs[0]));
    return false;
  }
  MlirNamedAttribute labels[4];
  size_t n = tc__lower_labels(l, labels);
  l->out[0] = mlirOperationGetResult(tc__generic_end(&l->b, &g, &y, 1, labels, n), 0);
  return true;
}
