// Shape rules of the pointwise ops, reductions and scans.
#include "infer.h"

tc_status tc__infer_same(tc__infer *c) {
  c->out[0] = c->in[0];
  const char *lists[] = {"dims", "shifts"};
  size_t counts[2] = {0, 0};
  for (int i = 0; i < 2; i++)
    tc__attrs_ints(c->attrs, lists[i], &counts[i]);
  if (c->info->kind == TC_OP_flip || c->info->kind == TC_OP_roll) {
    const int64_t *dims = tc__attrs_ints(c->attrs, "dims", &counts[0]);
    for (size_t i = 0; i < counts[0]; i++)
      if (dims[i] < 0 || dims[i] >= c->in[0].rank)
        return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': expected entries in [0, %d), found %lld",
                              c->in[0].rank, (long long)dims[i]);
  }
  if (c->info->kind == TC_OP_roll && counts[0] != counts[1])
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shifts': expected %zu entries as in 'dims', found %zu",
                          counts[0], counts[1]);
  if (c->info->kind == TC_OP_softmax || c->info->kind == TC_OP_log_softmax) {
    int64_t dim;
    return tc__infer_dim(c, "dim", c->in[0].rank, &dim);
  }
  if (c->info->kind == TC_OP_tril || c->info->kind == TC_OP_triu)
    return tc__infer_rank_at_least(c, 0, 2);
  if (c->info->kind == TC_OP_gelu) {
    const char *form = tc__attrs_str(c->attrs, "approximate", "none");
    if (strcmp(form, "none") != 0 && strcmp(form, "tanh") != 0)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'approximate': expected \"none\" or \"tanh\", found \"%s\"",
                            form);
  }
  if (c->info->kind == TC_OP_masked_scatter) {
    if (c->in[2].dtype != c->in[0].dtype)
      return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, 2),
                            tc_dtype_name(c->in[0].dtype), tc_dtype_name(c->in[2].dtype));
    tc__type shape = c->in[0];
    TC_TRY(tc__infer_broadcast_into(c, &shape, &c->in[1], 1));
    c->out[0] = shape;
  }
  return TC_OK;
}

tc_status tc__infer_bool_same(tc__infer *c) {
  c->out[0] = c->in[0];
  c->out[0].dtype = TC_BOOL;
  return TC_OK;
}

tc_status tc__infer_cast(tc__infer *c) {
  int64_t dtype = tc__attrs_int(c->attrs, "dtype", -1);
  if (dtype < 0 || dtype >= TC_DTYPE_COUNT)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dtype': no tc element type");
  c->out[0] = c->in[0];
  c->out[0].dtype = (tc_dtype)dtype;
  return TC_OK;
}

tc_status tc__infer_broadcast(tc__infer *c) {
  TC_TRY(tc__infer_same_dtype(c, 0));
  c->out[0] = c->in[0];
  for (size_t i = 1; i < c->n; i++)
    TC_TRY(tc__infer_broadcast_into(c, &c->out[0], &c->in[i], i));
  return TC_OK;
}

tc_status tc__infer_bool_broadcast(tc__infer *c) {
  TC_TRY(tc__infer_broadcast(c));
  c->out[0].dtype = TC_BOOL;
  return TC_OK;
}

tc_status tc__infer_where(tc__infer *c) {
  TC_TRY(tc__infer_same_dtype(c, 1));
  c->out[0] = c->in[0];
  TC_TRY(tc__infer_broadcast_into(c, &c->out[0], &c->in[1], 1));
  TC_TRY(tc__infer_broadcast_into(c, &c->out[0], &c->in[2], 2));
  c->out[0].dtype = c->in[1].dtype;
  return TC_OK;
}

// ---- reductions
// -----------------------------------------------------------------------------------------------------------------------------

static tc_status reduce_shape(tc__infer *c, const int64_t *dims, size_t n) {
  const tc__type *x = &c->in[0];
  bool keep = tc__attrs_bool(c->attrs, "keepdim", false), reduced[TC_MAX_RANK] = {false};
  for (size_t i = 0; i < n; i++) {
    if (dims[i] < 0 || dims[i] >= x->rank)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': expected entries in [0, %d), found %lld", x->rank,
                            (long long)dims[i]);
    if (reduced[dims[i]])
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': %lld appears twice", (long long)dims[i]);
    reduced[dims[i]] = true;
  }
  tc__type *y = &c->out[0];
  y->rank = 0;
  y->dtype = x->dtype;
  for (int i = 0; i < x->rank; i++) {
    bool gone = n == 0 || reduced[i];
    if (gone && x->shape[i] == 0 && (c->info->kind == TC_OP_amax || c->info->kind == TC_OP_amin))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "%s: dim %d is empty", tc__infer_operand(c, 0), i);
    if (!gone || keep)
      y->shape[y->rank++] = gone ? 1 : x->shape[i];
  }
  return TC_OK;
}

tc_status tc__infer_reduce(tc__infer *c) {
  size_t n;
  const int64_t *dims = tc__attrs_ints(c->attrs, "dims", &n);
  return reduce_shape(c, dims, n);
}

tc_status tc__infer_reduce_sum(tc__infer *c) {
  TC_TRY(tc__infer_reduce(c));
  if (!tc_dtype_is_float(c->in[0].dtype))
    c->out[0].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_reduce_bool(tc__infer *c) {
  TC_TRY(tc__infer_reduce(c));
  c->out[0].dtype = TC_BOOL;
  return TC_OK;
}

tc_status tc__infer_reduce_arg(tc__infer *c) {
  int64_t dim;
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  if (c->in[0].shape[dim] == 0)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "%s: dim %lld is empty", tc__infer_operand(c, 0), (long long)dim);
  TC_TRY(reduce_shape(c, &dim, 1));
  c->out[0].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_scan_sum(tc__infer *c) {
  int64_t dim;
  // ATen allows dim 0 on a scalar.
  if (c->in[0].rank > 0)
    TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  c->out[0] = c->in[0];
  if (!tc_dtype_is_float(c->in[0].dtype))
    c->out[0].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_scan_index(tc__infer *c) {
  int64_t dim;
  if (c->in[0].rank > 0)
    TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  c->out[0] = c->out[1] = c->in[0];
  c->out[1].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_sort(tc__infer *c) { return tc__infer_scan_index(c); }

tc_status tc__infer_topk(tc__infer *c) {
  int64_t dim, k = tc__attrs_int(c->attrs, "k", 0);
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  int64_t size = c->in[0].shape[dim];
  if (k < 0 || (size != TC__DYNAMIC && k > size))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'k': expected 0 <= k <= %lld, found %lld", (long long)size,
                          (long long)k);
  c->out[0] = c->in[0];
  c->out[0].shape[dim] = k;
  c->out[1] = c->out[0];
  c->out[1].dtype = TC_I64;
  return TC_OK;
}
