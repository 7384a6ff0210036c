// tc-decompose: composite ops (trait D of the op table) become primitive ones.
//
//   %y = "tc.softmax"(%x) {dim = 1 : i64}
// becomes
//   %m = "tc.amax"(%x) {dims = [1], keepdim}   %d = "tc.sub"(%x, %m)   %e = "tc.exp"(%d)   %s = "tc.sum"(%e) {dims = [1], keepdim}   %y = "tc.div"(%e, %s)
//
// Pointwise composites (gelu, silu, ...) stay: their lowering to linalg writes the whole formula into one body. 16-bit floats compute their statistics in f32.
#include "decompose.h"

#include "pass.h"

#include <math.h>
#include <stdio.h>

typedef MlirValue V;

// ---- tc ops in short --------------------------------------------------------------------------------------------------------------------------------

V tc__tc1(tc__composite *c, tc_op_kind kind, V x) { return tc__build_tc1(&c->b, kind, &x, 1, NULL, 0); }

V tc__tc2(tc__composite *c, tc_op_kind kind, V x, V y) {
  V operands[2] = {x, y};
  return tc__build_tc1(&c->b, kind, operands, 2, NULL, 0);
}

tc_dtype tc__tc_dtype(V v) {
  tc__type t = {.dtype = TC_F32};
  tc__type_from_mlir(mlirValueGetType(v), &t);
  return t.dtype;
}

tc_dtype tc__compute_dtype(tc_dtype d) { return d == TC_F16 || d == TC_BF16 ? TC_F32 : d; }

V tc__tc_cast(tc__composite *c, V x, tc_dtype dtype) {
  if (tc__tc_dtype(x) == dtype)
    return x;
  MlirNamedAttribute attr = tc__named(c->b.ctx, "dtype", tc__attr_dtype(c->b.ctx, dtype));
  return tc__build_tc1(&c->b, TC_OP_cast, &x, 1, &attr, 1);
}

V tc__tc_reduce(tc__composite *c, tc_op_kind kind, V x, const int64_t *dims, size_t n, bool keepdim) {
  MlirNamedAttribute attrs[2] = {tc__named(c->b.ctx, "dims", tc__attr_ints(c->b.ctx, dims, n)),
                                 tc__named(c->b.ctx, "keepdim", tc__attr_bool(c->b.ctx, keepdim))};
  return tc__build_tc1(&c->b, kind, &x, 1, attrs, 2);
}

V tc__tc_scalar(tc__composite *c, double value, tc_dtype dtype) {
  MlirNamedAttribute attrs[3] = {tc__named(c->b.ctx, "shape", tc__attr_ints(c->b.ctx, NULL, 0)),
                                 tc__named(c->b.ctx, "value", tc__attr_f64(c->b.ctx, value)),
                                 tc__named(c->b.ctx, "dtype", tc__attr_dtype(c->b.ctx, dtype))};
  return tc__build_tc1(&c->b, TC_OP_full, NULL, 0, attrs, 3);
}

V tc__tc_reshape(tc__composite *c, V x, const int64_t *shape, size_t n) {
  MlirNamedAttribute attr = tc__named(c->b.ctx, "shape", tc__attr_ints(c->b.ctx, shape, n));
  return tc__build_tc1(&c->b, TC_OP_reshape, &x, 1, &attr, 1);
}

V tc__tc_matmul(tc__composite *c, V a, V b, bool transpose_b) {
  V operands[2] = {a, b};
  MlirNamedAttribute attr = tc__named(c->b.ctx, "transpose_b", tc__attr_bool(c->b.ctx, transpose_b));
  return tc__build_tc1(&c->b, TC_OP_matmul, operands, 2, &attr, 1);
}

// ---- reductions and linear ----------------------------------------------------------------------------------------------------------------------------

// The dims that are reduced, all of them when the list is empty; *count becomes their number of elements.
static size_t reduced_dims(const tc__composite *c, int64_t *dims, double *count) {
  size_t n;
  const int64_t *given = tc__attrs_ints(&c->attrs, "dims", &n);
  int rank = c->types[0].rank;
  if (n == 0)
    for (n = 0; (int)n < rank; n++)
      dims[n] = (int64_t)n;
  else
    memcpy(dims, given, n * sizeof *dims);
  *count = 1;
  for (size_t i = 0; i < n; i++)
    *count *= (double)c->types[0].shape[dims[i]];
  return n;
}

static V reduction(tc__composite *c) {
  int64_t dims[TC_MAX_RANK];
  double count;
  if (!tc__type_is_static(&c->types[0]))
    return (V){NULL};
  size_t n = reduced_dims(c, dims, &count);
  bool keep = tc__attrs_bool(&c->attrs, "keepdim", false);
  tc_dtype d = tc__compute_dtype(c->out.dtype);
  V x = tc__tc_cast(c, c->in[0], d), y = {NULL};
  switch (c->kind) {
  case TC_OP_mean:
    y = tc__tc2(c, TC_OP_div, tc__tc_reduce(c, TC_OP_sum, x, dims, n, keep), tc__tc_scalar(c, count, d));
    break;
  case TC_OP_var: {
    V mean = tc__tc2(c, TC_OP_div, tc__tc_reduce(c, TC_OP_sum, x, dims, n, true), tc__tc_scalar(c, count, d));
    V centred = tc__tc2(c, TC_OP_sub, x, mean);
    double divisor = count - tc__attrs_float(&c->attrs, "correction", 1);
    V sum = tc__tc_reduce(c, TC_OP_sum, tc__tc2(c, TC_OP_mul, centred, centred), dims, n, keep);
    y = tc__tc2(c, TC_OP_div, sum, tc__tc_scalar(c, divisor > 0 ? divisor : 0, d));
    break;
  }
  case TC_OP_logsumexp: {
    V high = tc__tc_reduce(c, TC_OP_amax, x, dims, n, true);
    // Where the maximum is infinite, subtracting it would give NaN.
    V finite = tc__tc1(c, TC_OP_isfinite, high);
    V operands[3] = {finite, high, tc__tc_scalar(c, 0, d)};
    high = tc__build_tc1(&c->b, TC_OP_where, operands, 3, NULL, 0);
    V sum = tc__tc_reduce(c, TC_OP_sum, tc__tc1(c, TC_OP_exp, tc__tc2(c, TC_OP_sub, x, high)), dims, n, true);
    y = tc__tc2(c, TC_OP_add, tc__tc1(c, TC_OP_log, sum), high);
    if (!keep) {
      MlirNamedAttribute attr = tc__named(c->b.ctx, "dims", tc__attr_ints(c->b.ctx, dims, n));
      y = tc__build_tc1(&c->b, TC_OP_squeeze, &y, 1, &attr, 1);
    }
    break;
  }
  case TC_OP_norm: {
    double p = tc__attrs_float(&c->attrs, "p", 2);
    V magnitude = tc__tc1(c, TC_OP_abs, x);
    if (isinf(p))
      y = tc__tc_reduce(c, p > 0 ? TC_OP_amax : TC_OP_amin, magnitude, dims, n, keep);
    else if (p == 0)
      y = tc__tc_reduce(c, TC_OP_sum, tc__tc_cast(c, tc__tc2(c, TC_OP_ne, x, tc__tc_scalar(c, 0, d)), d), dims, n, keep);
    else if (p == 1)
      y = tc__tc_reduce(c, TC_OP_sum, magnitude, dims, n, keep);
    else if (p == 2)
      y = tc__tc1(c, TC_OP_sqrt, tc__tc_reduce(c, TC_OP_sum, tc__tc2(c, TC_OP_mul, x, x), dims, n, keep));
    else
      y = tc__tc2(c, TC_OP_pow, tc__tc_reduce(c, TC_OP_sum, tc__tc2(c, TC_OP_pow, magnitude, tc__tc_scalar(c, p, d)), dims, n, keep),
                  tc__tc_scalar(c, 1 / p, d));
    break;
  }
  default:
    return y;
  }
  return mlirValueIsNull(y) ? y : tc__tc_cast(c, y, c->out.dtype);
}

static V linear(tc__composite *c) {
  V x = c->in[0], y;
  if (c->types[0].rank == 1) { // a vector: one row
    int64_t row[2] = {1, c->types[0].shape[0]};
    y = tc__tc_matmul(c, tc__tc_reshape(c, x, row, 2), c->in[1], true);
    y = tc__tc_reshape(c, y, &c->out.shape[0], 1);
  } else if (c->types[0].rank == 2 || !tc__type_is_static(&c->types[0])) {
    y = tc__tc_matmul(c, x, c->in[1], true);
  } else { // the leading dims are one: a single large product
    int64_t flat[2] = {1, c->types[0].shape[c->types[0].rank - 1]};
    for (int i = 0; i + 1 < c->types[0].rank; i++)
      flat[0] *= c->types[0].shape[i];
    y = tc__tc_matmul(c, tc__tc_reshape(c, x, flat, 2), c->in[1], true);
    if (c->n > 2)
      y = tc__tc2(c, TC_OP_add, y, c->in[2]);
    return tc__tc_reshape(c, y, c->out.shape, (size_t)c->out.rank);
  }
  return c->n > 2 ? tc__tc2(c, TC_OP_add, y, c->in[2]) : y;
}

// ---- the pass -------------------------------------------------------------------------------------------------------------------------------------------

static tc__decompose_fn decomposition(tc_op_kind kind) {
  switch (kind) {
  case TC_OP_mean:
  case TC_OP_var:
  case TC_OP_norm:
  case TC_OP_logsumexp:
    return reduction;
  case TC_OP_linear:
    return linear;
  case TC_OP_batch_norm:
  case TC_OP_layer_norm:
  case TC_OP_group_norm:
  case TC_OP_rms_norm:
    return tc__decompose_norm;
  case TC_OP_softmax:
  case TC_OP_log_softmax:
    return tc__decompose_softmax;
  case TC_OP_attention:
    return tc__decompose_attention;
  default:
    return NULL;
  }
}

static bool listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    if (length == n && strncmp(at, name, n) == 0)
      return true;
    at += length + (at[length] == ',');
  }
  return false;
}

static tc_status rewrite(MlirOperation op, void *user) {
  tc_op_kind kind = tc__op_kind(op);
  tc__decompose_fn fn = kind == TC_OP_COUNT ? NULL : decomposition(kind);
  if (!fn || listed(user, tc__op_info_get(kind)->name))
    return TC_OK;
  tc__composite c = {.b = tc__builder_before(op), .kind = kind, .n = (size_t)mlirOperationGetNumOperands(op)};
  for (size_t i = 0; i < c.n; i++) {
    c.in[i] = mlirOperationGetOperand(op, (intptr_t)i);
    if (!tc__type_from_mlir(mlirValueGetType(c.in[i]), &c.types[i]) || tc__type_elements(&c.types[i]) == 0)
      return TC_OK; // empty tensors are the interpreter's
  }
  if (!tc__type_from_mlir(mlirValueGetType(mlirOperationGetResult(op, 0)), &c.out))
    return TC_OK;
  tc__op_attrs attrs;
  TC_TRY(tc__op_attrs_read(op, &attrs));
  c.attrs = attrs.attrs;
  V result = fn(&c);
  tc__op_attrs_free(&attrs);
  if (mlirValueIsNull(result))
    return TC_OK; // stays a composite: it runs as a step of the interpreter
  tc__replace_op(op, &result);
  return TC_OK;
}

tc_status tc__pass_decompose(MlirOperation module, const tc__pass_options *options) {
  char keep[256];
  tc__pass_option_str(options, "keep", "", keep, sizeof keep);
  return tc__walk(module, rewrite, keep);
}
