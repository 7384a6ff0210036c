// Shape rules of contractions, pooling, resize, normalisation and attention.
#include "infer.h"

static tc_status sizes_agree(tc__infer *c, size_t operand, int dim, int64_t want) {
  int64_t got = c->in[operand].shape[dim];
  if (tc__infer_unify(&want, got))
    return TC_OK;
  return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size %lld at dim %d, found %lld", tc__infer_operand(c, operand),
                        (long long)want, dim, (long long)got);
}

tc_status tc__infer_matmul(tc__infer *c) {
  TC_TRY(tc__infer_same_dtype(c, 0));
  TC_TRY(tc__infer_rank_at_least(c, 0, 2));
  TC_TRY(tc__infer_rank_at_least(c, 1, 2));
  bool ta = tc__attrs_bool(c->attrs, "transpose_a", false), tb = tc__attrs_bool(c->attrs, "transpose_b", false);
  tc__type a = c->in[0], b = c->in[1];
  int64_t m = a.shape[a.rank - (ta ? 1 : 2)], k = a.shape[a.rank - (ta ? 2 : 1)], n = b.shape[b.rank - (tb ? 2 : 1)];
  TC_TRY(sizes_agree(c, 1, b.rank - (tb ? 1 : 2), k));
  a.rank -= 2;
  b.rank -= 2;
  TC_TRY(tc__infer_broadcast_into(c, &a, &b, 1));
  a.shape[a.rank++] = m;
  a.shape[a.rank++] = n;
  c->out[0] = a;
  return TC_OK;
}

tc_status tc__infer_linear(tc__infer *c) {
  TC_TRY(tc__infer_same_dtype(c, 0));
  TC_TRY(tc__infer_rank_at_least(c, 0, 1));
  TC_TRY(tc__infer_rank_is(c, 1, 2));
  TC_TRY(sizes_agree(c, 1, 1, c->in[0].shape[c->in[0].rank - 1]));
  if (c->n > 2) {
    TC_TRY(tc__infer_rank_is(c, 2, 1));
    TC_TRY(sizes_agree(c, 2, 0, c->in[1].shape[0]));
  }
  c->out[0] = c->in[0];
  c->out[0].shape[c->out[0].rank - 1] = c->in[1].shape[0];
  return TC_OK;
}

// floor((size + low + high - dilation*(kernel-1) - 1) / stride) + 1
static tc_status window(tc__infer *c, int dim, int64_t size, int64_t pads, int64_t kernel, int64_t stride, int64_t dilation,
                        bool ceil_mode, int64_t low_pad, int64_t *out) {
  *out = TC__DYNAMIC;
  if (size == TC__DYNAMIC || kernel == TC__DYNAMIC)
    return TC_OK;
  int64_t reach, padded;
  if (__builtin_mul_overflow(dilation, kernel - 1, &reach) || __builtin_add_overflow(size, pads, &padded) || reach == INT64_MAX)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "the window of dim %d is too large", dim);
  if (padded < reach + 1)
    return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: dim %d has size %lld with padding, less than the window's %lld",
                          tc__infer_operand(c, 0), dim, (long long)padded, (long long)(reach + 1));
  int64_t room = padded - reach - 1;
  *out = room / stride + 1;
  // A window that starts beyond the input and its low padding is dropped (ATen's pooling_output_shape).
  int64_t start;
  if (ceil_mode && room % stride != 0 && !__builtin_mul_overflow(*out, stride, &start) && start < size + low_pad)
    ++*out;
  return TC_OK;
}

tc_status tc__infer_convolution(tc__infer *c) {
  TC_TRY(tc__infer_same_dtype(c, 0));
  const tc__type *x = &c->in[0], *w = &c->in[1];
  int spatial = x->rank - 2;
  if (spatial < 1 || spatial > 3)
    return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected rank 3 to 5, found %d", tc__infer_operand(c, 0), x->rank);
  TC_TRY(tc__infer_rank_is(c, 1, x->rank));
  const int64_t *stride, *padding, *dilation, *extra;
  size_t n, n_padding, n_extra;
  TC_TRY(tc__infer_ints(c, "stride", spatial, 1, 3, &stride, &n));
  TC_TRY(tc__infer_ints(c, "dilation", spatial, 1, 3, &dilation, &n));
  TC_TRY(tc__infer_ints(c, "padding", -1, 0, 6, &padding, &n_padding));
  if (n_padding != (size_t)spatial && n_padding != (size_t)(2 * spatial))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'padding': expected %d or %d entries, found %zu", spatial,
                          2 * spatial, n_padding);
  bool transposed = tc__attrs_bool(c->attrs, "transposed", false);
  TC_TRY(tc__infer_ints(c, "output_padding", -1, 0, 3, &extra, &n_extra));
  if (n_extra != 0 && n_extra != (size_t)spatial)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'output_padding': expected %d entries, found %zu", spatial,
                          n_extra);
  int64_t groups = tc__attrs_int(c->attrs, "groups", 1);
  int64_t in = x->shape[1], out = w->shape[0];
  if (groups < 1 || (in != TC__DYNAMIC && in % groups) || (!transposed && out != TC__DYNAMIC && out % groups))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'groups': %lld does not divide the channels (%lld in, %lld out)",
                          (long long)groups, (long long)in, (long long)out);
  if (transposed) {
    TC_TRY(sizes_agree(c, 1, 0, in));
    if (w->shape[1] != TC__DYNAMIC && __builtin_mul_overflow(w->shape[1], groups, &out))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'groups': %lld is too large", (long long)groups);
  } else {
    TC_TRY(sizes_agree(c, 1, 1, in == TC__DYNAMIC ? in : in / groups));
  }
  if (c->n > 2) {
    TC_TRY(tc__infer_rank_is(c, 2, 1));
    TC_TRY(sizes_agree(c, 2, 0, out));
  }
  tc__type *y = &c->out[0];
  *y = (tc__type){.dtype = x->dtype, .rank = x->rank, .shape = {x->shape[0], out}};
  for (int i = 0; i < spatial; i++) {
    int64_t low = padding[i], high = n_padding == (size_t)spatial ? low : padding[spatial + i], size = x->shape[2 + i],
            kernel = w->shape[2 + i];
    int64_t pads;
    if (kernel == 0)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: dim %d is empty", tc__infer_operand(c, 1), 2 + i);
    if (__builtin_add_overflow(low, high, &pads))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'padding': too large");
    if (!transposed) {
      TC_TRY(window(c, 2 + i, size, pads, kernel, stride[i], dilation[i], false, low, &y->shape[2 + i]));
      continue;
    }
    y->shape[2 + i] = TC__DYNAMIC;
    if (size == TC__DYNAMIC || kernel == TC__DYNAMIC)
      continue;
    int64_t a, b, more = n_extra ? extra[i] : 0;
    if (more >= stride[i] && more >= dilation[i])
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                            "attribute 'output_padding': expected less than stride or dilation, found %lld", (long long)more);
    if (__builtin_mul_overflow(size - 1, stride[i], &a) || __builtin_mul_overflow(dilation[i], kernel - 1, &b) ||
        __builtin_add_overflow(a, b, &a) || __builtin_sub_overflow(a, pads, &a) || __builtin_add_overflow(a, more + 1, &a) ||
        a < 0)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: dim %d gives no valid output size", tc__infer_operand(c, 0), 2 + i);
    y->shape[2 + i] = a;
  }
  return TC_OK;
}

tc_status tc__infer_pool(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *kernel, *stride, *padding, *dilation;
  size_t n, m, n_dilation;
  TC_TRY(tc__infer_ints(c, "kernel", -1, 1, 3, &kernel, &n));
  if (n < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'kernel': expected 1 to 3 entries, found 0");
  TC_TRY(tc__infer_rank_at_least(c, 0, (int)n + 1));
  TC_TRY(tc__infer_ints(c, "stride", (int64_t)n, 1, 3, &stride, &m));
  TC_TRY(tc__infer_ints(c, "padding", (int64_t)n, 0, 3, &padding, &m));
  TC_TRY(tc__infer_ints(c, "dilation", -1, 1, 3, &dilation, &n_dilation));
  if (n_dilation != 0 && n_dilation != n)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dilation': expected %zu entries, found %zu", n, n_dilation);
  bool ceil_mode = tc__attrs_bool(c->attrs, "ceil_mode", false);
  c->out[0] = *x;
  for (size_t i = 0; i < n; i++) {
    int dim = x->rank - (int)n + (int)i;
    if (padding[i] > kernel[i] / 2)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                            "attribute 'padding': expected at most half the window, found %lld of %lld", (long long)padding[i],
                            (long long)kernel[i]);
    TC_TRY(window(c, dim, x->shape[dim], 2 * padding[i], kernel[i], stride[i], n_dilation ? dilation[i] : 1, ceil_mode,
                  padding[i], &c->out[0].shape[dim]));
  }
  c->out[1] = c->out[0];
  c->out[1].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_adaptive_pool(tc__infer *c) {
  const int64_t *size;
  size_t n;
  TC_TRY(tc__infer_ints(c, "output_size", -1, 0, 3, &size, &n));
  if (n < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'output_size': expected 1 to 3 entries, found 0");
  TC_TRY(tc__infer_rank_at_least(c, 0, (int)n + 1));
  c->out[0] = c->in[0];
  for (size_t i = 0; i < n; i++) {
    int64_t *dim = &c->out[0].shape[c->in[0].rank - (int)n + (int)i];
    if (*dim == 0)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: a spatial dim is empty", tc__infer_operand(c, 0));
    *dim = size[i];
  }
  c->out[1] = c->out[0];
  c->out[1].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_resize(tc__infer *c) {
  static const char *const modes[] = {"nearest", "nearest_exact", "linear", "bicubic"};
  const char *mode = tc__attrs_str(c->attrs, "mode", "");
  bool known = false;
  for (size_t i = 0; i < TC_COUNTOF(modes); i++)
    known |= strcmp(mode, modes[i]) == 0;
  if (!known)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                          "attribute 'mode': expected nearest, nearest_exact, linear or bicubic, found \"%s\"", mode);
  const int64_t *size;
  size_t n, n_scales;
  TC_TRY(tc__infer_ints(c, "size", -1, 1, 3, &size, &n));
  if (n < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'size': expected 1 to 3 entries, found 0");
  if (strcmp(mode, "bicubic") == 0 && n != 2)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'size': bicubic needs 2 entries, found %zu", n);
  TC_TRY(tc__infer_rank_at_least(c, 0, (int)n + 1));
  tc__attrs_floats(c->attrs, "scales", &n_scales);
  if (n_scales != 0 && n_scales != n)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'scales': expected %zu entries, found %zu", n, n_scales);
  c->out[0] = c->in[0];
  for (size_t i = 0; i < n; i++) {
    int64_t *dim = &c->out[0].shape[c->in[0].rank - (int)n + (int)i];
    if (*dim == 0)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: a spatial dim is empty", tc__infer_operand(c, 0));
    *dim = size[i];
  }
  return TC_OK;
}

typedef struct patches {
  const int64_t *kernel, *dilation, *padding, *stride;
} patches;

static tc_status read_patches(tc__infer *c, patches *p) {
  size_t n;
  TC_TRY(tc__infer_ints(c, "kernel", 2, 1, 2, &p->kernel, &n));
  TC_TRY(tc__infer_ints(c, "dilation", 2, 1, 2, &p->dilation, &n));
  TC_TRY(tc__infer_ints(c, "padding", 2, 0, 2, &p->padding, &n));
  return tc__infer_ints(c, "stride", 2, 1, 2, &p->stride, &n);
}

static tc_status count_patches(tc__infer *c, const patches *p, const int64_t *size, int64_t *out) {
  *out = 1;
  for (int i = 0; i < 2; i++) {
    int64_t one;
    if (p->padding[i] > INT64_MAX / 2)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'padding': too large");
    TC_TRY(window(c, i, size[i], 2 * p->padding[i], p->kernel[i], p->stride[i], p->dilation[i], false, p->padding[i], &one));
    *out = one == TC__DYNAMIC || *out == TC__DYNAMIC ? TC__DYNAMIC : *out * one;
  }
  return TC_OK;
}

tc_status tc__infer_im2col(tc__infer *c) {
  const tc__type *x = &c->in[0];
  patches p;
  TC_TRY(tc__infer_rank_is(c, 0, 4));
  TC_TRY(read_patches(c, &p));
  int64_t count, area;
  TC_TRY(count_patches(c, &p, &x->shape[2], &count));
  if (__builtin_mul_overflow(p.kernel[0], p.kernel[1], &area) ||
      (x->shape[1] != TC__DYNAMIC && __builtin_mul_overflow(area, x->shape[1], &area)))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'kernel': too large");
  c->out[0] =
      (tc__type){.dtype = x->dtype, .rank = 3, .shape = {x->shape[0], x->shape[1] == TC__DYNAMIC ? TC__DYNAMIC : area, count}};
  return TC_OK;
}

tc_status tc__infer_col2im(tc__infer *c) {
  const tc__type *x = &c->in[0];
  patches p;
  const int64_t *size;
  size_t n;
  TC_TRY(tc__infer_rank_is(c, 0, 3));
  TC_TRY(read_patches(c, &p));
  TC_TRY(tc__infer_ints(c, "output_size", 2, 1, 2, &size, &n));
  int64_t count, area;
  TC_TRY(count_patches(c, &p, size, &count));
  TC_TRY(sizes_agree(c, 0, 2, count));
  if (__builtin_mul_overflow(p.kernel[0], p.kernel[1], &area) || (x->shape[1] != TC__DYNAMIC && x->shape[1] % area))
    return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected a multiple of the window's %lld at dim 1, found %lld",
                          tc__infer_operand(c, 0), (long long)area, (long long)x->shape[1]);
  c->out[0] = (tc__type){.dtype = x->dtype,
                         .rank = 4,
                         .shape = {x->shape[0], x->shape[1] == TC__DYNAMIC ? TC__DYNAMIC : x->shape[1] / area, size[0], size[1]}};
  return TC_OK;
}

// ---- normalisation and attention
// -----------------------------------------------------------------------------------------------------------

// Norms allow f32 statistics and weights beside a 16-bit x.
static tc_status norm_dtype(tc__infer *c, size_t i) {
  tc_dtype x = c->in[0].dtype, got = c->in[i].dtype;
  if (got == x || (tc_dtype_size(x) == 2 && got == TC_F32))
    return TC_OK;
  return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, i), tc_dtype_name(x),
                        tc_dtype_name(got));
}

static tc_status per_channel(tc__infer *c, size_t first) {
  TC_TRY(tc__infer_rank_at_least(c, 0, 2));
  for (size_t i = first; i < c->n; i++) {
    TC_TRY(norm_dtype(c, i));
    TC_TRY(tc__infer_rank_is(c, i, 1));
    TC_TRY(sizes_agree(c, i, 0, c->in[0].shape[1]));
  }
  c->out[0] = c->in[0];
  return TC_OK;
}

tc_status tc__infer_batch_norm(tc__infer *c) { return per_channel(c, 1); }

tc_status tc__infer_group_norm(tc__infer *c) {
  TC_TRY(per_channel(c, 1));
  int64_t groups = tc__attrs_int(c->attrs, "groups", 0), channels = c->in[0].shape[1];
  if (groups < 1 || (channels != TC__DYNAMIC && channels % groups))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'groups': %lld does not divide %lld channels", (long long)groups,
                          (long long)channels);
  return TC_OK;
}

tc_status tc__infer_layer_norm(tc__infer *c) {
  const tc__type *x = &c->in[0];
  int64_t axes = tc__attrs_int(c->attrs, "axes", 1);
  if (axes < 1 || axes > x->rank)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'axes': expected 1 <= axes <= %d, found %lld", x->rank,
                          (long long)axes);
  for (size_t i = 1; i < c->n; i++) {
    TC_TRY(norm_dtype(c, i));
    TC_TRY(tc__infer_rank_is(c, i, (int)axes));
    for (int d = 0; d < (int)axes; d++)
      TC_TRY(sizes_agree(c, i, d, x->shape[x->rank - (int)axes + d]));
  }
  c->out[0] = *x;
  return TC_OK;
}

tc_status tc__infer_attention(tc__infer *c) {
  const tc__type *q = &c->in[0], *k = &c->in[1], *v = &c->in[2];
  for (size_t i = 0; i < 3; i++) {
    TC_TRY(tc__infer_rank_at_least(c, i, 2));
    if (c->in[i].dtype != q->dtype)
      return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, i),
                            tc_dtype_name(q->dtype), tc_dtype_name(c->in[i].dtype));
  }
  TC_TRY(sizes_agree(c, 1, k->rank - 1, q->shape[q->rank - 1]));
  TC_TRY(sizes_agree(c, 2, v->rank - 2, k->shape[k->rank - 2]));
  tc__type batch = *q, kb = *k, vb = *v;
  batch.rank -= 2;
  kb.rank -= 2;
  vb.rank -= 2;
  if (tc__attrs_bool(c->attrs, "enable_gqa", false)) {
    if (batch.rank < 1 || kb.rank < 1 || vb.rank < 1)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "enable_gqa needs rank >= 3");
    int64_t heads = batch.shape[batch.rank - 1];
    int64_t *groups[] = {&kb.shape[kb.rank - 1], &vb.shape[vb.rank - 1]};
    for (int i = 0; i < 2; i++) {
      if (heads != TC__DYNAMIC && *groups[i] != TC__DYNAMIC && (*groups[i] == 0 || heads % *groups[i]))
        return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: %lld heads do not divide the query's %lld",
                              tc__infer_operand(c, (size_t)i + 1), (long long)*groups[i], (long long)heads);
      *groups[i] = heads;
    }
  }
  TC_TRY(tc__infer_broadcast_into(c, &batch, &kb, 1));
  TC_TRY(tc__infer_broadcast_into(c, &batch, &vb, 2));
  if (c->n > 3) {
    tc__type scores = batch, mask = c->in[3];
    scores.shape[scores.rank++] = q->shape[q->rank - 2];
    scores.shape[scores.rank++] = k->shape[k->rank - 2];
    if (mask.dtype != TC_BOOL && mask.dtype != q->dtype)
      return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected i1 or %s, found %s", tc__infer_operand(c, 3),
                            tc_dtype_name(q->dtype), tc_dtype_name(mask.dtype));
    tc__type both = scores;
    TC_TRY(tc__infer_broadcast_into(c, &both, &mask, 3));
    for (int i = 0; i < both.rank; i++)
      if (both.rank != scores.rank || (scores.shape[i] != TC__DYNAMIC && both.shape[i] != scores.shape[i])) {
        char want[160], got[160];
        return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: shape %s does not broadcast to %s", tc__infer_operand(c, 3),
                              tc__type_format(&mask, got, sizeof got), tc__type_format(&scores, want, sizeof want));
      }
  }
  batch.shape[batch.rank++] = q->shape[q->rank - 2];
  batch.shape[batch.rank++] = v->shape[v->rank - 1];
  c->out[0] = batch;
  return TC_OK;
}
