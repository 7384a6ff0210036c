// Shape rules of the shape, creation and indexing ops.
#include "infer.h"

// The elements that the -1 entry shares with the literal ones, once dims of x that the shape names (-2-d) are set aside. -1 when
// it is not known: a dynamic dim was not named, or a named one is named twice.
static int64_t unnamed_elements(const tc__type *x, const int64_t *shape, size_t n) {
  int64_t product = 1;
  bool named[TC_MAX_RANK] = {false};
  for (size_t i = 0; i < n; i++) {
    if (shape[i] > -2)
      continue;
    if (named[-2 - shape[i]])
      return -1;
    named[-2 - shape[i]] = true;
  }
  for (int d = 0; d < x->rank; d++)
    if (!named[d] && (x->shape[d] == TC__DYNAMIC || __builtin_mul_overflow(product, x->shape[d], &product)))
      return -1;
  return product;
}

tc_status tc__infer_reshape(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *shape;
  size_t n;
  TC_TRY(tc__infer_ints(c, "shape", -1, -1 - TC_MAX_RANK, TC_MAX_RANK, &shape, &n));
  tc__type *y = &c->out[0];
  *y = (tc__type){.dtype = x->dtype, .rank = (int)n};
  int inferred = -1;
  int64_t known = 1, literal = 1; // products of all known entries; of those that are no -2-d
  bool is_static = true;
  for (size_t i = 0; i < n; i++) {
    int64_t s = shape[i], d = -2 - s;
    if (s == -1) {
      if (inferred >= 0)
        return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shape': more than one -1");
      inferred = (int)i;
      continue;
    }
    if (d >= x->rank)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shape': entry %zu names dim %lld of a rank-%d operand", i,
                            (long long)d, x->rank);
    y->shape[i] = d >= 0 ? x->shape[d] : s;
    is_static &= y->shape[i] != TC__DYNAMIC;
    if ((y->shape[i] != TC__DYNAMIC && __builtin_mul_overflow(known, y->shape[i], &known)) ||
        (d < 0 && __builtin_mul_overflow(literal, s, &literal)))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shape': too many elements");
  }
  int64_t total = tc__type_elements(x), rest = total;
  if (!is_static || total < 0) { // set the named dims aside on both sides
    rest = unnamed_elements(x, shape, n);
    known = literal;
  }
  if (inferred < 0) {
    if (rest >= 0 && rest != known)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'shape': expected %lld elements, found %lld", (long long)rest,
                            (long long)known);
    return TC_OK;
  }
  y->shape[inferred] = TC__DYNAMIC;
  if (rest < 0)
    return TC_OK;
  if (known == 0 && rest == 0)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shape': -1 beside a 0 has no one value");
  if (known == 0 || rest % known != 0)
    return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'shape': %lld elements do not divide by %lld", (long long)rest,
                          (long long)known);
  y->shape[inferred] = rest / known;
  return TC_OK;
}

tc_status tc__infer_unsqueeze(tc__infer *c) {
  int64_t dim;
  const tc__type *x = &c->in[0];
  TC_TRY(tc__infer_dim(c, "dim", x->rank + 1, &dim));
  if (x->rank == TC_MAX_RANK)
    return tc__infer_fail(c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", x->rank + 1, TC_MAX_RANK);
  tc__type *y = &c->out[0];
  *y = (tc__type){.dtype = x->dtype, .rank = x->rank + 1};
  for (int i = 0; i < y->rank; i++)
    y->shape[i] = i < dim ? x->shape[i] : i == dim ? 1 : x->shape[i - 1];
  return TC_OK;
}

tc_status tc__infer_squeeze(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *dims;
  size_t n;
  TC_TRY(tc__infer_ints(c, "dims", -1, 0, TC_MAX_RANK, &dims, &n));
  bool drop[TC_MAX_RANK] = {false};
  for (size_t i = 0; i < n; i++) {
    if (dims[i] >= x->rank)
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': expected entries in [0, %d), found %lld", x->rank,
                            (long long)dims[i]);
    drop[dims[i]] = x->shape[dims[i]] == 1;
  }
  c->out[0].dtype = x->dtype;
  for (int i = 0; i < x->rank; i++)
    if (!drop[i])
      c->out[0].shape[c->out[0].rank++] = x->shape[i];
  return TC_OK;
}

tc_status tc__infer_permute(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *dims;
  size_t n;
  TC_TRY(tc__infer_ints(c, "dims", x->rank, 0, TC_MAX_RANK, &dims, &n));
  bool seen[TC_MAX_RANK] = {false};
  c->out[0] = *x;
  for (int i = 0; i < x->rank; i++) {
    if (dims[i] >= x->rank || seen[dims[i]])
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': no permutation of 0..%d", x->rank - 1);
    seen[dims[i]] = true;
    c->out[0].shape[i] = x->shape[dims[i]];
  }
  return TC_OK;
}

tc_status tc__infer_broadcast_to(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *shape;
  size_t n;
  TC_TRY(tc__infer_ints(c, "shape", -1, -1, TC_MAX_RANK, &shape, &n));
  if ((int)n < x->rank)
    return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'shape': expected at least %d entries, found %zu", x->rank, n);
  c->out[0] = (tc__type){.dtype = x->dtype, .rank = (int)n};
  for (size_t i = 0; i < n; i++) {
    int d = (int)i - ((int)n - x->rank);
    int64_t from = d < 0 ? 1 : x->shape[d], to = shape[i];
    if (to == -1) {
      if (d < 0)
        return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'shape': -1 at %zu, where the operand has no dim", i);
      to = from;
    } else if (from != 1 && from != TC__DYNAMIC && from != to) {
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'shape': expected %lld at %zu, found %lld", (long long)from, i,
                            (long long)to);
    }
    c->out[0].shape[i] = to;
  }
  return TC_OK;
}

tc_status tc__infer_slice(tc__infer *c) {
  int64_t dim, start = tc__attrs_int(c->attrs, "start", 0), end = tc__attrs_int(c->attrs, "end", INT64_MAX),
               step = tc__attrs_int(c->attrs, "step", 1);
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  if (step < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'step': expected >= 1, found %lld", (long long)step);
  c->out[0] = c->in[0];
  int64_t size = c->in[0].shape[dim];
  if (size == TC__DYNAMIC)
    return TC_OK;
  if (start < 0)
    start += size;
  if (end < 0)
    end += size;
  start = start < 0 ? 0 : start > size ? size : start;
  end = end < start ? start : end > size ? size : end;
  c->out[0].shape[dim] = (end - start) / step + ((end - start) % step != 0);
  return TC_OK;
}

static void drop_dim(const tc__type *x, int64_t dim, tc__type *y) {
  y->dtype = x->dtype;
  y->rank = 0;
  for (int i = 0; i < x->rank; i++)
    if (i != dim)
      y->shape[y->rank++] = x->shape[i];
}

tc_status tc__infer_select(tc__infer *c) {
  int64_t dim, index = tc__attrs_int(c->attrs, "index", 0);
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  int64_t size = c->in[0].shape[dim];
  if (size != TC__DYNAMIC && (index < -size || index >= size))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'index': expected [-%lld, %lld), found %lld", (long long)size,
                          (long long)size, (long long)index);
  drop_dim(&c->in[0], dim, &c->out[0]);
  return TC_OK;
}

tc_status tc__infer_pad(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *low, *high;
  size_t n;
  TC_TRY(tc__infer_ints(c, "low", x->rank, INT64_MIN, TC_MAX_RANK, &low, &n));
  TC_TRY(tc__infer_ints(c, "high", x->rank, INT64_MIN, TC_MAX_RANK, &high, &n));
  const char *mode = tc__attrs_str(c->attrs, "mode", "constant");
  bool constant = strcmp(mode, "constant") == 0, reflect = strcmp(mode, "reflect") == 0, circular = strcmp(mode, "circular") == 0;
  if (!constant && !reflect && !circular && strcmp(mode, "replicate") != 0)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                          "attribute 'mode': expected \"constant\", \"reflect\", \"replicate\" or \"circular\", found \"%s\"",
                          mode);
  c->out[0] = *x;
  for (int i = 0; i < x->rank; i++) {
    int64_t size = x->shape[i];
    if (size == TC__DYNAMIC)
      continue;
    int64_t limit = constant ? INT64_MAX : reflect ? size - 1 : circular ? size : size ? INT64_MAX : 0;
    if (!constant && (low[i] < 0 || high[i] < 0))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                            "attribute 'low'/'high': negative padding at dim %d needs mode \"constant\"", i);
    if (low[i] > limit || high[i] > limit)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'low'/'high': %s padding of dim %d (size %lld) is at most %lld",
                            mode, i, (long long)size, (long long)limit);
    int64_t y;
    if (__builtin_add_overflow(size, low[i], &y) || __builtin_add_overflow(y, high[i], &y) || y < 0)
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "attribute 'low'/'high': dim %d would have size %lld + %lld + %lld", i,
                            (long long)size, (long long)low[i], (long long)high[i]);
    c->out[0].shape[i] = y;
  }
  return TC_OK;
}

tc_status tc__infer_concat(tc__infer *c) {
  if (c->n == 0)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "expected at least 1 operand, found 0");
  int64_t dim;
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  TC_TRY(tc__infer_same_dtype(c, 0));
  c->out[0] = c->in[0];
  for (size_t k = 1; k < c->n; k++) {
    TC_TRY(tc__infer_rank_is(c, k, c->in[0].rank));
    for (int i = 0; i < c->in[0].rank; i++) {
      int64_t *y = &c->out[0].shape[i], x = c->in[k].shape[i];
      if (i == dim) {
        if (*y == TC__DYNAMIC || x == TC__DYNAMIC)
          *y = TC__DYNAMIC;
        else if (__builtin_add_overflow(*y, x, y))
          return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "the joined dim is too large");
      } else if (!tc__infer_unify(y, x)) {
        return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size %lld at dim %d, found %lld", tc__infer_operand(c, k),
                              (long long)*y, i, (long long)x);
      }
    }
  }
  return TC_OK;
}

tc_status tc__infer_repeat(tc__infer *c) {
  const tc__type *x = &c->in[0];
  const int64_t *repeats;
  size_t n;
  TC_TRY(tc__infer_ints(c, "repeats", -1, 0, TC_MAX_RANK, &repeats, &n));
  if ((int)n < x->rank)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'repeats': expected at least %d entries, found %zu", x->rank, n);
  c->out[0] = (tc__type){.dtype = x->dtype, .rank = (int)n};
  for (size_t i = 0; i < n; i++) {
    int d = (int)i - ((int)n - x->rank);
    int64_t size = d < 0 ? 1 : x->shape[d];
    if (size != TC__DYNAMIC && __builtin_mul_overflow(size, repeats[i], &size))
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'repeats': dim %zu is too large", i);
    c->out[0].shape[i] = size;
  }
  return TC_OK;
}

tc_status tc__infer_unfold(tc__infer *c) {
  int64_t dim, size = tc__attrs_int(c->attrs, "size", 0), step = tc__attrs_int(c->attrs, "step", 0);
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  if (c->in[0].rank == TC_MAX_RANK)
    return tc__infer_fail(c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", TC_MAX_RANK + 1, TC_MAX_RANK);
  int64_t in = c->in[0].shape[dim];
  if (step < 1 || size < 0 || (in != TC__DYNAMIC && size > in))
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                          "attributes 'size', 'step': expected 0 <= size <= %lld and step >= 1, found %lld and %lld",
                          (long long)in, (long long)size, (long long)step);
  c->out[0] = c->in[0];
  if (in != TC__DYNAMIC)
    c->out[0].shape[dim] = (in - size) / step + 1;
  c->out[0].shape[c->out[0].rank++] = size;
  return TC_OK;
}

tc_status tc__infer_diagonal(tc__infer *c) {
  const tc__type *x = &c->in[0];
  int64_t d1, d2, offset = tc__attrs_int(c->attrs, "offset", 0);
  TC_TRY(tc__infer_rank_at_least(c, 0, 2));
  TC_TRY(tc__infer_dim(c, "dim1", x->rank, &d1));
  d2 = tc__attrs_int(c->attrs, "dim2", 1);
  if (d2 < 0 || d2 >= x->rank || d1 == d2)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dim2': expected another dim than dim1 in [0, %d), found %lld",
                          x->rank, (long long)d2);
  tc__type *y = &c->out[0];
  y->dtype = x->dtype;
  for (int i = 0; i < x->rank; i++)
    if (i != d1 && i != d2)
      y->shape[y->rank++] = x->shape[i];
  int64_t rows = x->shape[d1], cols = x->shape[d2], size = TC__DYNAMIC;
  if (rows != TC__DYNAMIC && cols != TC__DYNAMIC) {
    if (offset >= 0)
      cols = offset > cols ? 0 : cols - offset;
    else
      rows = offset < -rows ? 0 : rows + offset;
    size = rows < cols ? rows : cols;
  }
  y->shape[y->rank++] = size;
  return TC_OK;
}

// ---- creation
// ---------------------------------------------------------------------------------------------------------------------------------

tc_status tc__infer_constant(tc__infer *c) {
  const tc__attr *value = tc__attrs_find(c->attrs, "value");
  c->out[0] = value->tensor.type;
  return TC_OK;
}

tc_status tc__infer_full(tc__infer *c) {
  const int64_t *shape;
  size_t n;
  int64_t dtype = tc__attrs_int(c->attrs, "dtype", -1);
  TC_TRY(tc__infer_ints(c, "shape", -1, 0, TC_MAX_RANK, &shape, &n));
  if (dtype < 0 || dtype >= TC_DTYPE_COUNT)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dtype': no tc element type");
  c->out[0] = (tc__type){.dtype = (tc_dtype)dtype, .rank = (int)n};
  for (size_t i = 0; i < n; i++)
    c->out[0].shape[i] = shape[i];
  if (c->info->kind == TC_OP_iota && n > 0) {
    int64_t dim;
    return tc__infer_dim(c, "dim", (int64_t)n, &dim);
  }
  return TC_OK;
}

// ---- indexing
// ---------------------------------------------------------------------------------------------------------------------------------

tc_status tc__infer_one_hot(tc__infer *c) {
  int64_t classes = tc__attrs_int(c->attrs, "classes", 0);
  if (classes < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'classes': expected >= 1, found %lld", (long long)classes);
  if (c->in[0].rank == TC_MAX_RANK)
    return tc__infer_fail(c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", TC_MAX_RANK + 1, TC_MAX_RANK);
  c->out[0] = c->in[0];
  c->out[0].dtype = TC_I64;
  c->out[0].shape[c->out[0].rank++] = classes;
  return TC_OK;
}

tc_status tc__infer_embedding(tc__infer *c) {
  TC_TRY(tc__infer_rank_is(c, 0, 2));
  if (c->in[1].rank == TC_MAX_RANK)
    return tc__infer_fail(c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", TC_MAX_RANK + 1, TC_MAX_RANK);
  c->out[0] = c->in[1];
  c->out[0].dtype = c->in[0].dtype;
  c->out[0].shape[c->out[0].rank++] = c->in[0].shape[1];
  return TC_OK;
}

// index has x's rank and is no larger than x, dim aside.
static tc_status check_index(tc__infer *c, int64_t dim) {
  const tc__type *x = &c->in[0], *index = &c->in[1];
  TC_TRY(tc__infer_rank_is(c, 1, x->rank));
  bool empty = tc__type_elements(index) == 0;
  for (int i = 0; i < x->rank && !empty; i++)
    if (i != dim && x->shape[i] != TC__DYNAMIC && index->shape[i] > x->shape[i])
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size <= %lld at dim %d, found %lld", tc__infer_operand(c, 1),
                            (long long)x->shape[i], i, (long long)index->shape[i]);
  return TC_OK;
}

tc_status tc__infer_gather(tc__infer *c) {
  int64_t dim = 0;
  if (c->in[0].rank > 0)
    TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  TC_TRY(check_index(c, dim));
  c->out[0] = c->in[1];
  c->out[0].dtype = c->in[0].dtype;
  return TC_OK;
}

tc_status tc__infer_index_select(tc__infer *c) {
  int64_t dim;
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  TC_TRY(tc__infer_rank_is(c, 1, 1));
  c->out[0] = c->in[0];
  c->out[0].shape[dim] = c->in[1].shape[0];
  return TC_OK;
}

// The type that tc.index reads with the index tensors from operand `first` on.
static tc_status indexed_type(tc__infer *c, size_t first, tc__type *out) {
  const tc__type *x = &c->in[0];
  size_t n = c->n - first, n_dims;
  const int64_t *dims;
  TC_TRY(tc__infer_ints(c, "dims", (int64_t)n, 0, TC_MAX_RANK, &dims, &n_dims));
  if (n == 0)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "expected at least one index tensor");
  bool indexed[TC_MAX_RANK] = {false}, adjacent = true;
  tc__type common = c->in[first];
  for (size_t i = 0; i < n; i++) {
    if (dims[i] >= x->rank || indexed[dims[i]])
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': expected different dims in [0, %d), found %lld",
                            x->rank, (long long)dims[i]);
    if (i && dims[i] < dims[i - 1])
      return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'dims': expected rising dims");
    indexed[dims[i]] = true;
    adjacent &= i == 0 || dims[i] == dims[i - 1] + 1;
    if (i)
      TC_TRY(tc__infer_broadcast_into(c, &common, &c->in[first + i], first + i));
  }
  if (x->rank - (int)n + common.rank > TC_MAX_RANK)
    return tc__infer_fail(c, TC_ERR_UNSUPPORTED, "the result would have rank %d: at most %d", x->rank - (int)n + common.rank,
                          TC_MAX_RANK);
  *out = (tc__type){.dtype = x->dtype};
  if (!adjacent)
    for (int i = 0; i < common.rank; i++)
      out->shape[out->rank++] = common.shape[i];
  for (int i = 0; i < x->rank; i++) {
    if (adjacent && i == dims[0])
      for (int k = 0; k < common.rank; k++)
        out->shape[out->rank++] = common.shape[k];
    if (!indexed[i])
      out->shape[out->rank++] = x->shape[i];
  }
  return TC_OK;
}

tc_status tc__infer_index(tc__infer *c) { return indexed_type(c, 1, &c->out[0]); }

tc_status tc__infer_index_put(tc__infer *c) {
  tc__type read;
  TC_TRY(indexed_type(c, 2, &read));
  if (c->in[1].dtype != c->in[0].dtype)
    return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, 1),
                          tc_dtype_name(c->in[0].dtype), tc_dtype_name(c->in[1].dtype));
  tc__type both = read;
  TC_TRY(tc__infer_broadcast_into(c, &both, &c->in[1], 1));
  for (int i = 0; i < both.rank; i++)
    if (both.rank != read.rank || (read.shape[i] != TC__DYNAMIC && both.shape[i] != read.shape[i])) {
      char want[160], got[160];
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: shape %s does not broadcast to %s", tc__infer_operand(c, 1),
                            tc__type_format(&c->in[1], got, sizeof got), tc__type_format(&read, want, sizeof want));
    }
  c->out[0] = c->in[0];
  return TC_OK;
}

tc_status tc__infer_scatter(tc__infer *c) {
  static const char *const modes[] = {"none", "add", "mul", "amin", "amax", "mean"};
  const char *mode = tc__attrs_str(c->attrs, "reduce", "none");
  bool known = false;
  for (size_t i = 0; i < TC_COUNTOF(modes); i++)
    known |= strcmp(mode, modes[i]) == 0;
  if (!known)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT,
                          "attribute 'reduce': expected none, add, mul, amin, amax or mean, found \"%s\"", mode);
  int64_t dim = 0;
  if (c->in[0].rank > 0)
    TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  TC_TRY(check_index(c, dim));
  if (c->in[2].dtype != c->in[0].dtype)
    return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, 2),
                          tc_dtype_name(c->in[0].dtype), tc_dtype_name(c->in[2].dtype));
  bool empty = tc__type_elements(&c->in[1]) == 0;
  if (c->in[2].rank > 0 && !empty) {
    TC_TRY(tc__infer_rank_is(c, 2, c->in[1].rank));
    for (int i = 0; i < c->in[1].rank; i++)
      if (c->in[2].shape[i] != TC__DYNAMIC && c->in[1].shape[i] > c->in[2].shape[i])
        return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size >= %lld at dim %d, found %lld",
                              tc__infer_operand(c, 2), (long long)c->in[1].shape[i], i, (long long)c->in[2].shape[i]);
  }
  c->out[0] = c->in[0];
  return TC_OK;
}

tc_status tc__infer_index_add(tc__infer *c) {
  int64_t dim;
  TC_TRY(tc__infer_dim(c, "dim", c->in[0].rank, &dim));
  TC_TRY(tc__infer_rank_is(c, 1, 1));
  TC_TRY(tc__infer_rank_is(c, 2, c->in[0].rank));
  if (c->in[2].dtype != c->in[0].dtype)
    return tc__infer_fail(c, TC_ERR_DTYPE_MISMATCH, "%s: expected %s, found %s", tc__infer_operand(c, 2),
                          tc_dtype_name(c->in[0].dtype), tc_dtype_name(c->in[2].dtype));
  for (int i = 0; i < c->in[0].rank; i++) {
    int64_t want = i == dim ? c->in[1].shape[0] : c->in[0].shape[i];
    if (!tc__infer_unify(&want, c->in[2].shape[i]))
      return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size %lld at dim %d, found %lld", tc__infer_operand(c, 2),
                            (long long)want, i, (long long)c->in[2].shape[i]);
  }
  c->out[0] = c->in[0];
  return TC_OK;
}

tc_status tc__infer_searchsorted(tc__infer *c) {
  TC_TRY(tc__infer_rank_at_least(c, 0, 1));
  TC_TRY(tc__infer_same_dtype(c, 0));
  if (c->in[0].rank > 1) {
    TC_TRY(tc__infer_rank_is(c, 1, c->in[0].rank));
    for (int i = 0; i + 1 < c->in[0].rank; i++) {
      int64_t want = c->in[0].shape[i];
      if (!tc__infer_unify(&want, c->in[1].shape[i]))
        return tc__infer_fail(c, TC_ERR_SHAPE_MISMATCH, "%s: expected size %lld at dim %d, found %lld", tc__infer_operand(c, 1),
                              (long long)want, i, (long long)c->in[1].shape[i]);
    }
  }
  c->out[0] = c->in[1];
  c->out[0].dtype = TC_I64;
  return TC_OK;
}

tc_status tc__infer_histc(tc__infer *c) {
  int64_t bins = tc__attrs_int(c->attrs, "bins", 100);
  if (bins < 1)
    return tc__infer_fail(c, TC_ERR_INVALID_ARGUMENT, "attribute 'bins': expected >= 1, found %lld", (long long)bins);
  c->out[0] = (tc__type){.dtype = c->in[0].dtype, .rank = 1, .shape = {bins}};
  return TC_OK;
}
