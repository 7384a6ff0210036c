// Normalisations, softmax and attention as primitive ops.
#include "decompose.h"

#include <math.h>

typedef MlirValue V;

// Per-channel values shaped to broadcast against [N, C, ...].
static V per_channel(tc__composite *c, V v, tc_dtype d) {
  int rank = c->types[0].rank;
  int64_t shape[TC_MAX_RANK];
  for (int i = 0; i + 1 < rank; i++)
    shape[i] = i == 0 ? c->types[0].shape[1] : 1;
  return tc__tc_reshape(c, tc__tc_cast(c, v, d), shape, (size_t)rank - 1);
}

// x * scale + shift with scale = weight / sqrt(var + eps): what depends on parameters only is computed once at load.
static V batch_norm(tc__composite *c) {
  tc_dtype d = tc__compute_dtype(c->types[0].dtype);
  V mean = tc__tc_cast(c, c->in[1], d), var = tc__tc_cast(c, c->in[2], d);
  V deviation = tc__tc1(c, TC_OP_sqrt, tc__tc2(c, TC_OP_add, var, tc__tc_scalar(c, tc__attrs_float(&c->attrs, "eps", 1e-5), d)));
  V scale = c->n > 3 ? tc__tc2(c, TC_OP_div, tc__tc_cast(c, c->in[3], d), deviation) : tc__tc1(c, TC_OP_reciprocal, deviation);
  V shift = tc__tc2(c, TC_OP_mul, mean, scale);
  shift = c->n > 4 ? tc__tc2(c, TC_OP_sub, tc__tc_cast(c, c->in[4], d), shift) : tc__tc1(c, TC_OP_neg, shift);
  V x = tc__tc_cast(c, c->in[0], d);
  V y = tc__tc2(c, TC_OP_add, tc__tc2(c, TC_OP_mul, x, per_channel(c, scale, d)), per_channel(c, shift, d));
  return tc__tc_cast(c, y, c->out.dtype);
}

// (x - mean) / sqrt(var + eps) over dims of x.
static V normalise(tc__composite *c, V x, const int64_t *dims, size_t n, double count, double eps, bool centre) {
  tc_dtype d = tc__tc_dtype(x);
  if (centre) {
    V mean = tc__tc2(c, TC_OP_mul, tc__tc_reduce(c, TC_OP_sum, x, dims, n, true), tc__tc_scalar(c, 1 / count, d));
    x = tc__tc2(c, TC_OP_sub, x, mean);
  }
  V power = tc__tc2(c, TC_OP_mul, tc__tc_reduce(c, TC_OP_sum, tc__tc2(c, TC_OP_mul, x, x), dims, n, true), tc__tc_scalar(c, 1 / count, d));
  V inverse = tc__tc1(c, TC_OP_rsqrt, tc__tc2(c, TC_OP_add, power, tc__tc_scalar(c, eps, d)));
  return tc__tc2(c, TC_OP_mul, x, inverse);
}

V tc__decompose_norm(tc__composite *c) {
  const tc__type *t = &c->types[0];
  if (!tc__type_is_static(t))
    return (V){NULL};
  if (c->kind == TC_OP_batch_norm)
    return batch_norm(c);
  tc_dtype d = tc__compute_dtype(t->dtype);
  double eps = tc__attrs_float(&c->attrs, "eps", 1e-5), count = 1;
  V x = tc__tc_cast(c, c->in[0], d), y;
  int64_t dims[TC_MAX_RANK];
  size_t n = 0;
  if (c->kind == TC_OP_group_norm) { // [N, G, everything else]
    int64_t groups = tc__attrs_int(&c->attrs, "groups", 1), shape[3] = {t->shape[0], groups, t->shape[1] / groups};
    for (int i = 2; i < t->rank; i++)
      shape[2] *= t->shape[i];
    dims[0] = 2;
    y = normalise(c, tc__tc_reshape(c, x, shape, 3), dims, 1, (double)shape[2], eps, true);
    y = tc__tc_reshape(c, y, t->shape, (size_t)t->rank);
    if (c->n > 1)
      y = tc__tc2(c, TC_OP_mul, y, per_channel(c, c->in[1], d));
    if (c->n > 2)
      y = tc__tc2(c, TC_OP_add, y, per_channel(c, c->in[2], d));
    return tc__tc_cast(c, y, c->out.dtype);
  }
  int axes = (int)tc__attrs_int(&c->attrs, "axes", 1);
  for (int i = t->rank - axes; i < t->rank; i++) {
    dims[n++] = i;
    count *= (double)t->shape[i];
  }
  y = normalise(c, x, dims, n, count, eps, c->kind == TC_OP_layer_norm);
  if (c->n > 1)
    y = tc__tc2(c, TC_OP_mul, y, tc__tc_cast(c, c->in[1], d));
  if (c->n > 2)
    y = tc__tc2(c, TC_OP_add, y, tc__tc_cast(c, c->in[2], d));
  return tc__tc_cast(c, y, c->out.dtype);
}

// exp(x - max) and its sum along dim. safe: a row whose maximum is -inf gives zeros, not NaN.
static V softmax(tc__composite *c, V x, int64_t dim, bool logarithm, bool safe) {
  tc_dtype d = tc__tc_dtype(x);
  V high = tc__tc_reduce(c, TC_OP_amax, x, &dim, 1, true);
  if (safe) {
    V empty = tc__tc2(c, TC_OP_eq, high, tc__tc_scalar(c, -INFINITY, d));
    V operands[3] = {empty, tc__tc_scalar(c, 0, d), high};
    high = tc__build_tc1(&c->b, TC_OP_where, operands, 3, NULL, 0);
  }
  V shifted = tc__tc2(c, TC_OP_sub, x, high), exponential = tc__tc1(c, TC_OP_exp, shifted);
  V sum = tc__tc_reduce(c, TC_OP_sum, exponential, &dim, 1, true);
  if (logarithm)
    return tc__tc2(c, TC_OP_sub, shifted, tc__tc1(c, TC_OP_log, sum));
  if (safe) {
    V empty = tc__tc2(c, TC_OP_eq, sum, tc__tc_scalar(c, 0, d));
    V operands[3] = {empty, tc__tc_scalar(c, 1, d), sum};
    sum = tc__build_tc1(&c->b, TC_OP_where, operands, 3, NULL, 0);
  }
  return tc__tc2(c, TC_OP_div, exponential, sum);
}

V tc__decompose_softmax(tc__composite *c) {
  tc_dtype d = tc__compute_dtype(c->out.dtype);
  V y = softmax(c, tc__tc_cast(c, c->in[0], d), tc__attrs_int(&c->attrs, "dim", 0), c->kind == TC_OP_log_softmax, false);
  return tc__tc_cast(c, y, c->out.dtype);
}

// k or v with each head repeated for its group of query heads: a broadcast over a new dim, folded back.
static V repeat_heads(tc__composite *c, V x, int64_t heads) {
  tc__type t;
  tc__type_from_mlir(mlirValueGetType(x), &t);
  int h = t.rank - 3;
  if (t.shape[h] == heads)
    return x;
  int64_t wide[TC_MAX_RANK], repeated[TC_MAX_RANK], folded[TC_MAX_RANK];
  int n = 0;
  for (int i = 0; i < t.rank; i++) {
    wide[n] = repeated[n] = t.shape[i];
    folded[i] = i == h ? heads : t.shape[i];
    n++;
    if (i == h) {
      wide[n] = 1;
      repeated[n++] = heads / t.shape[h];
    }
  }
  V y = tc__tc_reshape(c, x, wide, (size_t)n);
  MlirNamedAttribute attr = tc__named(c->b.ctx, "shape", tc__attr_ints(c->b.ctx, repeated, (size_t)n));
  y = tc__build_tc1(&c->b, TC_OP_broadcast, &y, 1, &attr, 1);
  return tc__tc_reshape(c, y, folded, (size_t)t.rank);
}

V tc__decompose_attention(tc__composite *c) {
  for (size_t i = 0; i < c->n; i++)
    if (!tc__type_is_static(&c->types[i]))
      return (V){NULL};
  const tc__type *q = &c->types[0];
  if (tc__attrs_bool(&c->attrs, "enable_gqa", false) && q->rank == TC_MAX_RANK)
    return (V){NULL};
  tc_dtype d = tc__compute_dtype(q->dtype);
  V k = c->in[1], v = c->in[2];
  if (tc__attrs_bool(&c->attrs, "enable_gqa", false)) {
    k = repeat_heads(c, k, q->shape[q->rank - 3]);
    v = repeat_heads(c, v, q->shape[q->rank - 3]);
  }
  double scale = tc__attrs_float(&c->attrs, "scale", 1 / sqrt((double)q->shape[q->rank - 1]));
  V scores = tc__tc_cast(c, tc__tc_matmul(c, c->in[0], k, true), d);
  scores = tc__tc2(c, TC_OP_mul, scores, tc__tc_scalar(c, scale, d));
  tc__type t;
  tc__type_from_mlir(mlirValueGetType(scores), &t);
  bool causal = tc__attrs_bool(&c->attrs, "is_causal", false), safe = c->n > 3 || causal; // a mask may leave a row with nothing
  if (causal) { // row >= column
    int64_t shape[2] = {t.shape[t.rank - 2], t.shape[t.rank - 1]};
    V positions[2];
    for (int i = 0; i < 2; i++) {
      MlirNamedAttribute attrs[3] = {tc__named(c->b.ctx, "shape", tc__attr_ints(c->b.ctx, shape, 2)), tc__named(c->b.ctx, "dim", tc__attr_i64(c->b.ctx, i)),
                                     tc__named(c->b.ctx, "dtype", tc__attr_dtype(c->b.ctx, TC_I64))};
      positions[i] = tc__build_tc1(&c->b, TC_OP_iota, NULL, 0, attrs, 3);
    }
    V operands[3] = {tc__tc2(c, TC_OP_ge, positions[0], positions[1]), scores, tc__tc_scalar(c, -INFINITY, d)};
    scores = tc__build_tc1(&c->b, TC_OP_where, operands, 3, NULL, 0);
  }
  if (c->n > 3 && c->types[3].dtype == TC_BOOL) {
    V operands[3] = {c->in[3], scores, tc__tc_scalar(c, -INFINITY, d)};
    scores = tc__build_tc1(&c->b, TC_OP_where, operands, 3, NULL, 0);
  } else if (c->n > 3) {
    scores = tc__tc2(c, TC_OP_add, scores, tc__tc_cast(c, c->in[3], d));
  }
  V weights = tc__tc_cast(c, softmax(c, scores, t.rank - 1, false, safe), q->dtype);
  return tc__tc_matmul(c, weights, v, false);
}
