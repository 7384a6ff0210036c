#include "generic.h"

// Sizes of the loops, from the maps as they are written.
static void bind_sizes(const tc__generic_view *g, int64_t *sizes) {
  for (size_t l = 0; l < g->n_loops; l++)
    sizes[l] = TC__DYNAMIC;
  // Outs first: an input may be larger than what the loops read of it.
  for (size_t k = 0; k < g->n_ins + g->n_outs; k++) {
    size_t i = (k + g->n_ins) % (g->n_ins + g->n_outs);
    MlirType t = mlirValueGetType(mlirOperationGetOperand(g->op, (intptr_t)i));
    if (!mlirTypeIsAShaped(t))
      continue;
    intptr_t n = mlirAffineMapGetNumResults(g->maps[i]);
    for (intptr_t d = 0; d < n; d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(g->maps[i], d);
      if (mlirAffineExprIsADim(e) && !mlirShapedTypeIsDynamicDim(t, d)) {
        intptr_t loop = mlirAffineDimExprGetPosition(e);
        if (sizes[loop] == TC__DYNAMIC)
          sizes[loop] = mlirShapedTypeGetDimSize(t, d);
      }
    }
  }
}

// d mod n is how linalg reads the head of a larger dim: d itself when the loop ends before n.
static MlirAffineMap drop_mods(const tc__generic_view *g, MlirAffineMap map, const int64_t *sizes) {
  MlirAffineExpr exprs[TC_MAX_RANK * 2];
  intptr_t n = mlirAffineMapGetNumResults(map);
  bool changed = false;
  if (n > TC_MAX_RANK * 2)
    return map;
  for (intptr_t r = 0; r < n; r++) {
    exprs[r] = mlirAffineMapGetResult(map, r);
    if (!mlirAffineExprIsAMod(exprs[r]))
      continue;
    MlirAffineExpr d = mlirAffineBinaryOpExprGetLHS(exprs[r]), m = mlirAffineBinaryOpExprGetRHS(exprs[r]);
    int64_t size = mlirAffineExprIsADim(d) ? sizes[mlirAffineDimExprGetPosition(d)] : TC__DYNAMIC;
    if (size == TC__DYNAMIC || !mlirAffineExprIsAConstant(m) || size > mlirAffineConstantExprGetValue(m))
      continue;
    exprs[r] = d;
    changed = true;
  }
  return changed ? mlirAffineMapGet(mlirAffineMapGetContext(map), (intptr_t)g->n_loops, 0, n, exprs) : map;
}

bool tc__generic_read(MlirOperation op, tc__generic_view *g) {
  if (mlirOperationIsNull(op) || !tc__op_is(op, "linalg.generic"))
    return false;
  g->op = op;
  MlirAttribute maps = mlirOperationGetAttributeByName(op, tc__sref("indexing_maps"));
  MlirAttribute iterators = mlirOperationGetAttributeByName(op, tc__sref("iterator_types"));
  size_t n_maps = (size_t)mlirArrayAttrGetNumElements(maps);
  g->n_loops = (size_t)mlirArrayAttrGetNumElements(iterators);
  g->n_outs = (size_t)mlirOperationGetNumResults(op);
  if (n_maps > TC_COUNTOF(g->maps) || g->n_loops > TC_COUNTOF(g->reduction) || g->n_outs == 0 || n_maps < g->n_outs)
    return false;
  g->n_ins = n_maps - g->n_outs;
  for (size_t i = 0; i < n_maps; i++)
    g->maps[i] = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, (intptr_t)i));
  bind_sizes(g, g->sizes);
  for (size_t i = 0; i < g->n_ins; i++)
    g->maps[i] = drop_mods(g, g->maps[i], g->sizes);
  g->has_reduction = false;
  static const char parallel[] = "#linalg.iterator_type<parallel>";
  MlirAttribute is_parallel = mlirAttributeParseGet(mlirOperationGetContext(op), tc__sref(parallel));
  for (size_t i = 0; i < g->n_loops; i++) {
    g->reduction[i] = !mlirAttributeEqual(mlirArrayAttrGetElement(iterators, (intptr_t)i), is_parallel);
    g->has_reduction |= g->reduction[i];
  }
  g->body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return true;
}

void tc__generic_sizes(const tc__generic_view *g, int64_t *sizes) { memcpy(sizes, g->sizes, sizeof *sizes * g->n_loops); }

bool tc__generic_is_pointwise(const tc__generic_view *g) {
  if (g->has_reduction)
    return false;
  for (size_t i = 0; i < g->n_outs; i++) {
    MlirAffineMap map = g->maps[g->n_ins + i];
    if (!mlirAffineMapIsIdentity(map) || (size_t)mlirAffineMapGetNumDims(map) != g->n_loops)
      return false;
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(g->body, (intptr_t)(g->n_ins + i)))))
      return false;
  }
  return true;
}

bool tc__generic_is_contraction(const tc__generic_view *g) {
  return !mlirAttributeIsNull(mlirOperationGetAttributeByName(g->op, tc__sref("tc.contraction")));
}

bool tc__generic_is_view(const tc__generic_view *g) {
  MlirOperation yield = mlirBlockGetFirstOperation(g->body);
  return g->n_outs == 1 && g->n_ins == 1 && !g->has_reduction && tc__op_is(yield, "linalg.yield") &&
         mlirValueEqual(mlirOperationGetOperand(yield, 0), mlirBlockGetArgument(g->body, 0));
}

bool tc__generic_is_cheap(const tc__generic_view *g) {
  static const char *const cheap[] = {"linalg.yield", "arith.constant", "arith.extf",    "arith.truncf", "arith.extsi",  "arith.extui",
                                      "arith.trunci", "arith.sitofp",   "arith.uitofp",  "linalg.index", "arith.index_cast"};
  for (MlirOperation op = mlirBlockGetFirstOperation(g->body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    bool found = false;
    for (size_t i = 0; i < TC_COUNTOF(cheap); i++)
      found |= tc__op_is(op, cheap[i]);
    // Arithmetic on indices and constants alone (iota, full) reads nothing.
    if (!found && g->n_ins > 0)
      return false;
    if (tc__op_is(op, "tensor.extract"))
      return false;
  }
  return true;
}


// ---- cloning --------------------------------------------------------------------------------------------------------------------------------------

void tc__pairs_add(tc__value_pairs *p, MlirValue from, MlirValue to) {
  if (p->n < TC_COUNTOF(p->from)) {
    p->from[p->n] = from;
    p->to[p->n++] = to;
  }
}

MlirValue tc__pairs_get(const tc__value_pairs *p, MlirValue v) {
  for (size_t i = p->n; i-- > 0;)
    if (mlirValueEqual(p->from[i], v))
      return p->to[i];
  return v;
}

MlirValue tc__expr_value(tc__builder *b, MlirAffineExpr e, const MlirValue *dims) {
  MlirType t = mlirValueGetType(dims[0]);
  if (mlirAffineExprIsADim(e))
    return dims[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e))
    return tc__const_i(b, t, mlirAffineConstantExprGetValue(e));
  MlirAffineExpr l = mlirAffineBinaryOpExprGetLHS(e), r = mlirAffineBinaryOpExprGetRHS(e);
  MlirValue x = tc__expr_value(b, l, dims), y = tc__expr_value(b, r, dims);
  const char *op = mlirAffineExprIsAAdd(e)        ? "arith.addi"
                   : mlirAffineExprIsAMul(e)      ? "arith.muli"
                   : mlirAffineExprIsAMod(e)      ? "arith.remsi" // loops are not negative
                   : mlirAffineExprIsAFloorDiv(e) ? "arith.divsi"
                                                  : "arith.ceildivsi";
  return tc__binary(b, op, x, y);
}

bool tc__body_clone(tc__builder *b, MlirBlock body, MlirAffineMap index_map, tc__value_pairs *pairs, MlirValue *yields, size_t *out_n) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (tc__op_is(op, "linalg.yield")) {
      *out_n = (size_t)mlirOperationGetNumOperands(op);
      for (size_t i = 0; i < *out_n; i++)
        yields[i] = tc__pairs_get(pairs, mlirOperationGetOperand(op, (intptr_t)i));
      return true;
    }
    if (pairs->n + 4 >= TC_COUNTOF(pairs->from))
      return false;
    if (tc__op_is(op, "linalg.index") && !mlirAffineMapIsNull(index_map)) {
      MlirValue dims[TC_MAX_RANK * 2];
      intptr_t n = mlirAffineMapGetNumDims(index_map);
      MlirType index = mlirIndexTypeGet(b->ctx);
      for (intptr_t d = 0; d < n; d++) {
        MlirNamedAttribute attr = tc__named(b->ctx, "dim", tc__attr_i64(b->ctx, d));
        dims[d] = tc__build1(b, "linalg.index", NULL, 0, index, &attr, 1);
      }
      if (n == 0)
        dims[0] = tc__const_i(b, index, 0);
      MlirAffineExpr e = mlirAffineMapGetResult(index_map, (intptr_t)tc__get_int(op, "dim", 0));
      tc__pairs_add(pairs, mlirOperationGetResult(op, 0), tc__expr_value(b, e, dims));
      continue;
    }
    MlirOperation copy = mlirOperationClone(op);
    intptr_t n = mlirOperationGetNumOperands(copy);
    for (intptr_t i = 0; i < n; i++)
      mlirOperationSetOperand(copy, i, tc__pairs_get(pairs, mlirOperationGetOperand(op, i)));
    if (mlirOperationIsNull(b->before))
      mlirBlockAppendOwnedOperation(b->block, copy);
    else
      mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      tc__pairs_add(pairs, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
  return false;
}

// ---- uses -----------------------------------------------------------------------------------------------------------------------------------------

MlirOperation tc__use_owner(MlirOpOperand use) { return mlirOpOperandGetOwner(use); }

size_t tc__use_count(MlirValue v) {
  size_t n = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    n++;
  return n;
}

bool tc__only_user_is(MlirValue v, MlirOperation user) {
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), user))
      return false;
  return true;
}
