// convert-tc-to-linalg: tc ops to linalg, tensor and arith on tensors.
//
//   %0 = "tc.add"(%x, %y) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// becomes
//   %e = tensor.empty() : tensor<4x8xf32>
//   %0 = linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d1), (d0, d1) -> (d0, d1)], tc.op = "add", ...}
//          ins(%x, %y) outs(%e) { ^bb0(%a, %b, %o): %s = arith.addf %a, %b  linalg.yield %s }
//
// Ops without a lowering stay as they are: they run as steps of the interpreter. docs/kernels.md says what the result looks like.
#include "lower_tc_to_linalg.h"

#include "pass.h"

MlirType tc__storage_element(MlirContext ctx, tc_dtype dtype) { return tc__dtype_to_mlir(ctx, dtype == TC_U8 ? TC_I8 : dtype); }

MlirType tc__storage_type(MlirContext ctx, const tc__type *t) {
  tc__type storage = *t;
  if (storage.dtype == TC_U8)
    storage.dtype = TC_I8;
  return tc__type_to_mlir(ctx, &storage);
}

MlirAffineMap tc__broadcast_map(MlirContext ctx, const tc__type *operand, const tc__type *out) {
  MlirAffineExpr exprs[TC_MAX_RANK];
  for (int i = 0; i < operand->rank; i++) {
    int d = out->rank - operand->rank + i;
    bool repeated = operand->shape[i] == 1 && out->shape[d] != 1;
    exprs[i] = repeated ? mlirAffineConstantExprGet(ctx, 0) : mlirAffineDimExprGet(ctx, d);
  }
  return mlirAffineMapGet(ctx, out->rank, 0, operand->rank, exprs);
}

MlirValue tc__lower_empty(tc__lowering *l, const tc__type *type) {
  MlirValue sizes[TC_MAX_RANK];
  size_t n = 0;
  for (int d = 0; d < type->rank; d++) {
    if (type->shape[d] != TC__DYNAMIC)
      continue;
    for (size_t i = 0; i < l->n; i++) { // an operand with that dim, not repeated
      int at = d - (type->rank - l->in_types[i].rank);
      if (at < 0 || l->in_types[i].shape[at] != TC__DYNAMIC)
        continue;
      MlirType index = mlirIndexTypeGet(l->b.ctx);
      MlirValue operands[2] = {l->in[i], tc__const_i(&l->b, index, at)};
      sizes[n++] = tc__build1(&l->b, "tensor.dim", operands, 2, index, NULL, 0);
      break;
    }
  }
  return tc__empty(&l->b, tc__storage_type(l->b.ctx, type), sizes, n);
}

size_t tc__lower_labels(tc__lowering *l, MlirNamedAttribute *out) {
  int64_t read = 0, written = 0;
  for (size_t i = 0; i < l->n; i++) {
    int64_t bytes = tc__type_bytes(&l->in_types[i]);
    read += bytes > 0 ? bytes : 0;
  }
  written = tc__type_bytes(&l->out_types[0]);
  out[0] = tc__named(l->b.ctx, "tc.op", tc__attr_str(l->b.ctx, tc__op_info_get(l->kind)->name));
  out[1] = tc__named(l->b.ctx, "tc.bytes_read", tc__attr_i64(l->b.ctx, read));
  out[2] = tc__named(l->b.ctx, "tc.bytes_written", tc__attr_i64(l->b.ctx, written > 0 ? written : 0));
  return 3;
}

MlirValue tc__lower_view(tc__lowering *l, MlirValue x, MlirAffineMap map, const tc__type *out) {
  tc__generic g = {.n_ins = 1, .ins = {x}, .in_maps = {map}, .n_outs = 1, .n_loops = (size_t)out->rank};
  g.outs[0] = tc__empty(&l->b, tc__storage_type(l->b.ctx, out), NULL, 0);
  g.out_maps[0] = tc__identity_map(l->b.ctx, (size_t)out->rank);
  tc__generic_begin(&l->b, &g);
  MlirValue arg = tc__generic_arg(&g, 0);
  MlirNamedAttribute labels[4];
  size_t n = tc__lower_labels(l, labels);
  return mlirOperationGetResult(tc__generic_end(&l->b, &g, &arg, 1, labels, n), 0);
}

// ---- the pass -------------------------------------------------------------------------------------------------------------------------------------

static tc__lower_fn family_lowering(tc_op_family family) {
  switch (family) {
  case TC_FAMILY_UNARY:
  case TC_FAMILY_BINARY:
  case TC_FAMILY_COMPARE:
  case TC_FAMILY_LOGICAL:
  case TC_FAMILY_BITWISE:
  case TC_FAMILY_SELECT:
  case TC_FAMILY_CAST:
    return tc__lower_pointwise;
  case TC_FAMILY_SHAPE:
  case TC_FAMILY_CREATE:
    return tc__lower_shape;
  case TC_FAMILY_REDUCE:
    return tc__lower_reduce;
  case TC_FAMILY_CONTRACT:
    return tc__lower_contraction;
  case TC_FAMILY_POOL:
    return tc__lower_pool;
  default:
    return NULL;
  }
}

static MlirValue bitcast(tc__builder *b, MlirValue x, MlirType to) {
  return mlirTypeEqual(mlirValueGetType(x), to) ? x : tc__build1(b, "tensor.bitcast", &x, 1, to, NULL, 0);
}

static tc_status lower_op(MlirOperation op, void *user) {
  (void)user;
  tc_op_kind kind = tc__op_kind(op);
  if (kind == TC_OP_COUNT)
    return TC_OK;
  const tc__op_info *info = tc__op_info_get(kind);
  tc__lower_fn lower = family_lowering(info->family);
  tc__lowering l = {.b = tc__builder_before(op), .op = op, .kind = kind, .n = (size_t)mlirOperationGetNumOperands(op)};
  if (!lower || l.n > TC_COUNTOF(l.in))
    return TC_OK;
  // Empty tensors make no loops: their ops stay steps of the interpreter.
  for (size_t i = 0; i < l.n; i++)
    if (!tc__type_from_mlir(mlirValueGetType(mlirOperationGetOperand(op, (intptr_t)i)), &l.in_types[i]) || tc__type_elements(&l.in_types[i]) == 0)
      return TC_OK;
  for (int i = 0; i < info->n_results; i++)
    if (!tc__type_from_mlir(mlirValueGetType(mlirOperationGetResult(op, i)), &l.out_types[i]) || tc__type_elements(&l.out_types[i]) == 0)
      return TC_OK;
  tc__op_attrs attrs;
  TC_TRY(tc__op_attrs_read(op, &attrs));
  l.attrs = attrs.attrs;
  // Bitcasts that a refused op leaves behind have no uses; they are erased below.
  MlirOperation casts[72];
  size_t n_casts = 0;
  for (size_t i = 0; i < l.n; i++) {
    MlirValue x = mlirOperationGetOperand(op, (intptr_t)i);
    l.in[i] = bitcast(&l.b, x, tc__storage_type(l.b.ctx, &l.in_types[i]));
    if (!mlirValueEqual(x, l.in[i]))
      casts[n_casts++] = tc__def_op(l.in[i]);
  }
  bool done = lower(&l);
  tc__op_attrs_free(&attrs);
  if (!done) {
    while (n_casts)
      mlirOperationDestroy(casts[--n_casts]);
    return TC_OK;
  }
  MlirValue results[2];
  for (int i = 0; i < info->n_results; i++)
    results[i] = bitcast(&l.b, l.out[i], mlirValueGetType(mlirOperationGetResult(op, i)));
  tc__replace_op(op, results);
  return TC_OK;
}

tc_status tc__pass_convert_tc_to_linalg(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  return tc__walk(module, lower_op, NULL);
}
