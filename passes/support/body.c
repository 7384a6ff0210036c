#include "body.h"

MlirValue tc__unary(tc__builder *b, const char *op, MlirValue x) { return tc__build1(b, op, &x, 1, mlirValueGetType(x), NULL, 0); }

MlirValue tc__binary(tc__builder *b, const char *op, MlirValue x, MlirValue y) {
  MlirValue operands[2] = {x, y};
  return tc__build1(b, op, operands, 2, mlirValueGetType(x), NULL, 0);
}

MlirValue tc__ternary(tc__builder *b, const char *op, MlirValue x, MlirValue y, MlirValue z) {
  MlirValue operands[3] = {x, y, z};
  return tc__build1(b, op, operands, 3, mlirValueGetType(x), NULL, 0);
}

MlirValue tc__convert(tc__builder *b, const char *op, MlirValue x, MlirType to) { return tc__build1(b, op, &x, 1, to, NULL, 0); }

static MlirValue constant(tc__builder *b, MlirType type, MlirAttribute scalar) {
  MlirAttribute value = mlirTypeIsAVector(type) ? mlirDenseElementsAttrSplatGet(type, scalar) : scalar;
  MlirNamedAttribute attr = tc__named(b->ctx, "value", value);
  return tc__build1(b, "arith.constant", NULL, 0, type, &attr, 1);
}

static MlirType element(MlirType t) { return mlirTypeIsAVector(t) ? mlirShapedTypeGetElementType(t) : t; }

MlirValue tc__const_f(tc__builder *b, MlirType type, double v) { return constant(b, type, mlirFloatAttrDoubleGet(b->ctx, element(type), v)); }
MlirValue tc__const_i(tc__builder *b, MlirType type, int64_t v) { return constant(b, type, mlirIntegerAttrGet(element(type), v)); }

MlirType tc__scalar_type(MlirValue v) { return element(mlirValueGetType(v)); }

MlirType tc__bool_like(MlirType t) {
  MlirType i1 = mlirIntegerTypeGet(mlirTypeGetContext(t), 1);
  if (!mlirTypeIsAVector(t))
    return i1;
  int64_t shape[4];
  intptr_t rank = mlirShapedTypeGetRank(t);
  for (intptr_t i = 0; i < rank && i < 4; i++)
    shape[i] = mlirShapedTypeGetDimSize(t, i);
  return mlirVectorTypeGet(rank, shape, i1);
}

static MlirValue compare(tc__builder *b, const char *op, int predicate, MlirValue x, MlirValue y) {
  MlirValue operands[2] = {x, y};
  MlirNamedAttribute attr = tc__named(b->ctx, "predicate", tc__attr_i64(b->ctx, predicate));
  return tc__build1(b, op, operands, 2, tc__bool_like(mlirValueGetType(x)), &attr, 1);
}

MlirValue tc__cmpf(tc__builder *b, int predicate, MlirValue x, MlirValue y) { return compare(b, "arith.cmpf", predicate, x, y); }
MlirValue tc__cmpi(tc__builder *b, int predicate, MlirValue x, MlirValue y) { return compare(b, "arith.cmpi", predicate, x, y); }

MlirValue tc__select(tc__builder *b, MlirValue cond, MlirValue x, MlirValue y) {
  MlirValue operands[3] = {cond, x, y};
  return tc__build1(b, "arith.select", operands, 3, mlirValueGetType(x), NULL, 0);
}

// ---- linalg -------------------------------------------------------------------------------------------------------------------------------------

tc__builder *tc__generic_begin(tc__builder *b, tc__generic *g) {
  MlirType types[80];
  MlirLocation locs[80];
  for (size_t i = 0; i < g->n_ins + g->n_outs; i++) {
    MlirType t = mlirValueGetType(i < g->n_ins ? g->ins[i] : g->outs[i - g->n_ins]);
    types[i] = mlirTypeIsAShaped(t) ? mlirShapedTypeGetElementType(t) : t;
    locs[i] = b->loc;
  }
  g->block = mlirBlockCreate((intptr_t)(g->n_ins + g->n_outs), types, locs);
  g->body = tc__builder_at_end(g->block, b->loc);
  return &g->body;
}

MlirOperation tc__generic_end(tc__builder *b, tc__generic *g, const MlirValue *yields, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs) {
  tc__build(&g->body, "linalg.yield", yields, n, NULL, 0, NULL, 0, NULL, 0);
  MlirContext ctx = b->ctx;
  MlirValue operands[80];
  MlirAttribute maps[80], iterators[TC_MAX_RANK * 2];
  MlirType results[8];
  for (size_t i = 0; i < g->n_ins; i++) {
    operands[i] = g->ins[i];
    maps[i] = mlirAffineMapAttrGet(g->in_maps[i]);
  }
  for (size_t i = 0; i < g->n_outs; i++) {
    operands[g->n_ins + i] = g->outs[i];
    maps[g->n_ins + i] = mlirAffineMapAttrGet(g->out_maps[i]);
    results[i] = mlirValueGetType(g->outs[i]);
  }
  for (size_t i = 0; i < g->n_loops; i++)
    iterators[i] = mlirAttributeParseGet(ctx, tc__sref(g->reduction[i] ? "#linalg.iterator_type<reduction>" : "#linalg.iterator_type<parallel>"));
  int32_t segments[2] = {(int32_t)g->n_ins, (int32_t)g->n_outs};
  MlirNamedAttribute named[16] = {
      tc__named(ctx, "indexing_maps", mlirArrayAttrGet(ctx, (intptr_t)(g->n_ins + g->n_outs), maps)),
      tc__named(ctx, "iterator_types", mlirArrayAttrGet(ctx, (intptr_t)g->n_loops, iterators)),
      tc__named(ctx, "operandSegmentSizes", mlirDenseI32ArrayGet(ctx, 2, segments)),
  };
  for (size_t i = 0; i < n_attrs && i < 13; i++)
    named[3 + i] = attrs[i];
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, g->block);
  return tc__build(b, "linalg.generic", operands, g->n_ins + g->n_outs, results, g->n_outs, named, 3 + n_attrs, &region, 1);
}

MlirValue tc__empty(tc__builder *b, MlirType type, const MlirValue *sizes, size_t n_sizes) {
  return tc__build1(b, "tensor.empty", sizes, n_sizes, type, NULL, 0);
}

MlirValue tc__fill(tc__builder *b, MlirValue scalar, MlirValue tensor) {
  MlirType types[2] = {mlirValueGetType(scalar), mlirShapedTypeGetElementType(mlirValueGetType(tensor))}, result = mlirValueGetType(tensor);
  MlirLocation locs[2] = {b->loc, b->loc};
  MlirBlock block = mlirBlockCreate(2, types, locs);
  tc__builder body = tc__builder_at_end(block, b->loc);
  MlirValue arg = mlirBlockGetArgument(block, 0);
  tc__build(&body, "linalg.yield", &arg, 1, NULL, 0, NULL, 0, NULL, 0);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  int32_t segments[2] = {1, 1};
  MlirNamedAttribute attr = tc__named(b->ctx, "operandSegmentSizes", mlirDenseI32ArrayGet(b->ctx, 2, segments));
  MlirValue operands[2] = {scalar, tensor};
  return mlirOperationGetResult(tc__build(b, "linalg.fill", operands, 2, &result, 1, &attr, 1, &region, 1), 0);
}

MlirAffineMap tc__identity_map(MlirContext ctx, size_t n) { return mlirAffineMapMultiDimIdentityGet(ctx, (intptr_t)n); }

MlirAffineExpr tc__expr_add(MlirAffineExpr a, int64_t c) {
  return c ? mlirAffineAddExprGet(a, mlirAffineConstantExprGet(mlirAffineExprGetContext(a), c)) : a;
}
MlirAffineExpr tc__expr_mul(MlirAffineExpr a, int64_t c) {
  return c == 1 ? a : mlirAffineMulExprGet(a, mlirAffineConstantExprGet(mlirAffineExprGetContext(a), c));
}
