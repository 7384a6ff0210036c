// Reductions as generics with reduction loops over a filled init. f16 and bf16 accumulate in f32, bool and integers in i64 (sum, prod).
#include "lower_tc_to_linalg.h"

#include <math.h>

typedef MlirValue V;

static V lowest(tc__builder *b, tc_dtype d, bool highest) {
  MlirType t = tc__storage_element(b->ctx, d);
  if (tc_dtype_is_float(d))
    return tc__const_f(b, t, highest ? INFINITY : -INFINITY);
  if (d == TC_BOOL)
    return tc__const_i(b, t, highest);
  int bits = (int)tc_dtype_size(d) * 8;
  if (d == TC_U8)
    return tc__const_i(b, t, highest ? -1 : 0);
  return tc__const_i(b, t, highest ? (int64_t)(UINT64_MAX >> (65 - bits)) : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)));
}

static V init_value(tc__builder *b, tc_op_kind kind, tc_dtype acc) {
  MlirType t = tc__storage_element(b->ctx, acc);
  switch (kind) {
  case TC_OP_sum:
    return tc_dtype_is_float(acc) ? tc__const_f(b, t, 0) : tc__const_i(b, t, 0);
  case TC_OP_prod:
    return tc_dtype_is_float(acc) ? tc__const_f(b, t, 1) : tc__const_i(b, t, 1);
  case TC_OP_amax:
    return lowest(b, acc, false);
  case TC_OP_amin:
    return lowest(b, acc, true);
  case TC_OP_any:
    return tc__const_i(b, t, 0);
  default:
    return tc__const_i(b, t, 1);
  }
}

static const char *combiner(tc_op_kind kind, tc_dtype acc) {
  bool f = tc_dtype_is_float(acc), u = acc == TC_U8 || acc == TC_BOOL;
  switch (kind) {
  case TC_OP_sum:
    return f ? "arith.addf" : "arith.addi";
  case TC_OP_prod:
    return f ? "arith.mulf" : "arith.muli";
  case TC_OP_amax:
    return f ? "arith.maximumf" : u ? "arith.maxui" : "arith.maxsi";
  case TC_OP_amin:
    return f ? "arith.minimumf" : u ? "arith.minui" : "arith.minsi";
  case TC_OP_any:
    return "arith.ori";
  default:
    return "arith.andi";
  }
}

bool tc__lower_reduce(tc__lowering *l) {
  switch (l->kind) {
  case TC_OP_sum:
  case TC_OP_prod:
  case TC_OP_amax:
  case TC_OP_amin:
  case TC_OP_any:
  case TC_OP_all:
    break;
  default:
    return false;
  }
  const tc__type *x = &l->in_types[0], *y = &l->out_types[0];
  if (!tc__type_is_static(x) || tc__type_elements(x) == 0)
    return false;
  tc_dtype acc = y->dtype == TC_F16 || y->dtype == TC_BF16 ? TC_F32 : y->dtype;
  size_t n;
  const int64_t *dims = tc__attrs_ints(&l->attrs, "dims", &n);
  bool keep = tc__attrs_bool(&l->attrs, "keepdim", false), reduced[TC_MAX_RANK] = {false};
  for (size_t i = 0; i < n; i++)
    reduced[dims[i]] = true;
  tc__generic g = {.n_ins = 1, .ins = {l->in[0]}, .n_outs = 1, .n_loops = (size_t)x->rank};
  MlirAffineExpr exprs[TC_MAX_RANK];
  tc__type bare = {.dtype = acc}; // the result without kept dims: a plain projection
  for (int i = 0; i < x->rank; i++) {
    g.reduction[i] = n == 0 || reduced[i];
    if (g.reduction[i])
      continue;
    exprs[bare.rank] = mlirAffineDimExprGet(l->b.ctx, i);
    bare.shape[bare.rank++] = x->shape[i];
  }
  MlirValue empty = tc__empty(&l->b, tc__storage_type(l->b.ctx, &bare), NULL, 0);
  g.outs[0] = tc__fill(&l->b, init_value(&l->b, l->kind, acc), empty);
  g.in_maps[0] = tc__identity_map(l->b.ctx, g.n_loops);
  g.out_maps[0] = mlirAffineMapGet(l->b.ctx, x->rank, 0, bare.rank, exprs);
  tc__builder *b = tc__generic_begin(&l->b, &g);
  V value = tc__lower_cast(b, tc__generic_arg(&g, 0), x->dtype, acc);
  value = tc__binary(b, combiner(l->kind, acc), value, tc__generic_arg(&g, 1));
  MlirNamedAttribute labels[4];
  size_t n_labels = tc__lower_labels(l, labels);
  V result = mlirOperationGetResult(tc__generic_end(&l->b, &g, &value, 1, labels, n_labels), 0);
  if (acc != y->dtype) {
    tc__type rounded = bare;
    rounded.dtype = y->dtype;
    tc__generic c = {.n_ins = 1, .ins = {result}, .n_outs = 1, .n_loops = (size_t)bare.rank};
    c.outs[0] = tc__empty(&l->b, tc__storage_type(l->b.ctx, &rounded), NULL, 0);
    c.in_maps[0] = c.out_maps[0] = tc__identity_map(l->b.ctx, c.n_loops);
    b = tc__generic_begin(&l->b, &c);
    V narrow = tc__lower_cast(b, tc__generic_arg(&c, 0), acc, y->dtype);
    MlirNamedAttribute label = tc__named(l->b.ctx, "tc.op", tc__attr_str(l->b.ctx, "cast"));
    result = mlirOperationGetResult(tc__generic_end(&l->b, &c, &narrow, 1, &label, 1), 0);
  }
  l->out[0] = keep ? tc__lower_reshape(&l->b, result, tc__storage_type(l->b.ctx, y)) : result;
  return true;
}
