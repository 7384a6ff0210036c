// How operands and attributes of each op family are chosen.
#include "random_graph.h"

#include <math.h>

typedef struct attr_list {
  gen *g;
  MlirNamedAttribute items[8];
  size_t n;
} attr_list;

static void put(attr_list *a, const char *name, MlirAttribute value) { a->items[a->n++] = tc__named(a->g->ctx, name, value); }
static void put_int(attr_list *a, const char *name, int64_t v) { put(a, name, tc__attr_i64(a->g->ctx, v)); }
static void put_float(attr_list *a, const char *name, double v) { put(a, name, tc__attr_f64(a->g->ctx, v)); }
static void put_bool(attr_list *a, const char *name, bool v) { put(a, name, tc__attr_bool(a->g->ctx, v)); }
static void put_ints(attr_list *a, const char *name, const int64_t *v, int n) {
  put(a, name, tc__attr_ints(a->g->ctx, v, (size_t)n));
}
static void put_str(attr_list *a, const char *name, const char *v) { put(a, name, tc__attr_str(a->g->ctx, v)); }

static tc__type type_of(const gen *g, size_t v) { return g->values[v].real.type; }
static size_t fresh(gen *g, const tc__type *t) { return gen_index_of(g, gen_fresh(g, t, GEN_ANY, 0, 0)); }
static size_t fresh_indices(gen *g, const tc__type *shape, int64_t low, int64_t high) {
  tc__type t = *shape;
  t.dtype = gen_chance(g, 70) ? TC_I64 : TC_I32;
  return gen_index_of(g, gen_fresh(g, &t, GEN_INDEX, low, high));
}
static tc__type shaped(tc_dtype dtype, int rank, const int64_t *shape) {
  tc__type t = {.dtype = dtype, .rank = rank};
  for (int i = 0; i < rank; i++)
    t.shape[i] = shape[i];
  return t;
}

// A value of dtype whose shape is `shape` or broadcasts with it.
static size_t partner(gen *g, const tc__type *shape, tc_dtype dtype) {
  for (int tries = 0; tries < 10; tries++) {
    size_t at = (size_t)gen_int(g, 0, (int64_t)g->n_values - 1);
    tc__type t = type_of(g, at);
    bool fits = t.dtype == dtype && t.rank <= 6;
    for (int i = 0; fits && i < t.rank && i < shape->rank; i++) {
      int64_t x = t.shape[t.rank - 1 - i], y = shape->shape[shape->rank - 1 - i];
      fits = x == y || x == 1 || y == 1;
    }
    if (fits && t.rank > shape->rank && tc__type_elements(&t) * (tc__type_elements(shape) + 1) > g->max_elements * 16)
      fits = false;
    if (fits)
      return at;
  }
  tc__type t = *shape;
  t.dtype = dtype;
  if (gen_chance(g, 50)) { // fewer dims, some of them 1
    int drop = (int)gen_int(g, 0, t.rank);
    for (int i = drop; i < t.rank; i++)
      t.shape[i - drop] = gen_chance(g, 30) ? 1 : t.shape[i];
    t.rank -= drop;
  }
  return fresh(g, &t);
}

// Some dims, sorted; empty = all.
static int random_dims(gen *g, int rank, int64_t *dims) {
  int n = 0;
  for (int i = 0; i < rank; i++)
    if (gen_chance(g, 45))
      dims[n++] = i;
  return n;
}

static void put_pointwise_attrs(attr_list *a, tc_op_kind kind, const tc__type *x) {
  gen *g = a->g;
  switch (kind) {
  case TC_OP_gelu:
    if (gen_chance(g, 50))
      put_str(a, "approximate", "tanh");
    break;
  case TC_OP_leaky_relu:
    put_float(a, "negative_slope", gen_real(g, -0.5, 0.5));
    break;
  case TC_OP_elu:
    put_float(a, "alpha", gen_real(g, 0.5, 2));
    put_float(a, "scale", gen_real(g, 0.5, 2));
    put_float(a, "input_scale", gen_real(g, 0.5, 2));
    break;
  case TC_OP_softplus:
    put_float(a, "beta", gen_real(g, 0.5, 3));
    break;
  case TC_OP_clamp: {
    bool is_float = tc_dtype_is_float(x->dtype);
    int64_t low = gen_int(g, x->dtype == TC_U8 ? 0 : -3, 2);
    bool min = gen_chance(g, 70);
    if (min)
      put(a, "min", is_float ? tc__attr_f64(g->ctx, (double)low) : tc__attr_i64(g->ctx, low));
    if (!min || gen_chance(g, 70))
      put(a, "max", is_float ? tc__attr_f64(g->ctx, (double)low + 2.5) : tc__attr_i64(g->ctx, low + 3));
    break;
  }
  case TC_OP_cast:
    put(a, "dtype", tc__attr_dtype(g->ctx, (tc_dtype)gen_int(g, 0, TC_DTYPE_COUNT - 1)));
    break;
  default:
    break;
  }
}

static bool pointwise(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  size_t operands[3];
  if (info->kind == TC_OP_where) {
    operands[1] = gen_pick(g, "any", 0, 5);
    tc__type t = type_of(g, operands[1]);
    operands[0] = partner(g, &t, TC_BOOL);
    operands[2] = partner(g, &t, t.dtype);
    // The three must also fit one another.
    tc__type fits[3] = {type_of(g, operands[0]), t, type_of(g, operands[2])}, out[2];
    size_t n;
    char err[256];
    if (tc__op_infer(info->kind, fits, 3, NULL, out, &n, err, sizeof err) != TC_OK)
      return false;
    return gen_op(g, info->kind, operands, 3, NULL, 0);
  }
  operands[0] = gen_pick(g, info->operands[0].cls, 0, 6);
  tc__type t = type_of(g, operands[0]);
  if (info->n_operands == 2) {
    operands[1] = partner(g, &t, t.dtype);
    if (gen_chance(g, 30)) {
      size_t swap = operands[0];
      operands[0] = operands[1];
      operands[1] = swap;
    }
  }
  put_pointwise_attrs(&a, info->kind, &t);
  return gen_op(g, info->kind, operands, (size_t)info->n_operands, a.items, a.n);
}

static bool reduction(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  bool arg = info->kind == TC_OP_argmax || info->kind == TC_OP_argmin;
  size_t x = gen_pick(g, info->operands[0].cls, arg ? 1 : 0, 6);
  tc__type t = type_of(g, x);
  if (tc__type_elements(&t) == 0 && (arg || info->kind == TC_OP_amax || info->kind == TC_OP_amin))
    return false;
  if (arg) {
    put_int(&a, "dim", gen_int(g, 0, t.rank - 1));
  } else {
    int64_t dims[TC_MAX_RANK];
    int n = random_dims(g, t.rank, dims);
    put_ints(&a, "dims", dims, n);
  }
  if (gen_chance(g, 50))
    put_bool(&a, "keepdim", gen_chance(g, 70));
  if (info->kind == TC_OP_var)
    put_float(&a, "correction", gen_chance(g, 50) ? 1 : 0);
  static const double ps[] = {2, 1, 3, INFINITY, -INFINITY, 0, 2.5};
  if (info->kind == TC_OP_norm)
    put_float(&a, "p", ps[gen_int(g, 0, 6)]);
  return gen_op(g, info->kind, &x, 1, a.items, a.n);
}

static bool scan_or_sort(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  size_t x = gen_pick(g, info->operands[0].cls, 1, 5);
  tc__type t = type_of(g, x);
  int64_t dim = gen_int(g, 0, t.rank - 1);
  put_int(&a, "dim", dim);
  if (info->kind == TC_OP_topk) {
    put_int(&a, "k", gen_int(g, 0, t.shape[dim]));
    put_bool(&a, "largest", gen_chance(g, 50));
  }
  if (info->kind == TC_OP_sort)
    put_bool(&a, "descending", gen_chance(g, 50));
  if (t.shape[dim] == 0)
    return false;
  return gen_op(g, info->kind, &x, 1, a.items, a.n);
}

// ---- shape
// ------------------------------------------------------------------------------------------------------------------------------

static void put_reshape(attr_list *a, const tc__type *t) {
  gen *g = a->g;
  int64_t total = tc__type_elements(t), shape[6];
  int rank = (int)gen_int(g, 1, 5);
  for (int i = 0; i < rank - 1; i++) {
    int64_t s = gen_int(g, 1, 8);
    shape[i] = total && total % s == 0 ? s : 1;
    total /= total ? shape[i] : 1;
  }
  shape[rank - 1] = total;
  if (total && gen_chance(g, 40))
    shape[gen_int(g, 0, rank - 1)] = -1;
  put_ints(a, "shape", shape, rank);
}

static void put_permutation(attr_list *a, int rank) {
  int64_t dims[TC_MAX_RANK];
  for (int i = 0; i < rank; i++)
    dims[i] = i;
  for (int i = rank - 1; i > 0; i--) {
    int k = (int)gen_int(a->g, 0, i);
    int64_t swap = dims[i];
    dims[i] = dims[k];
    dims[k] = swap;
  }
  put_ints(a, "dims", dims, rank);
}

static bool put_pad(attr_list *a, const tc__type *t) {
  static const char *const modes[] = {"constant", "constant", "constant", "reflect", "replicate", "circular"};
  gen *g = a->g;
  const char *mode = modes[gen_int(g, 0, 5)];
  int64_t low[TC_MAX_RANK], high[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++) {
    bool constant = strcmp(mode, "constant") == 0, touched = gen_chance(g, 50);
    int64_t most = constant                        ? 3
                   : strcmp(mode, "reflect") == 0  ? t->shape[i] - 1
                   : strcmp(mode, "circular") == 0 ? t->shape[i]
                                                   : 3;
    most = most > 4 ? 4 : most;
    if (!constant && t->shape[i] == 0)
      return false;
    low[i] = touched ? gen_int(g, constant && t->shape[i] > 2 ? -1 : 0, most) : 0;
    high[i] = touched ? gen_int(g, constant && t->shape[i] > 2 ? -1 : 0, most) : 0;
  }
  put_ints(a, "low", low, t->rank);
  put_ints(a, "high", high, t->rank);
  put_str(a, "mode", mode);
  if (tc_dtype_is_float(t->dtype))
    put_float(a, "value", (double)gen_int(g, -2, 2) * 0.5);
  else
    put_int(a, "value", gen_int(g, 0, 1));
  return true;
}

static bool concat(gen *g) {
  attr_list a = {.g = g};
  size_t xs[4], n = (size_t)gen_int(g, 1, 4);
  xs[0] = gen_pick(g, "any", 1, 5);
  tc__type t = type_of(g, xs[0]);
  int64_t dim = gen_int(g, 0, t.rank - 1);
  for (size_t i = 1; i < n; i++) {
    xs[i] = xs[0];
    for (int tries = 0; tries < 8; tries++) {
      size_t at = (size_t)gen_int(g, 0, (int64_t)g->n_values - 1);
      tc__type other = type_of(g, at);
      other.shape[dim] = t.shape[dim];
      if (tc__type_equal(&other, &t))
        xs[i] = at;
    }
    if (xs[i] == xs[0] && gen_chance(g, 60)) {
      tc__type other = t;
      other.shape[dim] = gen_int(g, 0, 5);
      xs[i] = fresh(g, &other);
    }
  }
  put_int(&a, "dim", dim);
  return gen_op(g, TC_OP_concat, xs, n, a.items, a.n);
}

static bool shape_op(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  if (info->kind == TC_OP_concat)
    return concat(g);
  bool matrix = info->kind == TC_OP_diagonal || info->kind == TC_OP_tril || info->kind == TC_OP_triu;
  bool any_rank =
      info->kind == TC_OP_reshape || info->kind == TC_OP_unsqueeze || info->kind == TC_OP_broadcast || info->kind == TC_OP_repeat;
  size_t x = gen_pick(g, "any", matrix ? 2 : any_rank ? 0 : 1, 5);
  tc__type t = type_of(g, x);
  int64_t dims[TC_MAX_RANK], dim = t.rank ? gen_int(g, 0, t.rank - 1) : 0, size = t.rank ? t.shape[dim] : 0;
  switch (info->kind) {
  case TC_OP_reshape:
    put_reshape(&a, &t);
    break;
  case TC_OP_unsqueeze:
    put_int(&a, "dim", gen_int(g, 0, t.rank));
    break;
  case TC_OP_squeeze:
  case TC_OP_flip:
    put_ints(&a, "dims", dims, random_dims(g, t.rank, dims));
    break;
  case TC_OP_permute:
    put_permutation(&a, t.rank);
    break;
  case TC_OP_broadcast: {
    int extra = (int)gen_int(g, 0, t.rank < 4 ? 2 : 0);
    for (int i = 0; i < extra + t.rank; i++)
      dims[i] = i < extra                                      ? gen_int(g, 1, 4)
                : t.shape[i - extra] == 1 && gen_chance(g, 70) ? gen_int(g, 1, 6)
                : gen_chance(g, 50)                            ? -1
                                                               : t.shape[i - extra];
    put_ints(&a, "shape", dims, extra + t.rank);
    break;
  }
  case TC_OP_slice: {
    int64_t start = gen_int(g, 0, size), end = gen_int(g, start, size);
    put_int(&a, "dim", dim);
    if (end == start)
      end = size;
    put_int(&a, "start", gen_chance(g, 20) && start ? start - size : start);
    if (gen_chance(g, 60))
      put_int(&a, "end", end);
    put_int(&a, "step", gen_chance(g, 60) ? 1 : gen_int(g, 1, 4));
    break;
  }
  case TC_OP_select:
    if (size == 0)
      return false;
    put_int(&a, "dim", dim);
    put_int(&a, "index", gen_int(g, -size, size - 1));
    break;
  case TC_OP_pad:
    if (!put_pad(&a, &t))
      return false;
    break;
  case TC_OP_roll: {
    int64_t shift[2] = {gen_int(g, -7, 7), gen_int(g, -7, 7)}, at[2] = {dim, (dim + 1) % t.rank};
    int n = t.rank > 1 ? (int)gen_int(g, 1, 2) : 1;
    put_ints(&a, "shifts", shift, n);
    put_ints(&a, "dims", at, n);
    break;
  }
  case TC_OP_repeat: {
    int extra = t.rank < 4 ? (int)gen_int(g, 0, 1) : 0;
    for (int i = 0; i < t.rank + extra; i++)
      dims[i] = gen_int(g, 1, 3);
    put_ints(&a, "repeats", dims, t.rank + extra);
    break;
  }
  case TC_OP_unfold:
    put_int(&a, "dim", dim);
    put_int(&a, "size", gen_int(g, size ? 1 : 0, size < 5 ? size : 5));
    put_int(&a, "step", gen_int(g, 1, 3));
    break;
  case TC_OP_diagonal: {
    int64_t other = (dim + gen_int(g, 1, t.rank - 1)) % t.rank;
    put_int(&a, "dim1", dim);
    put_int(&a, "dim2", other);
    put_int(&a, "offset", gen_int(g, -2, 2));
    break;
  }
  default: // tril, triu
    put_int(&a, "diagonal", gen_int(g, -3, 3));
    break;
  }
  return gen_op(g, info->kind, &x, 1, a.items, a.n);
}

// ---- creation and indexing
// ------------------------------------------------------------------------------------------------------------------

static bool create(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  tc__type t = gen_random_type(g, "any", 0, 4);
  bool is_float = tc_dtype_is_float(t.dtype);
  if (info->kind == TC_OP_constant) {
    int64_t n = tc__type_elements(&t);
    int64_t ints[64];
    if (n == 0 || n > 64)
      return false;
    t.dtype = TC_I64;
    for (int64_t i = 0; i < n; i++)
      ints[i] = gen_int(g, -9, 9);
    put(&a, "value", mlirDenseElementsAttrInt64Get(tc__type_to_mlir(g->ctx, &t), (intptr_t)n, ints));
    return gen_op(g, info->kind, NULL, 0, a.items, a.n);
  }
  put_ints(&a, "shape", t.shape, t.rank);
  put(&a, "dtype", tc__attr_dtype(g->ctx, t.dtype));
  if (info->kind == TC_OP_full) {
    put(&a, "value", is_float ? tc__attr_f64(g->ctx, gen_real(g, -2, 2)) : tc__attr_i64(g->ctx, gen_int(g, 0, 1)));
  } else {
    if (t.dtype == TC_BOOL)
      return false;
    put_int(&a, "dim", t.rank ? gen_int(g, 0, t.rank - 1) : 0);
    put_int(&a, "start", gen_int(g, 0, 3));
    put_int(&a, "step", gen_int(g, 1, 2));
  }
  return gen_op(g, info->kind, NULL, 0, a.items, a.n);
}

// Shapes of at most 3 dims and few elements, for index tensors.
static tc__type index_shape(gen *g, int min_rank) {
  tc__type t = {.dtype = TC_I64, .rank = (int)gen_int(g, min_rank, 2)};
  for (int i = 0; i < t.rank; i++)
    t.shape[i] = gen_int(g, 1, 6);
  return t;
}

static bool advanced_index(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  bool put_values = info->kind == TC_OP_index_put;
  size_t operands[8], n = 0;
  operands[n++] = gen_pick(g, put_values ? "num" : "any", 1, 4);
  tc__type x = type_of(g, operands[0]);
  int64_t dims[TC_MAX_RANK];
  int n_dims = random_dims(g, x.rank, dims);
  if (n_dims == 0)
    dims[n_dims++] = 0;
  if (tc__type_elements(&x) == 0)
    return false;
  tc__type index = index_shape(g, 0), read[2] = {{0}, {0}};
  if (put_values)
    operands[n++] = 0; // below, when its shape is known
  for (int i = 0; i < n_dims; i++) {
    tc__type t = index;
    if (t.rank && gen_chance(g, 20))
      t.shape[0] = 1;
    int64_t size = x.shape[dims[i]];
    t.dtype = TC_I64;
    operands[n++] = gen_index_of(g, gen_fresh(g, &t, GEN_INDEX, gen_chance(g, 50) ? -size : 0, size - 1));
  }
  put_ints(&a, "dims", dims, n_dims);
  if (put_values) {
    tc__type types[8];
    char err[256];
    size_t n_results;
    tc__attr dims_attr = {.name = "dims", .kind = TC__ATTR_INTS, .ints = dims, .count = (size_t)n_dims};
    types[0] = x;
    for (size_t i = 2; i < n; i++)
      types[i - 1] = type_of(g, operands[i]);
    if (tc__op_infer(TC_OP_index, types, n - 1, &(tc__attrs){&dims_attr, 1}, read, &n_results, err, sizeof err) != TC_OK)
      return false;
    if (gen_chance(g, 40))
      read[0].rank = 0;
    operands[1] = fresh(g, &read[0]);
    put_bool(&a, "accumulate", gen_chance(g, 50));
  }
  return gen_op(g, info->kind, operands, n, a.items, a.n);
}

static bool indexing(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  size_t operands[3];
  tc__type t, index;
  int64_t dim;
  switch (info->kind) {
  case TC_OP_index:
  case TC_OP_index_put:
    return advanced_index(g, info);
  case TC_OP_one_hot: {
    int64_t classes = gen_int(g, 1, 6);
    index = index_shape(g, 0);
    operands[0] = fresh_indices(g, &index, 0, classes - 1);
    put_int(&a, "classes", classes);
    return gen_op(g, info->kind, operands, 1, a.items, a.n);
  }
  case TC_OP_embedding:
    operands[0] = gen_pick(g, "any", 2, 2);
    t = type_of(g, operands[0]);
    if (t.shape[0] == 0)
      return false;
    index = index_shape(g, 0);
    operands[1] = fresh_indices(g, &index, 0, t.shape[0] - 1);
    return gen_op(g, info->kind, operands, 2, NULL, 0);
  case TC_OP_gather:
  case TC_OP_scatter:
    operands[0] = gen_pick(g, info->kind == TC_OP_gather ? "any" : "num", 1, 4);
    index = t = type_of(g, operands[0]);
    dim = gen_int(g, 0, t.rank - 1);
    if (tc__type_elements(&t) == 0)
      return false;
    for (int i = 0; i < t.rank; i++)
      index.shape[i] = i == dim && info->kind == TC_OP_gather ? gen_int(g, 1, 6) : gen_int(g, 1, t.shape[i]);
    index.dtype = TC_I64;
    operands[1] = gen_index_of(g, gen_fresh(g, &index, GEN_INDEX, 0, t.shape[dim] - 1));
    put_int(&a, "dim", dim);
    if (info->kind == TC_OP_gather)
      return gen_op(g, info->kind, operands, 2, a.items, a.n);
    static const char *const modes[] = {"none", "add", "mul", "amin", "amax", "mean"};
    index.dtype = t.dtype;
    operands[2] = fresh(g, &index);
    put_str(&a, "reduce", modes[gen_int(g, 0, 5)]);
    put_bool(&a, "include_self", gen_chance(g, 70));
    return gen_op(g, info->kind, operands, 3, a.items, a.n);
  case TC_OP_index_select:
  case TC_OP_index_add:
    operands[0] = gen_pick(g, info->kind == TC_OP_index_add ? "num" : "any", 1, 4);
    t = type_of(g, operands[0]);
    dim = gen_int(g, 0, t.rank - 1);
    if (t.shape[dim] == 0)
      return false;
    index = (tc__type){.dtype = TC_I64, .rank = 1, .shape = {gen_int(g, 1, 6)}};
    operands[1] = fresh_indices(g, &index, 0, t.shape[dim] - 1);
    put_int(&a, "dim", dim);
    t.shape[dim] = index.shape[0];
    if (info->kind == TC_OP_index_add)
      operands[2] = fresh(g, &t);
    return gen_op(g, info->kind, operands, info->kind == TC_OP_index_add ? 3 : 2, a.items, a.n);
  case TC_OP_masked_scatter: {
    operands[0] = gen_pick(g, "any", 1, 4);
    t = type_of(g, operands[0]);
    tc__type mask = t, source = {.dtype = t.dtype, .rank = 1, .shape = {tc__type_elements(&t)}};
    mask.dtype = TC_BOOL;
    operands[1] = fresh(g, &mask);
    operands[2] = fresh(g, &source);
    return gen_op(g, info->kind, operands, 3, NULL, 0);
  }
  case TC_OP_searchsorted: {
    tc__type sorted = {.dtype = TC_F32, .rank = 1, .shape = {gen_int(g, 1, 20)}};
    bool specials = g->specials;
    g->specials = false;
    operands[0] = gen_index_of(g, gen_fresh(g, &sorted, GEN_SORTED, 0, 0));
    g->specials = specials;
    t = gen_random_type(g, "float", 0, 3);
    t.dtype = TC_F32;
    operands[1] = fresh(g, &t);
    put_bool(&a, "right", gen_chance(g, 50));
    return gen_op(g, info->kind, operands, 2, a.items, a.n);
  }
  default: { // histc
    bool specials = g->specials;
    g->specials = false;
    tc__type data = {.dtype = TC_F32, .rank = 1, .shape = {gen_int(g, 1, 60)}};
    operands[0] = fresh(g, &data);
    g->specials = specials;
    put_int(&a, "bins", gen_int(g, 1, 9));
    if (gen_chance(g, 50)) {
      put_float(&a, "min", -1);
      put_float(&a, "max", 1);
    }
    return gen_op(g, info->kind, operands, 1, a.items, a.n);
  }
  }
}

// ---- contractions, pooling
// -------------------------------------------------------------------------------------------------------------------

static bool matmul(gen *g) {
  attr_list a = {.g = g};
  size_t x = gen_pick(g, gen_chance(g, 85) ? "float" : "num", 2, 4), y;
  tc__type t = type_of(g, x), other = t;
  bool ta = gen_chance(g, 30), tb = gen_chance(g, 30);
  int64_t k = t.shape[t.rank - (ta ? 2 : 1)], n = gen_chance(g, 30) ? gen_int(g, 20, 70) : gen_int(g, 1, 17);
  if (gen_chance(g, 40)) { // no batch, or a batch of ones
    other.rank = 2;
  } else {
    for (int i = 0; i < t.rank - 2; i++)
      other.shape[i] = gen_chance(g, 25) ? 1 : t.shape[i];
  }
  other.shape[other.rank - 2] = tb ? n : k;
  other.shape[other.rank - 1] = tb ? k : n;
  y = fresh(g, &other);
  put_bool(&a, "transpose_a", ta);
  put_bool(&a, "transpose_b", tb);
  return gen_op(g, TC_OP_matmul, (size_t[]){x, y}, 2, a.items, a.n);
}

static bool linear(gen *g) {
  size_t operands[3] = {gen_pick(g, "float", 1, 4)};
  tc__type t = type_of(g, operands[0]);
  int64_t out = gen_int(g, 1, 24);
  tc__type weight = shaped(t.dtype, 2, (int64_t[]){out, t.shape[t.rank - 1]}), bias = shaped(t.dtype, 1, &out);
  operands[1] = fresh(g, &weight);
  bool with_bias = gen_chance(g, 60);
  if (with_bias)
    operands[2] = fresh(g, &bias);
  return gen_op(g, TC_OP_linear, operands, with_bias ? 3 : 2, NULL, 0);
}

static bool convolution(gen *g) {
  attr_list a = {.g = g};
  int spatial = (int)gen_int(g, 1, 3);
  bool transposed = gen_chance(g, 25);
  int64_t groups = gen_chance(g, 30) ? gen_int(g, 2, 4) : 1, in = groups * gen_int(g, 1, 4), out = groups * gen_int(g, 1, 5);
  tc__type x = {.dtype = gen_chance(g, 80) ? TC_F32 : TC_BF16, .rank = spatial + 2, .shape = {gen_int(g, 1, 2), in}};
  if (gen_chance(g, 15))
    groups = out = in; // depthwise
  tc__type w = {.dtype = x.dtype, .rank = x.rank, .shape = {transposed ? in : out, (transposed ? out : in) / groups}};
  int64_t stride[3], padding[6], dilation[3], extra[3];
  for (int i = 0; i < spatial; i++) {
    x.shape[2 + i] = gen_int(g, 5, spatial == 3 ? 7 : 12);
    w.shape[2 + i] = gen_int(g, 1, 3);
    stride[i] = gen_int(g, 1, 3);
    dilation[i] = gen_int(g, 1, 2);
    padding[i] = gen_int(g, 0, 2);
    padding[spatial + i] = gen_int(g, 0, 2);
    extra[i] = transposed && stride[i] > 1 ? gen_int(g, 0, stride[i] - 1) : 0;
    if (transposed) // a result is left
      padding[i] = padding[spatial + i] = gen_int(g, 0, 1);
  }
  put_ints(&a, "stride", stride, spatial);
  put_ints(&a, "padding", padding, !transposed && gen_chance(g, 30) ? 2 * spatial : spatial);
  put_ints(&a, "dilation", dilation, spatial);
  put_bool(&a, "transposed", transposed);
  put_ints(&a, "output_padding", extra, transposed ? spatial : 0);
  put_int(&a, "groups", groups);
  size_t operands[3] = {0}, n = 2;
  for (size_t i = 0; i < g->n_values; i++) // an image from before, when there is one
    if (g->values[i].real.type.dtype == x.dtype && g->values[i].real.type.rank == x.rank &&
        g->values[i].real.type.shape[1] == in) {
      bool large = true;
      for (int d = 0; d < spatial; d++)
        large &= g->values[i].real.type.shape[2 + d] >= 5;
      if (large)
        operands[0] = i + 1;
    }
  operands[0] = operands[0] ? operands[0] - 1 : fresh(g, &x);
  operands[1] = fresh(g, &w);
  tc__type bias = shaped(x.dtype, 1, &out);
  if (gen_chance(g, 60))
    operands[n++] = fresh(g, &bias);
  return gen_op(g, TC_OP_convolution, operands, n, a.items, a.n);
}

static bool pooling(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  bool patches = info->kind == TC_OP_im2col || info->kind == TC_OP_col2im;
  bool adaptive = info->kind == TC_OP_adaptive_avg_pool || info->kind == TC_OP_adaptive_max_pool;
  int spatial = patches ? 2 : (int)gen_int(g, 1, 2);
  tc__type t = {.dtype = gen_chance(g, 80) ? TC_F32 : TC_F16, .rank = spatial + 2, .shape = {gen_int(g, 1, 2), gen_int(g, 1, 4)}};
  int64_t kernel[2], stride[2], padding[2], dilation[2], size[2];
  for (int i = 0; i < spatial; i++) {
    t.shape[2 + i] = gen_int(g, 5, 12);
    size[i] = adaptive ? gen_int(g, 1, 7) : t.shape[2 + i];
    kernel[i] = gen_int(g, 1, 3);
    stride[i] = gen_int(g, 1, 3);
    dilation[i] = gen_int(g, 1, 2);
    padding[i] = gen_int(g, 0, kernel[i] / 2);
  }
  bool average = info->kind == TC_OP_avg_pool;
  if (adaptive) {
    put_ints(&a, "output_size", size, spatial);
  } else {
    put_ints(&a, "kernel", kernel, spatial);
    put_ints(&a, "stride", stride, spatial);
    put_ints(&a, "padding", padding, spatial);
    if (!average)
      put_ints(&a, "dilation", dilation, spatial);
    if (!patches)
      put_bool(&a, "ceil_mode", gen_chance(g, 40));
    if (average) {
      put_bool(&a, "count_include_pad", gen_chance(g, 50));
      if (gen_chance(g, 20))
        put_int(&a, "divisor_override", gen_int(g, 1, 5));
    }
  }
  if (info->kind == TC_OP_col2im) { // the operand is what im2col of an image of that size gives
    int64_t positions = 1;
    for (int i = 0; i < 2; i++)
      positions *= (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    put_ints(&a, "output_size", size, 2);
    t = shaped(t.dtype, 3, (int64_t[]){t.shape[0], t.shape[1] * kernel[0] * kernel[1], positions});
  }
  size_t x = fresh(g, &t);
  return gen_op(g, info->kind, &x, 1, a.items, a.n);
}

static bool resize(gen *g) {
  static const char *const modes[] = {"nearest", "nearest_exact", "linear", "bicubic"};
  attr_list a = {.g = g};
  const char *mode = modes[gen_int(g, 0, 3)];
  bool cubic = strcmp(mode, "bicubic") == 0, smooth = cubic || strcmp(mode, "linear") == 0;
  int spatial = cubic ? 2 : (int)gen_int(g, 1, 2);
  tc__type t = {.dtype = TC_F32, .rank = spatial + 2, .shape = {gen_int(g, 1, 2), gen_int(g, 1, 3)}};
  int64_t size[2];
  for (int i = 0; i < spatial; i++) {
    t.shape[2 + i] = gen_int(g, 2, 9);
    size[i] = gen_int(g, 1, 18);
  }
  put_ints(&a, "size", size, spatial);
  put_str(&a, "mode", mode);
  put_bool(&a, "align_corners", smooth && gen_chance(g, 40));
  put_bool(&a, "antialias", smooth && spatial == 2 && gen_chance(g, 20));
  size_t x = fresh(g, &t);
  return gen_op(g, TC_OP_resize, &x, 1, a.items, a.n);
}

// ---- normalisation, attention
// -------------------------------------------------------------------------------------------------------------------

static bool normalise(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  size_t operands[5], n = 1;
  bool channels = info->kind == TC_OP_batch_norm || info->kind == TC_OP_group_norm;
  operands[0] = gen_pick(g, "float", channels ? 2 : 1, 5);
  tc__type t = type_of(g, operands[0]);
  if (tc__type_elements(&t) == 0)
    return false;
  if (channels) {
    tc__type one = shaped(t.dtype, 1, &t.shape[1]);
    if (info->kind == TC_OP_batch_norm) {
      operands[n++] = fresh(g, &one);
      operands[n++] = gen_index_of(g, gen_fresh(g, &one, GEN_POSITIVE, 0, 0));
    } else {
      int64_t groups = gen_int(g, 1, 4);
      put_int(&a, "groups", t.shape[1] % groups == 0 ? groups : 1);
    }
    if (gen_chance(g, 70)) {
      operands[n++] = fresh(g, &one);
      operands[n++] = fresh(g, &one);
    }
  } else {
    int64_t axes = gen_int(g, 1, t.rank > 2 ? 2 : t.rank);
    tc__type weight = shaped(t.dtype, (int)axes, &t.shape[t.rank - axes]);
    put_int(&a, "axes", axes);
    if (gen_chance(g, 70)) {
      operands[n++] = fresh(g, &weight);
      if (info->kind == TC_OP_layer_norm && gen_chance(g, 80))
        operands[n++] = fresh(g, &weight);
    }
  }
  put_float(&a, "eps", gen_chance(g, 50) ? 1e-5 : 1e-3);
  return gen_op(g, info->kind, operands, n, a.items, a.n);
}

static bool attention(gen *g) {
  attr_list a = {.g = g};
  size_t operands[4], n = 3;
  bool gqa = gen_chance(g, 25);
  int64_t batch = gen_int(g, 1, 2), heads = gqa ? 4 : gen_int(g, 1, 3), l = gen_int(g, 1, 9), s = gen_int(g, 1, 12),
          d = gen_int(g, 1, 16);
  tc_dtype dtype = gen_chance(g, 80) ? TC_F32 : TC_BF16;
  tc__type q = shaped(dtype, 4, (int64_t[]){batch, heads, l, d}), k = shaped(dtype, 4, (int64_t[]){batch, gqa ? 2 : heads, s, d}),
           v = k;
  v.shape[3] = gen_int(g, 1, 16);
  operands[0] = fresh(g, &q);
  operands[1] = fresh(g, &k);
  operands[2] = fresh(g, &v);
  bool causal = gen_chance(g, 30);
  if (!causal && gen_chance(g, 50)) {
    tc__type mask = shaped(gen_chance(g, 50) ? TC_BOOL : dtype, 2, (int64_t[]){l, s});
    operands[n++] = fresh(g, &mask);
  }
  put_bool(&a, "is_causal", causal);
  put_bool(&a, "enable_gqa", gqa);
  if (gen_chance(g, 40))
    put_float(&a, "scale", gen_real(g, 0.1, 1));
  return gen_op(g, TC_OP_attention, operands, n, a.items, a.n);
}

static bool softmax(gen *g, const tc__op_info *info) {
  attr_list a = {.g = g};
  size_t x = gen_pick(g, "float", 1, 5);
  tc__type t = type_of(g, x);
  put_int(&a, "dim", gen_int(g, 0, t.rank - 1));
  return gen_op(g, info->kind, &x, 1, a.items, a.n);
}

bool gen_random_op(gen *g) {
  // Pointwise, shape and reduction ops are what fusion is about; one in three tries takes any row.
  tc_op_kind kind;
  const tc__op_info *info;
  int bias = (int)gen_int(g, 0, 2);
  do {
    kind = (tc_op_kind)gen_int(g, 0, TC_OP_COUNT - 1);
    info = tc__op_info_get(kind);
  } while ((bias == 1 && !(info->traits & TC_TRAIT_POINTWISE)) ||
           (bias == 2 && info->family != TC_FAMILY_SHAPE && info->family != TC_FAMILY_REDUCE &&
            info->family != TC_FAMILY_BINARY && info->family != TC_FAMILY_CONTRACT && info->family != TC_FAMILY_NORM &&
            info->family != TC_FAMILY_SOFTMAX));
  g->n_tried++;
  switch (info->family) {
  case TC_FAMILY_REDUCE:
    return reduction(g, info);
  case TC_FAMILY_SCAN:
  case TC_FAMILY_SORT:
    return scan_or_sort(g, info);
  case TC_FAMILY_SHAPE:
    return shape_op(g, info);
  case TC_FAMILY_CREATE:
    return create(g, info);
  case TC_FAMILY_INDEX:
    return indexing(g, info);
  case TC_FAMILY_CONTRACT:
    return kind == TC_OP_matmul ? matmul(g) : kind == TC_OP_linear ? linear(g) : convolution(g);
  case TC_FAMILY_POOL:
    return pooling(g, info);
  case TC_FAMILY_RESIZE:
    return resize(g);
  case TC_FAMILY_NORM:
    return normalise(g, info);
  case TC_FAMILY_SOFTMAX:
    return softmax(g, info);
  case TC_FAMILY_ATTENTION:
    return attention(g);
  default:
    return pointwise(g, info);
  }
}
