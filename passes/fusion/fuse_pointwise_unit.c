// Drops loops of size 1, so that a row statistic of 1x128 and a row of 128x768 meet on the same loops.
//
//   %s = linalg.generic {(d0, d1, d2) -> (d0, d1)} .. -> tensor<1x128xf32>
// becomes
//   %t = linalg.generic {(d0, d1) -> (d0)} .. -> tensor<128xf32>        %s = tensor.expand_shape %t [[0, 1]]
//
// The reshape then folds into the maps of its readers.
#include "fuse_pointwise.h"

enum { MAX_DIMS = 32 };

/// The same init under the squeezed type.
static MlirValue squeeze_out(tc__builder *b, MlirValue out, MlirType to, MlirAttribute groups) {
  MlirOperation def = tc__def_op(out);
  if (!mlirOperationIsNull(def) && tc__op_is(def, "tensor.empty"))
    return tc__build1(b, "tensor.empty", NULL, 0, to, NULL, 0);
  if (!mlirOperationIsNull(def) && tc__op_is(def, "linalg.fill")) {
    MlirValue empty = tc__build1(b, "tensor.empty", NULL, 0, to, NULL, 0);
    MlirOperation fill = mlirOperationClone(def);
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, fill);
    mlirOperationSetOperand(fill, 1, empty);
    mlirValueSetType(mlirOperationGetResult(fill, 0), to);
    return mlirOperationGetResult(fill, 0);
  }
  MlirNamedAttribute attr = tc__named(b->ctx, "reassociation", groups);
  return tc__build1(b, "tensor.collapse_shape", &out, 1, to, &attr, 1);
}

/// Groups that join each dropped dim to a kept neighbour; no groups at all when none is kept.
static MlirAttribute squeeze_groups(MlirContext ctx, const bool *dropped, intptr_t rank) {
  MlirAttribute groups[MAX_DIMS], dims[MAX_DIMS];
  intptr_t n = 0, m = 0;
  bool has_kept = false;
  for (intptr_t d = 0; d < rank; d++) {
    if (!dropped[d] && has_kept) { // a second kept dim opens a group
      groups[n++] = mlirArrayAttrGet(ctx, m, dims);
      m = 0;
    }
    has_kept |= !dropped[d];
    dims[m++] = tc__attr_i64(ctx, d);
  }
  if (has_kept)
    groups[n++] = mlirArrayAttrGet(ctx, m, dims);
  return mlirArrayAttrGet(ctx, n, groups);
}

tc_status tc__fuse_drop_unit_loops(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op), n_loops = tc__gen_loops(op);
  bool unit[MAX_DIMS] = {false}, any = false;
  if (n_loops > MAX_DIMS)
    return TC_OK;
  for (intptr_t i = n_in; i < n; i++) { // every result names its dims plainly and statically
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i));
    MlirAffineMap map = tc__gen_map(op, i);
    if (!mlirShapedTypeHasStaticShape(t) || !mlirAffineMapIsProjectedPermutation(map))
      return TC_OK;
    for (intptr_t r = 0, rank = mlirAffineMapGetNumResults(map); r < rank; r++)
      if (mlirShapedTypeGetDimSize(t, r) == 1)
        unit[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, r))] = any = true;
  }
  // A reduction over one element combines it with the init.
  for (intptr_t l = 0; l < n_loops; l++)
    if (!unit[l] && !tc__gen_is_parallel(op, l) && tc__gen_loop_size(op, l) == 1)
      unit[l] = any = true;
  if (!any)
    return TC_OK;
  MlirContext ctx = mlirOperationGetContext(op);
  MlirAffineExpr loops[MAX_DIMS];
  uint64_t reductions = 0;
  intptr_t kept = 0;
  for (intptr_t l = 0; l < n_loops; l++) {
    loops[l] = unit[l] ? mlirAffineConstantExprGet(ctx, 0) : mlirAffineDimExprGet(ctx, kept);
    if (!unit[l])
      reductions |= (uint64_t)!tc__gen_is_parallel(op, l) << kept++;
  }
  MlirAffineMap order = mlirAffineMapGet(ctx, kept, 0, n_loops, loops);
  MlirValue *operands = tc__alloc((size_t)n * sizeof *operands);
  MlirAffineMap *maps = tc__alloc((size_t)n * sizeof *maps);
  MlirAttribute *groups = tc__alloc((size_t)n * sizeof *groups);
  tc_status status = operands && maps && groups ? TC_OK : tc__oom();
  tc__builder b = tc__builder_before(op);
  for (intptr_t i = 0; i < n && status == TC_OK; i++) {
    MlirAffineMap map = tc__gen_map(op, i);
    operands[i] = mlirOperationGetOperand(op, i);
    if (i < n_in) {
      maps[i] = n_loops ? tc__map_compose(map, order) : map;
      continue;
    }
    MlirType t = mlirValueGetType(operands[i]);
    MlirAffineExpr exprs[MAX_DIMS];
    int64_t shape[MAX_DIMS];
    bool dropped[MAX_DIMS];
    intptr_t m = 0, rank = mlirShapedTypeGetRank(t);
    for (intptr_t r = 0; r < rank; r++) {
      intptr_t l = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, r));
      dropped[r] = unit[l];
      if (!unit[l])
        exprs[m] = loops[l], shape[m++] = mlirShapedTypeGetDimSize(t, r);
    }
    maps[i] = mlirAffineMapGet(ctx, kept, 0, m, exprs);
    groups[i] = squeeze_groups(ctx, dropped, rank);
    MlirType to = mlirRankedTensorTypeGet(m, shape, mlirShapedTypeGetElementType(t), mlirAttributeGetNull());
    operands[i] = squeeze_out(&b, operands[i], to, groups[i]);
  }
  MlirOperation fresh = {NULL};
  if (status == TC_OK) {
    fresh = tc__gen_remapped(&b, op, order, maps, operands, reductions);
    status = mlirOperationIsNull(fresh) ? TC_ERR_OUT_OF_MEMORY : TC_OK;
  }
  for (intptr_t r = 0; r < n - n_in && status == TC_OK; r++) {
    MlirValue old = mlirOperationGetResult(op, r), v = mlirOperationGetResult(fresh, r);
    MlirType t = mlirValueGetType(old);
    int64_t shape[MAX_DIMS];
    intptr_t rank = mlirShapedTypeGetRank(t);
    for (intptr_t d = 0; d < rank; d++)
      shape[d] = mlirShapedTypeGetDimSize(t, d);
    MlirNamedAttribute attrs[2] = {tc__named(ctx, "reassociation", groups[n_in + r]),
                                   tc__named(ctx, "static_output_shape", tc__attr_ints(ctx, shape, (size_t)rank))};
    mlirValueReplaceAllUsesOfWith(old, tc__build1(&b, "tensor.expand_shape", &v, 1, t, attrs, 2));
  }
  if (status == TC_OK)
    mlirOperationDestroy(op);
  tc__free(operands);
  tc__free(maps);
  tc__free(groups);
  return status;
}
