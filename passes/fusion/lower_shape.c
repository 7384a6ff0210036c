// Shape and creation ops: generics that only yield, reshapes, and generics that compute from their indices.
#include "lower_tc_to_linalg.h"

typedef MlirValue V;

// ---- reshape ------------------------------------------------------------------------------------------------------------------------------------

static MlirAttribute groups_attr(MlirContext ctx, const int *starts, int n_groups, int rank) {
  MlirAttribute groups[TC_MAX_RANK];
  for (int g = 0; g < n_groups; g++) {
    MlirAttribute dims[TC_MAX_RANK];
    int n = 0;
    for (int d = starts[g]; d < (g + 1 < n_groups ? starts[g + 1] : rank); d++)
      dims[n++] = tc__attr_i64(ctx, d);
    groups[g] = mlirArrayAttrGet(ctx, n, dims);
  }
  return mlirArrayAttrGet(ctx, n_groups, groups);
}

static V collapse(tc__builder *b, V x, MlirType to, const int *starts, int n_groups, int rank) {
  MlirNamedAttribute attr = tc__named(b->ctx, "reassociation", groups_attr(b->ctx, starts, n_groups, rank));
  return tc__build1(b, "tensor.collapse_shape", &x, 1, to, &attr, 1);
}

static V expand(tc__builder *b, V x, MlirType to, const int *starts, int n_groups, int rank) {
  int64_t shape[TC_MAX_RANK];
  for (int i = 0; i < rank; i++)
    shape[i] = mlirShapedTypeGetDimSize(to, i);
  MlirNamedAttribute attrs[2] = {tc__named(b->ctx, "reassociation", groups_attr(b->ctx, starts, n_groups, rank)),
                                 tc__named(b->ctx, "static_output_shape", tc__attr_ints(b->ctx, shape, (size_t)rank))};
  return tc__build1(b, "tensor.expand_shape", &x, 1, to, attrs, 2);
}

// Greedy factorisation: groups of wide's dims whose product is narrow's dim. Dims of size 1 at the end join the last group.
static bool match_groups(const int64_t *wide, int wide_rank, const int64_t *narrow, int narrow_rank, int *starts) {
  int w = 0;
  for (int n = 0; n < narrow_rank; n++) {
    starts[n] = w;
    if (w >= wide_rank)
      return false;
    int64_t product = wide[w++];
    while (product < narrow[n] && w < wide_rank)
      product *= wide[w++];
    if (product != narrow[n])
      return false;
    // Ones that follow belong here, unless the next narrow dim is 1 and needs one.
    int ones_needed = 0;
    for (int k = n + 1; k < narrow_rank && narrow[k] == 1; k++)
      ones_needed++;
    int ones = 0;
    for (int k = w; k < wide_rank && wide[k] == 1; k++)
      ones++;
    if (n + 1 < narrow_rank)
      while (ones > ones_needed) {
        w++;
        ones--;
      }
    else
      w = w + ones == wide_rank ? wide_rank : w;
  }
  return w == wide_rank;
}

V tc__lower_reshape(tc__builder *b, V x, MlirType to) {
  MlirType from = mlirValueGetType(x);
  if (mlirTypeEqual(from, to))
    return x;
  int n = (int)mlirShapedTypeGetRank(from), m = (int)mlirShapedTypeGetRank(to), starts[TC_MAX_RANK];
  int64_t a[TC_MAX_RANK], c[TC_MAX_RANK], total = 1;
  for (int i = 0; i < n; i++)
    total *= a[i] = mlirShapedTypeGetDimSize(from, i);
  for (int i = 0; i < m; i++)
    c[i] = mlirShapedTypeGetDimSize(to, i);
  if (m == 0)
    return collapse(b, x, to, starts, 0, n);
  if (n == 0)
    return expand(b, x, to, starts, 0, m);
  if (n > m && match_groups(a, n, c, m, starts))
    return collapse(b, x, to, starts, m, n);
  if (n < m && match_groups(c, m, a, n, starts))
    return expand(b, x, to, starts, n, m);
  // By way of one dim.
  MlirType flat = mlirRankedTensorTypeGet(1, &total, mlirShapedTypeGetElementType(from), mlirAttributeGetNull());
  starts[0] = 0;
  V y = n == 1 ? x : collapse(b, x, flat, starts, 1, n);
  return m == 1 ? y : expand(b, y, to, starts, 1, m);
}

static bool reshape(tc__lowering *l) {
  if (!tc__type_is_static(&l->in_types[0]) || !tc__type_is_static(&l->out_types[0]) || tc__type_elements(&l->in_types[0]) == 0)
    return false;
  l->out[0] = tc__lower_reshape(&l->b, l->in[0], tc__storage_type(l->b.ctx, &l->out_types[0]));
  return true;
}

// ---- maps -----------------------------------------------------------------------------------------------------------------------------------------

static MlirAffineExpr dim(tc__lowering *l, int i) { return mlirAffineDimExprGet(l->b.ctx, i); }

static bool view(tc__lowering *l, MlirAffineExpr *exprs) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  if (!tc__type_is_static(x) || !tc__type_is_static(y))
    return false;
  // linalg takes a plain dim for the operand's whole size: the head of a larger dim is read at d mod size.
  for (int i = 0; i < x->rank; i++)
    if (mlirAffineExprIsADim(exprs[i]) && y->shape[mlirAffineDimExprGetPosition(exprs[i])] != x->shape[i])
      exprs[i] = mlirAffineModExprGet(exprs[i], mlirAffineConstantExprGet(l->b.ctx, x->shape[i]));
  l->out[0] = tc__lower_view(l, l->in[0], mlirAffineMapGet(l->b.ctx, y->rank, 0, x->rank, exprs), y);
  return true;
}

static bool mapped(tc__lowering *l) {
  MlirAffineExpr e[TC_MAX_RANK];
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  size_t n;
  const int64_t *dims = tc__attrs_ints(&l->attrs, "dims", &n);
  int64_t d = tc__attrs_int(&l->attrs, "dim", 0);
  if (!tc__type_is_static(x) || !tc__type_is_static(y) || tc__type_elements(y) == 0)
    return false;
  switch (l->kind) {
  case TC_OP_permute:
    for (int i = 0; i < y->rank; i++)
      e[dims[i]] = dim(l, i);
    return view(l, e);
  case TC_OP_broadcast:
    for (int i = 0; i < x->rank; i++) {
      int at = y->rank - x->rank + i;
      e[i] = x->shape[i] == 1 && y->shape[at] != 1 ? mlirAffineConstantExprGet(l->b.ctx, 0) : dim(l, at);
    }
    return view(l, e);
  case TC_OP_slice: {
    int64_t start = tc__attrs_int(&l->attrs, "start", 0), size = x->shape[d];
    start = start < 0 ? start + size : start;
    start = start < 0 ? 0 : start;
    for (int i = 0; i < x->rank; i++)
      e[i] = i == d ? tc__expr_add(tc__expr_mul(dim(l, i), tc__attrs_int(&l->attrs, "step", 1)), start) : dim(l, i);
    // linalg wants a plain dim to be as large as the operand's; "mod" its size says the same of a shorter loop (docs/kernels.md).
    if (mlirAffineExprIsADim(e[d]) && y->shape[d] != size)
      e[d] = mlirAffineModExprGet(e[d], mlirAffineConstantExprGet(l->b.ctx, size));
    return view(l, e);
  }
  case TC_OP_select: {
    int64_t index = tc__attrs_int(&l->attrs, "index", 0);
    index = index < 0 ? index + x->shape[d] : index;
    for (int i = 0; i < x->rank; i++)
      e[i] = i == d ? mlirAffineConstantExprGet(l->b.ctx, index) : dim(l, i < d ? i : i - 1);
    return view(l, e);
  }
  case TC_OP_flip:
    for (int i = 0; i < x->rank; i++)
      e[i] = dim(l, i);
    for (size_t i = 0; i < n; i++)
      e[dims[i]] = tc__expr_add(tc__expr_mul(dim(l, (int)dims[i]), -1), x->shape[dims[i]] - 1);
    return view(l, e);
  case TC_OP_unfold: {
    int64_t step = tc__attrs_int(&l->attrs, "step", 1);
    for (int i = 0; i < x->rank; i++)
      e[i] = i == d ? mlirAffineAddExprGet(tc__expr_mul(dim(l, i), step), dim(l, y->rank - 1)) : dim(l, i);
    return view(l, e);
  }
  case TC_OP_diagonal: {
    int64_t d1 = tc__attrs_int(&l->attrs, "dim1", 0), d2 = tc__attrs_int(&l->attrs, "dim2", 1), offset = tc__attrs_int(&l->attrs, "offset", 0);
    int at = 0;
    for (int i = 0; i < x->rank; i++)
      e[i] = i == d1 ? tc__expr_add(dim(l, y->rank - 1), offset < 0 ? -offset : 0)
             : i == d2 ? tc__expr_add(dim(l, y->rank - 1), offset > 0 ? offset : 0)
                       : dim(l, at++);
    return view(l, e);
  }
  default:
    return false;
  }
}

// ---- computed from indices ---------------------------------------------------------------------------------------------------------------------

static V index_of(tc__builder *b, int d) {
  MlirNamedAttribute attr = tc__named(b->ctx, "dim", tc__attr_i64(b->ctx, d));
  return tc__build1(b, "linalg.index", NULL, 0, mlirIndexTypeGet(b->ctx), &attr, 1);
}

static V index_const(tc__builder *b, int64_t v) { return tc__const_i(b, mlirIndexTypeGet(b->ctx), v); }

static V scalar_constant(tc__builder *b, tc_dtype dtype, const tc__attrs *attrs, const char *name) {
  MlirType t = tc__storage_element(b->ctx, dtype);
  if (tc_dtype_is_float(dtype))
    return tc__const_f(b, t, tc__attrs_float(attrs, name, 0));
  if (dtype == TC_BOOL)
    return tc__const_i(b, t, tc__attrs_float(attrs, name, 0) != 0);
  return tc__const_i(b, t, tc__attrs_int(attrs, name, 0));
}

// No operands: the body computes from the indices. One operand x: read where the body says, by tensor.extract.
static tc__builder *begin(tc__lowering *l, tc__generic *g) {
  *g = (tc__generic){.n_outs = 1, .n_loops = (size_t)l->out_types[0].rank};
  g->outs[0] = tc__lower_empty(l, &l->out_types[0]);
  g->out_maps[0] = tc__identity_map(l->b.ctx, g->n_loops);
  return tc__generic_begin(&l->b, g);
}

static bool finish(tc__lowering *l, tc__generic *g, V y) {
  MlirNamedAttribute labels[4];
  size_t n = tc__lower_labels(l, labels);
  l->out[0] = mlirOperationGetResult(tc__generic_end(&l->b, g, &y, 1, labels, n), 0);
  return true;
}

static V extract(tc__lowering *l, tc__builder *b, V x, const V *indices, int n) {
  V operands[TC_MAX_RANK + 1] = {x};
  for (int i = 0; i < n; i++)
    operands[i + 1] = indices[i];
  (void)l;
  return tc__build1(b, "tensor.extract", operands, (size_t)n + 1, mlirShapedTypeGetElementType(mlirValueGetType(x)), NULL, 0);
}

static bool create(tc__lowering *l) {
  tc__generic g;
  tc_dtype dtype = l->out_types[0].dtype;
  tc__builder *b = begin(l, &g);
  if (l->kind == TC_OP_full)
    return finish(l, &g, scalar_constant(b, dtype, &l->attrs, "value"));
  // iota: exact in i64, or in f64 for float steps
  const tc__attr *start = tc__attrs_find(&l->attrs, "start"), *step = tc__attrs_find(&l->attrs, "step");
  bool real = tc_dtype_is_float(dtype) && ((start && start->kind == TC__ATTR_FLOAT && start->f != (double)(int64_t)start->f) ||
                                           (step && step->kind == TC__ATTR_FLOAT && step->f != (double)(int64_t)step->f));
  MlirType i64 = mlirIntegerTypeGet(b->ctx, 64), f64 = mlirF64TypeGet(b->ctx);
  V zero = tc__const_i(b, i64, 0);
  V i = l->out_types[0].rank ? tc__convert(b, "arith.index_cast", index_of(b, (int)tc__attrs_int(&l->attrs, "dim", 0)), i64) : zero;
  if (real) {
    V x = tc__binary(b, "arith.mulf", tc__convert(b, "arith.sitofp", i, f64), tc__const_f(b, f64, tc__attrs_float(&l->attrs, "step", 1)));
    x = tc__binary(b, "arith.addf", x, tc__const_f(b, f64, tc__attrs_float(&l->attrs, "start", 0)));
    return finish(l, &g, tc__lower_cast(b, x, TC_F64, dtype));
  }
  V x = tc__binary(b, "arith.muli", i, tc__const_i(b, i64, tc__attrs_int(&l->attrs, "step", 1)));
  x = tc__binary(b, "arith.addi", x, tc__const_i(b, i64, tc__attrs_int(&l->attrs, "start", 0)));
  return finish(l, &g, tc__lower_cast(b, x, TC_I64, dtype));
}

static bool triangle(tc__lowering *l) {
  const tc__type *y = &l->out_types[0];
  tc__generic g = {.n_ins = 1, .ins = {l->in[0]}, .n_outs = 1, .n_loops = (size_t)y->rank};
  g.outs[0] = tc__lower_empty(l, y);
  g.in_maps[0] = g.out_maps[0] = tc__identity_map(l->b.ctx, g.n_loops);
  tc__builder *b = tc__generic_begin(&l->b, &g);
  V row = index_of(b, y->rank - 2), column = index_of(b, y->rank - 1);
  V limit = tc__binary(b, "arith.addi", row, index_const(b, tc__attrs_int(&l->attrs, "diagonal", 0)));
  V keep = tc__cmpi(b, l->kind == TC_OP_tril ? TC__CMPI_SLE : TC__CMPI_SGE, column, limit);
  MlirType t = tc__storage_element(b->ctx, y->dtype);
  V zero = tc_dtype_is_float(y->dtype) ? tc__const_f(b, t, 0) : tc__const_i(b, t, 0);
  return finish(l, &g, tc__select(b, keep, tc__generic_arg(&g, 0), zero));
}

static V clamp_index(tc__builder *b, V i, int64_t size) {
  return tc__binary(b, "arith.minsi", tc__binary(b, "arith.maxsi", i, index_const(b, 0)), index_const(b, size - 1));
}

// The position in x of padded position i, for the modes that stay inside.
static V wrap(tc__builder *b, V i, int64_t low, int64_t size, const char *mode) {
  i = tc__binary(b, "arith.subi", i, index_const(b, low));
  V zero = index_const(b, 0), last = index_const(b, size - 1), n = index_const(b, size);
  if (strcmp(mode, "replicate") == 0)
    return clamp_index(b, i, size);
  if (strcmp(mode, "reflect") == 0) {
    V negative = tc__cmpi(b, TC__CMPI_SLT, i, zero), over = tc__cmpi(b, TC__CMPI_SGT, i, last);
    V mirrored = tc__binary(b, "arith.subi", index_const(b, 2 * (size - 1)), i);
    return tc__select(b, negative, tc__binary(b, "arith.subi", zero, i), tc__select(b, over, mirrored, i));
  }
  V negative = tc__cmpi(b, TC__CMPI_SLT, i, zero), over = tc__cmpi(b, TC__CMPI_SGE, i, n);
  return tc__select(b, negative, tc__binary(b, "arith.addi", i, n), tc__select(b, over, tc__binary(b, "arith.subi", i, n), i));
}

static bool pad(tc__lowering *l) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  if (!tc__type_is_static(x) || tc__type_elements(x) <= 0 || tc__type_elements(y) <= 0)
    return false;
  size_t n;
  const int64_t *low = tc__attrs_ints(&l->attrs, "low", &n);
  const char *mode = tc__attrs_str(&l->attrs, "mode", "constant");
  bool constant = strcmp(mode, "constant") == 0;
  tc__generic g;
  tc__builder *b = begin(l, &g);
  V indices[TC_MAX_RANK], inside = {NULL};
  for (int d = 0; d < x->rank; d++) {
    V i = index_of(b, d);
    indices[d] = i;
    if (low[d] == 0 && x->shape[d] == y->shape[d])
      continue;
    if (!constant) {
      indices[d] = wrap(b, i, low[d], x->shape[d], mode);
      continue;
    }
    V at = tc__binary(b, "arith.subi", i, index_const(b, low[d]));
    V fits = tc__cmpi(b, TC__CMPI_ULT, at, index_const(b, x->shape[d])); // a negative one is huge
    inside = mlirValueIsNull(inside) ? fits : tc__binary(b, "arith.andi", inside, fits);
    indices[d] = clamp_index(b, at, x->shape[d]);
  }
  V value = extract(l, b, l->in[0], indices, x->rank);
  if (!mlirValueIsNull(inside))
    value = tc__select(b, inside, value, scalar_constant(b, y->dtype, &l->attrs, "value"));
  return finish(l, &g, value);
}

static bool roll_or_repeat(tc__lowering *l) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  if (!tc__type_is_static(x) || tc__type_elements(x) <= 0 || tc__type_elements(y) <= 0)
    return false;
  tc__generic g;
  tc__builder *b = begin(l, &g);
  V indices[TC_MAX_RANK];
  int lead = y->rank - x->rank;
  for (int d = 0; d < x->rank; d++) {
    indices[d] = index_of(b, d + lead);
    if (l->kind == TC_OP_repeat && y->shape[d + lead] != x->shape[d])
      indices[d] = tc__binary(b, "arith.remui", indices[d], index_const(b, x->shape[d]));
  }
  if (l->kind == TC_OP_roll) {
    size_t n, m;
    const int64_t *dims = tc__attrs_ints(&l->attrs, "dims", &n), *shifts = tc__attrs_ints(&l->attrs, "shifts", &m);
    for (size_t i = 0; i < n; i++) {
      int64_t size = x->shape[dims[i]], back = ((-(shifts[i] % size)) % size + size) % size;
      V at = tc__binary(b, "arith.addi", indices[dims[i]], index_const(b, back)), over = tc__cmpi(b, TC__CMPI_SGE, at, index_const(b, size));
      indices[dims[i]] = tc__select(b, over, tc__binary(b, "arith.subi", at, index_const(b, size)), at);
    }
  }
  return finish(l, &g, extract(l, b, l->in[0], indices, x->rank));
}

bool tc__lower_shape(tc__lowering *l) {
  switch (l->kind) {
  case TC_OP_reshape:
  case TC_OP_unsqueeze:
  case TC_OP_squeeze:
    return reshape(l);
  case TC_OP_full:
  case TC_OP_iota:
    return tc__type_is_static(&l->out_types[0]) && tc__type_elements(&l->out_types[0]) > 0 && create(l);
  case TC_OP_tril:
  case TC_OP_triu:
    return triangle(l);
  case TC_OP_pad:
    return pad(l);
  case TC_OP_roll:
  case TC_OP_repeat:
    return roll_or_repeat(l);
  default:
    return mapped(l);
  }
}
