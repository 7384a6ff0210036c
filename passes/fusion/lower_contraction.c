// matmul and convolution as generics with a mul-add body (docs/kernels.md, section 2), and pooling as window reductions.
#include "lower_tc_to_linalg.h"

#include <math.h>

typedef MlirValue V;

static tc_dtype accumulator(tc_dtype d) { return d == TC_F16 || d == TC_BF16 ? TC_F32 : d; }

static V zero_of(tc__builder *b, tc_dtype d) {
  MlirType t = tc__storage_element(b->ctx, d);
  return tc_dtype_is_float(d) ? tc__const_f(b, t, 0) : tc__const_i(b, t, 0);
}

// The multiply-add body, the fill, and the rounding back to 16 bits. g has its two ins, maps and loops set; out is the result type.
static V contract(tc__lowering *l, tc__generic *g, const tc__type *out, const char *kind) {
  tc_dtype in = l->in_types[0].dtype, acc = accumulator(in);
  tc__type wide = *out;
  wide.dtype = acc;
  g->n_ins = 2;
  g->n_outs = 1;
  g->outs[0] = tc__fill(&l->b, zero_of(&l->b, acc), tc__empty(&l->b, tc__storage_type(l->b.ctx, &wide), NULL, 0));
  tc__builder *b = tc__generic_begin(&l->b, g);
  V x = tc__lower_cast(b, tc__generic_arg(g, 0), in, acc), y = tc__lower_cast(b, tc__generic_arg(g, 1), in, acc), sum = tc__generic_arg(g, 2);
  if (tc_dtype_is_float(acc))
    sum = tc__binary(b, "arith.addf", sum, tc__binary(b, "arith.mulf", x, y));
  else if (acc == TC_BOOL)
    sum = tc__binary(b, "arith.ori", sum, tc__binary(b, "arith.andi", x, y));
  else
    sum = tc__binary(b, "arith.addi", sum, tc__binary(b, "arith.muli", x, y));
  MlirNamedAttribute labels[5];
  size_t n = tc__lower_labels(l, labels);
  labels[n++] = tc__named(l->b.ctx, "tc.contraction", tc__attr_str(l->b.ctx, kind));
  V result = mlirOperationGetResult(tc__generic_end(&l->b, g, &sum, 1, labels, n), 0);
  if (acc == out->dtype)
    return result;
  tc__generic c = {.n_ins = 1, .ins = {result}, .n_outs = 1, .n_loops = (size_t)out->rank};
  c.outs[0] = tc__empty(&l->b, tc__storage_type(l->b.ctx, out), NULL, 0);
  c.in_maps[0] = c.out_maps[0] = tc__identity_map(l->b.ctx, c.n_loops);
  b = tc__generic_begin(&l->b, &c);
  V narrow = tc__lower_cast(b, tc__generic_arg(&c, 0), acc, out->dtype);
  MlirNamedAttribute label = tc__named(l->b.ctx, "tc.op", tc__attr_str(l->b.ctx, "cast"));
  return mlirOperationGetResult(tc__generic_end(&l->b, &c, &narrow, 1, &label, 1), 0);
}

static MlirAffineExpr dim(tc__lowering *l, int d) { return mlirAffineDimExprGet(l->b.ctx, d); }

static bool matmul(tc__lowering *l) {
  const tc__type *a = &l->in_types[0], *b = &l->in_types[1], *y = &l->out_types[0];
  bool ta = tc__attrs_bool(&l->attrs, "transpose_a", false), tb = tc__attrs_bool(&l->attrs, "transpose_b", false);
  int batch = y->rank - 2, m = batch, n = batch + 1, k = batch + 2;
  tc__generic g = {.ins = {l->in[0], l->in[1]}, .n_loops = (size_t)batch + 3};
  g.reduction[k] = true;
  const tc__type *types[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    MlirAffineExpr e[TC_MAX_RANK];
    int lead = types[i]->rank - 2;
    for (int d = 0; d < lead; d++) {
      int at = batch - lead + d;
      e[d] = types[i]->shape[d] == 1 && y->shape[at] != 1 ? mlirAffineConstantExprGet(l->b.ctx, 0) : dim(l, at);
    }
    bool transposed = i ? tb : ta;
    int rows = i ? k : m, columns = i ? n : k;
    e[lead] = dim(l, transposed ? columns : rows);
    e[lead + 1] = dim(l, transposed ? rows : columns);
    g.in_maps[i] = mlirAffineMapGet(l->b.ctx, batch + 3, 0, lead + 2, e);
  }
  MlirAffineExpr e[TC_MAX_RANK];
  for (int d = 0; d < y->rank; d++)
    e[d] = dim(l, d);
  g.out_maps[0] = mlirAffineMapGet(l->b.ctx, batch + 3, 0, y->rank, e);
  l->out[0] = contract(l, &g, y, "matmul");
  return true;
}

// tensor.pad with a scalar.
static V pad(tc__builder *b, V x, MlirType to, const int64_t *low, const int64_t *high, int rank, V value) {
  int64_t small = 0;
  for (int i = 0; i < rank; i++)
    small |= low[i] | high[i];
  if (small == 0)
    return x;
  MlirType types[TC_MAX_RANK];
  MlirLocation locs[TC_MAX_RANK];
  for (int i = 0; i < rank; i++) {
    types[i] = mlirIndexTypeGet(b->ctx);
    locs[i] = b->loc;
  }
  MlirBlock block = mlirBlockCreate(rank, types, locs);
  tc__builder body = tc__builder_at_end(block, b->loc);
  tc__build(&body, "tensor.yield", &value, 1, NULL, 0, NULL, 0, NULL, 0);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  int32_t segments[3] = {1, 0, 0};
  MlirNamedAttribute attrs[3] = {tc__named(b->ctx, "static_low", tc__attr_ints(b->ctx, low, (size_t)rank)),
                                 tc__named(b->ctx, "static_high", tc__attr_ints(b->ctx, high, (size_t)rank)),
                                 tc__named(b->ctx, "operandSegmentSizes", mlirDenseI32ArrayGet(b->ctx, 3, segments))};
  return mlirOperationGetResult(tc__build(b, "tensor.pad", &x, 1, &to, 1, attrs, 3, &region, 1), 0);
}

static bool convolution(tc__lowering *l) {
  if (tc__attrs_bool(&l->attrs, "transposed", false))
    return false;
  const tc__type *x = &l->in_types[0], *w = &l->in_types[1], *y = &l->out_types[0];
  int spatial = x->rank - 2;
  size_t n, n_padding;
  const int64_t *stride = tc__attrs_ints(&l->attrs, "stride", &n), *dilation = tc__attrs_ints(&l->attrs, "dilation", &n);
  const int64_t *padding = tc__attrs_ints(&l->attrs, "padding", &n_padding);
  int64_t groups = tc__attrs_int(&l->attrs, "groups", 1), low[5] = {0}, high[5] = {0};
  bool grouped = groups > 1;
  tc__type padded = *x;
  for (int i = 0; i < spatial; i++) {
    low[2 + i] = padding[i];
    high[2 + i] = n_padding == (size_t)spatial ? padding[i] : padding[spatial + i];
    padded.shape[2 + i] += low[2 + i] + high[2 + i];
  }
  V px = pad(&l->b, l->in[0], tc__storage_type(l->b.ctx, &padded), low, high, x->rank, zero_of(&l->b, x->dtype));
  V pw = l->in[1];
  tc__type ty = *y;
  if (grouped) { // [N, C, ..] -> [N, G, C/G, ..], [O, C/G, ..] -> [G, O/G, C/G, ..]
    tc__type tx = {.dtype = x->dtype, .rank = x->rank + 1}, tw = {.dtype = w->dtype, .rank = w->rank + 1};
    ty.rank++;
    for (int d = x->rank; d > 2; d--) {
      tx.shape[d] = padded.shape[d - 1];
      ty.shape[d] = y->shape[d - 1];
    }
    tx.shape[0] = x->shape[0];
    tx.shape[1] = ty.shape[1] = groups;
    tx.shape[2] = x->shape[1] / groups;
    ty.shape[2] = y->shape[1] / groups;
    tw.shape[0] = groups;
    tw.shape[1] = w->shape[0] / groups;
    for (int d = 2; d < tw.rank; d++)
      tw.shape[d] = w->shape[d - 1];
    px = tc__lower_reshape(&l->b, px, tc__storage_type(l->b.ctx, &tx));
    pw = tc__lower_reshape(&l->b, pw, tc__storage_type(l->b.ctx, &tw));
  }
  // Loops: n, g?, o, spatial outputs, then c, window.
  int g_at = 1, o = grouped ? 2 : 1, out0 = o + 1, c = out0 + spatial, k0 = c + 1, loops = k0 + spatial;
  tc__generic gen = {.ins = {px, pw}, .n_loops = (size_t)loops};
  for (int i = c; i < loops; i++)
    gen.reduction[i] = true;
  MlirAffineExpr ex[TC_MAX_RANK], ew[TC_MAX_RANK], ey[TC_MAX_RANK];
  int nx = 0, nw = 0, ny = 0;
  ex[nx++] = ey[ny++] = dim(l, 0);
  if (grouped)
    ex[nx++] = ew[nw++] = ey[ny++] = dim(l, g_at);
  ex[nx++] = dim(l, c);
  ew[nw++] = dim(l, o);
  ew[nw++] = dim(l, c);
  ey[ny++] = dim(l, o);
  for (int i = 0; i < spatial; i++) {
    ex[nx++] = mlirAffineAddExprGet(tc__expr_mul(dim(l, out0 + i), stride[i]), tc__expr_mul(dim(l, k0 + i), dilation[i]));
    ew[nw++] = dim(l, k0 + i);
    ey[ny++] = dim(l, out0 + i);
  }
  gen.in_maps[0] = mlirAffineMapGet(l->b.ctx, loops, 0, nx, ex);
  gen.in_maps[1] = mlirAffineMapGet(l->b.ctx, loops, 0, nw, ew);
  gen.out_maps[0] = mlirAffineMapGet(l->b.ctx, loops, 0, ny, ey);
  V result = contract(l, &gen, &ty, "convolution");
  if (grouped)
    result = tc__lower_reshape(&l->b, result, tc__storage_type(l->b.ctx, y));
  if (l->n > 2) { // + bias[o]
    MlirAffineExpr channel = dim(l, 1);
    tc__generic a = {.n_ins = 2, .ins = {result, l->in[2]}, .n_outs = 1, .n_loops = (size_t)y->rank};
    a.in_maps[0] = a.out_maps[0] = tc__identity_map(l->b.ctx, a.n_loops);
    a.in_maps[1] = mlirAffineMapGet(l->b.ctx, y->rank, 0, 1, &channel);
    a.outs[0] = tc__empty(&l->b, tc__storage_type(l->b.ctx, y), NULL, 0);
    tc__builder *b = tc__generic_begin(&l->b, &a);
    V args[2] = {tc__generic_arg(&a, 0), tc__generic_arg(&a, 1)};
    static const tc__attrs none = {NULL, 0};
    V sum = tc__lower_scalar(b, TC_OP_add, args, 2, y->dtype, y->dtype, &none);
    int64_t size = tc__type_bytes(y);
    MlirNamedAttribute labels[3] = {tc__named(l->b.ctx, "tc.op", tc__attr_str(l->b.ctx, "bias")),
                                    tc__named(l->b.ctx, "tc.bytes_read", tc__attr_i64(l->b.ctx, size)),
                                    tc__named(l->b.ctx, "tc.bytes_written", tc__attr_i64(l->b.ctx, size))};
    result = mlirOperationGetResult(tc__generic_end(&l->b, &a, &sum, 1, labels, 3), 0);
  }
  l->out[0] = result;
  return true;
}

bool tc__lower_contraction(tc__lowering *l) {
  for (size_t i = 0; i < l->n; i++)
    if (!tc__type_is_static(&l->in_types[i]) || tc__type_elements(&l->in_types[i]) == 0)
      return false;
  if (!tc__type_is_static(&l->out_types[0]) || tc__type_elements(&l->out_types[0]) == 0)
    return false;
  return l->kind == TC_OP_matmul ? matmul(l) : l->kind == TC_OP_convolution ? convolution(l) : false;
}

// ---- pooling --------------------------------------------------------------------------------------------------------------------------------------

typedef struct pooling {
  int spatial;
  int64_t kernel[3], stride[3], dilation[3], low[TC_MAX_RANK], high[TC_MAX_RANK];
} pooling;

// The window reduction over (padded) x: loops are y's dims, then the window's.
static V window_reduce(tc__lowering *l, const pooling *p, const char *combine, V init) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  int lead = x->rank - p->spatial;
  tc_dtype acc = accumulator(x->dtype);
  tc__type padded = *x, wide = *y;
  wide.dtype = acc;
  for (int d = 0; d < x->rank; d++)
    padded.shape[d] += p->low[d] + p->high[d];
  V pad_value = init;
  if (acc != x->dtype) { // a constant of its own: nothing computes scalars in the host function
    MlirAttribute value = mlirOperationGetAttributeByName(tc__def_op(init), tc__sref("value"));
    pad_value = tc__const_f(&l->b, tc__storage_element(l->b.ctx, x->dtype), mlirFloatAttrGetValueDouble(value));
  }
  V px = pad(&l->b, l->in[0], tc__storage_type(l->b.ctx, &padded), p->low, p->high, x->rank, pad_value);
  tc__type window = {.dtype = acc, .rank = p->spatial};
  for (int i = 0; i < p->spatial; i++)
    window.shape[i] = p->kernel[i];
  // linalg needs an operand that gives the window's loops their sizes; its elements are not read.
  tc__generic g = {.n_ins = 2, .ins = {px, tc__empty(&l->b, tc__storage_type(l->b.ctx, &window), NULL, 0)}, .n_outs = 1};
  g.n_loops = (size_t)(y->rank + p->spatial);
  MlirAffineExpr ex[TC_MAX_RANK], ew[3], ey[TC_MAX_RANK];
  for (int d = 0; d < y->rank; d++) {
    ey[d] = ex[d] = dim(l, d);
    if (d >= lead) {
      int i = d - lead;
      ex[d] = mlirAffineAddExprGet(tc__expr_mul(dim(l, d), p->stride[i]), tc__expr_mul(dim(l, y->rank + i), p->dilation[i]));
      ew[i] = dim(l, y->rank + i);
      g.reduction[y->rank + i] = true;
    }
  }
  g.in_maps[0] = mlirAffineMapGet(l->b.ctx, (intptr_t)g.n_loops, 0, x->rank, ex);
  g.in_maps[1] = mlirAffineMapGet(l->b.ctx, (intptr_t)g.n_loops, 0, p->spatial, ew);
  g.out_maps[0] = mlirAffineMapGet(l->b.ctx, (intptr_t)g.n_loops, 0, y->rank, ey);
  g.outs[0] = tc__fill(&l->b, init, tc__empty(&l->b, tc__storage_type(l->b.ctx, &wide), NULL, 0));
  tc__builder *b = tc__generic_begin(&l->b, &g);
  V value = tc__lower_cast(b, tc__generic_arg(&g, 0), x->dtype, acc);
  value = tc__binary(b, combine, tc__generic_arg(&g, 2), value);
  MlirNamedAttribute labels[4];
  size_t n = tc__lower_labels(l, labels);
  return mlirOperationGetResult(tc__generic_end(&l->b, &g, &value, 1, labels, n), 0);
}

static bool read_pooling(tc__lowering *l, pooling *p) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  size_t n, m;
  const int64_t *kernel = tc__attrs_ints(&l->attrs, "kernel", &n), *stride = tc__attrs_ints(&l->attrs, "stride", &m);
  const int64_t *padding = tc__attrs_ints(&l->attrs, "padding", &m), *dilation = tc__attrs_ints(&l->attrs, "dilation", &m);
  p->spatial = (int)n;
  for (int i = 0; i < p->spatial; i++) {
    int d = x->rank - p->spatial + i;
    p->kernel[i] = kernel[i];
    p->stride[i] = stride[i];
    p->dilation[i] = m ? dilation[i] : 1;
    p->low[d] = padding[i];
    // ceil_mode reaches past the padding; without it the last window may end before.
    int64_t reach = (y->shape[d] - 1) * p->stride[i] + p->dilation[i] * (p->kernel[i] - 1) + 1 - x->shape[d] - padding[i];
    p->high[d] = reach > padding[i] ? reach : padding[i];
  }
  return true;
}

static V divide_by(tc__builder *b, V x, double divisor) { return tc__binary(b, "arith.divf", x, tc__const_f(b, mlirValueGetType(x), divisor)); }

// min(start + kernel, limit) - max(start, 0), for output position d of the result: how much of a window counts.
static V window_extent(tc__builder *b, int d, int64_t stride, int64_t padding, int64_t kernel, int64_t low_limit, int64_t high_limit) {
  MlirType index = mlirIndexTypeGet(b->ctx);
  MlirNamedAttribute attr = tc__named(b->ctx, "dim", tc__attr_i64(b->ctx, d));
  V at = tc__build1(b, "linalg.index", NULL, 0, index, &attr, 1);
  V start = tc__binary(b, "arith.subi", tc__binary(b, "arith.muli", at, tc__const_i(b, index, stride)), tc__const_i(b, index, padding));
  V end = tc__binary(b, "arith.addi", start, tc__const_i(b, index, kernel));
  V high = tc__binary(b, "arith.minsi", end, tc__const_i(b, index, high_limit));
  V low = tc__binary(b, "arith.maxsi", start, tc__const_i(b, index, low_limit));
  return tc__binary(b, "arith.subi", high, low);
}

static V average(tc__lowering *l, const pooling *p, V sum, double divisor, bool include_pad) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  tc_dtype acc = accumulator(x->dtype);
  int lead = x->rank - p->spatial;
  tc__generic g = {.n_ins = 1, .ins = {sum}, .n_outs = 1, .n_loops = (size_t)y->rank};
  g.in_maps[0] = g.out_maps[0] = tc__identity_map(l->b.ctx, g.n_loops);
  g.outs[0] = tc__empty(&l->b, tc__storage_type(l->b.ctx, y), NULL, 0);
  tc__builder *b = tc__generic_begin(&l->b, &g);
  V value = tc__generic_arg(&g, 0);
  if (divisor > 0) {
    value = divide_by(b, value, divisor);
  } else {
    V count = {NULL};
    for (int i = 0; i < p->spatial; i++) {
      int64_t size = x->shape[lead + i], padding = p->low[lead + i];
      V extent = include_pad ? window_extent(b, lead + i, p->stride[i], padding, p->kernel[i], INT32_MIN, size + padding)
                             : window_extent(b, lead + i, p->stride[i], padding, p->kernel[i], 0, size);
      count = mlirValueIsNull(count) ? extent : tc__binary(b, "arith.muli", count, extent);
    }
    V n = tc__convert(b, "arith.index_cast", count, mlirIntegerTypeGet(b->ctx, 64));
    value = tc__binary(b, "arith.divf", value, tc__convert(b, "arith.sitofp", n, mlirValueGetType(value)));
  }
  value = tc__lower_cast(b, value, acc, y->dtype);
  MlirNamedAttribute label = tc__named(l->b.ctx, "tc.op", tc__attr_str(l->b.ctx, "div"));
  return mlirOperationGetResult(tc__generic_end(&l->b, &g, &value, 1, &label, 1), 0);
}

bool tc__lower_pool(tc__lowering *l) {
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  if (!tc__type_is_static(x) || tc__type_elements(x) == 0 || tc__type_elements(y) == 0)
    return false;
  pooling p = {0};
  bool is_float = tc_dtype_is_float(x->dtype), half = x->dtype == TC_F16 || x->dtype == TC_BF16;
  if (l->kind == TC_OP_max_pool && is_float && !half) {
    read_pooling(l, &p);
    V lowest = tc__const_f(&l->b, tc__storage_element(l->b.ctx, x->dtype), -INFINITY);
    l->out[0] = window_reduce(l, &p, "arith.maximumf", lowest);
    return true;
  }
  if (l->kind == TC_OP_avg_pool) {
    read_pooling(l, &p);
    int64_t override = tc__attrs_int(&l->attrs, "divisor_override", 0);
    bool include_pad = tc__attrs_bool(&l->attrs, "count_include_pad", true), ceil_mode = tc__attrs_bool(&l->attrs, "ceil_mode", false);
    double divisor = (double)override;
    bool padded = false;
    for (int d = 0; d < x->rank; d++)
      padded |= p.low[d] > 0;
    if (override == 0 && (include_pad || !padded) && !ceil_mode) {
      divisor = 1;
      for (int i = 0; i < p.spatial; i++)
        divisor *= (double)p.kernel[i];
    }
    V sum = window_reduce(l, &p, "arith.addf", zero_of(&l->b, accumulator(x->dtype)));
    l->out[0] = average(l, &p, sum, divisor, include_pad);
    return true;
  }
  if (l->kind == TC_OP_adaptive_avg_pool) { // windows of one size when the sizes divide
    size_t n;
    const int64_t *size = tc__attrs_ints(&l->attrs, "output_size", &n);
    double divisor = 1;
    p.spatial = (int)n;
    for (int i = 0; i < p.spatial; i++) {
      int64_t in = x->shape[x->rank - p.spatial + i];
      if (size[i] == 0 || in % size[i])
        return false;
      p.kernel[i] = p.stride[i] = in / size[i];
      p.dilation[i] = 1;
      divisor *= (double)p.kernel[i];
    }
    V sum = window_reduce(l, &p, "arith.addf", zero_of(&l->b, accumulator(x->dtype)));
    l->out[0] = average(l, &p, sum, divisor, true);
    return true;
  }
  return false;
}
