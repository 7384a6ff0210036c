// Clean-up before fusion: everything that can be said by an indexing map is, and reshapes between pointwise ops move out of the
// way.
//
//   %r = tensor.collapse_shape %conv [[0], [1, 2], [3]]        %e = tensor.expand_shape %bias ..
//   %y = linalg.generic ins(%r, %bias)                   ->    %z = linalg.generic ins(%conv, %e)      (over the higher-rank
//   space)
//                                                              %y = tensor.collapse_shape %z [[0], [1, 2], [3]]
//
// The reshape ends up behind the op, where it is free; the op now shares the space of what feeds it and can be fused with it.
#include "fuse_pointwise.h"

#include "mlir-c/Dialect/Linalg.h"

#define MAX_RANK 32

// ---- named ops
// ----------------------------------------------------------------------------------------------------------------------------

static bool is_named_linalg(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length > 7 && !memcmp(name.data, "linalg.", 7) && mlirOperationGetNumRegions(op) == 1 && !tc__gen_is(op) &&
         !tc__op_is(op, "linalg.fill") && mlirOperationGetNumResults(op) == 1;
}

/// linalg.add, linalg.transpose, linalg.matmul ..: the same as a generic. Upstream's generalisation drops our attributes and
/// takes all.
static void generalize(MlirOperation op) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  intptr_t n = mlirOperationGetNumOperands(op), n_in = n - 1;
  if (mlirAttributeIsNull(maps) || !mlirAttributeIsAArray(maps) || mlirArrayAttrGetNumElements(maps) != n || n > MAX_RANK)
    return;
  MlirAffineMap list[MAX_RANK];
  MlirValue operands[MAX_RANK];
  for (intptr_t i = 0; i < n; i++) {
    list[i] = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    operands[i] = mlirOperationGetOperand(op, i);
    if (mlirAffineMapGetNumSymbols(list[i]))
      return;
  }
  intptr_t n_loops = mlirAffineMapGetNumDims(list[0]);
  MlirAffineMap out = list[n_in];
  uint64_t reductions = 0;
  for (intptr_t l = 0; l < n_loops && l < 64; l++) {
    bool used = false;
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(out) && !used; r++)
      used = mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(out, r), l);
    reductions |= (uint64_t)!used << l;
  }
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool conv = mlirLinalgIsAConvolutionOp(op) && name.length > 12 && !memcmp(name.data, "linalg.conv_", 12);
  bool matmul = !conv && mlirLinalgIsAContractionOp(op);
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(op, 0));
  MlirBlock body = mlirRegionGetFirstBlock(region);
  tc__builder b = tc__builder_before(op);
  while (mlirBlockGetNumArguments(body) < n) { // linalg.map's body has no argument for the out
    MlirType t = mlirValueGetType(operands[mlirBlockGetNumArguments(body)]);
    mlirBlockAddArgument(body, mlirTypeIsAShaped(t) ? mlirShapedTypeGetElementType(t) : t, b.loc);
  }
  tc__gen_spec spec = {operands, operands + n_in, list, (size_t)n_in, 1, n_loops, reductions, NULL};
  MlirOperation generic = tc__gen_build(&b, &spec, region);
  if (mlirOperationIsNull(generic))
    return;
  tc__copy_discardable(op, generic);
  MlirStringRef known;
  if (!tc__get_str(generic, "tc.op", &known)) {
    tc__str label = {0};
    tc__op_label(op, &label);
    mlirOperationSetAttributeByName(generic, tc__sref("tc.op"), tc__attr_str(b.ctx, label.data ? label.data : "linalg"));
    tc__str_free(&label);
  }
  if (conv || matmul)
    mlirOperationSetAttributeByName(generic, tc__sref("tc.contraction"), tc__attr_str(b.ctx, conv ? "convolution" : "matmul"));
  MlirValue result = mlirOperationGetResult(generic, 0);
  tc__replace_op(op, &result);
}

// ---- constants that a body captures
// -------------------------------------------------------------------------------------------------------

static void sink_constants(MlirOperation op) {
  MlirBlock body = tc__gen_body(op);
  MlirOperation first = mlirBlockGetFirstOperation(body);
  for (MlirOperation o = first; !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o))
    for (intptr_t i = 0, n = mlirOperationGetNumOperands(o); i < n; i++) {
      MlirOperation def = tc__def_op(mlirOperationGetOperand(o, i));
      if (mlirOperationIsNull(def) || mlirBlockEqual(mlirOperationGetBlock(def), body) || !tc__op_is(def, "arith.constant") ||
          mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetOperand(o, i)))) // a table that the body looks up stays outside
        continue;
      MlirOperation c = mlirOperationClone(def);
      mlirBlockInsertOwnedOperationBefore(body, first, c);
      mlirOperationReplaceUsesOfWith(o, mlirOperationGetOperand(o, i), mlirOperationGetResult(c, 0));
    }
}

// ---- reshapes and slices as maps
// ------------------------------------------------------------------------------------------------------------

typedef struct reassociation {
  int n;                   ///< groups: dims of the lower-rank side
  int begin[MAX_RANK + 1]; ///< group j is dims begin[j] .. begin[j + 1] of the higher-rank side
  bool collapse;
  MlirType low, high;
  MlirValue source;
} reassociation;

static bool read_reshape(MlirOperation op, reassociation *out) {
  out->collapse = tc__op_is(op, "tensor.collapse_shape");
  if (!out->collapse && !tc__op_is(op, "tensor.expand_shape"))
    return false;
  MlirAttribute groups = mlirOperationGetAttributeByName(op, tc__sref("reassociation"));
  out->source = mlirOperationGetOperand(op, 0);
  MlirType from = mlirValueGetType(out->source), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  out->low = out->collapse ? to : from, out->high = out->collapse ? from : to;
  out->n = (int)mlirArrayAttrGetNumElements(groups);
  if (mlirShapedTypeGetRank(out->high) > MAX_RANK)
    return false;
  int at = 0;
  for (int j = 0; j < out->n; j++) {
    out->begin[j] = at;
    at += (int)mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, j));
  }
  out->begin[out->n] = at;
  return out->n ? at == mlirShapedTypeGetRank(out->high) : true;
}

static bool unit(MlirType t, intptr_t d) { return !mlirShapedTypeIsDynamicDim(t, d) && mlirShapedTypeGetDimSize(t, d) == 1; }

/// The map on the reshape's source for a map on its result, when the reshape only adds or drops dims of size 1.
static bool through_unit_reshape(const reassociation *r, MlirAffineMap map, MlirAffineMap *out) {
  MlirContext ctx = mlirAffineMapGetContext(map);
  MlirAffineExpr zero = mlirAffineConstantExprGet(ctx, 0), exprs[MAX_RANK];
  intptr_t high_rank = mlirShapedTypeGetRank(r->high), n = 0;
  if (r->collapse)
    for (intptr_t d = 0; d < high_rank; d++)
      exprs[d] = zero;
  for (int j = 0; j < r->n; j++) {
    int kept = -1;
    for (int d = r->begin[j]; d < r->begin[j + 1]; d++)
      if (!unit(r->high, d)) {
        if (kept >= 0)
          return false;
        kept = d;
      }
    if (kept < 0) // all of size 1: any of them reads position 0
      kept = r->begin[j];
    if (!r->collapse)
      exprs[n++] = mlirAffineMapGetResult(map, kept);
    else
      exprs[kept] = mlirAffineMapGetResult(map, j);
  }
  if (r->collapse)
    n = high_rank;
  *out = mlirAffineMapGet(ctx, mlirAffineMapGetNumDims(map), 0, n, exprs);
  return true;
}

static bool through_slice(MlirOperation slice, MlirAffineMap map, MlirAffineMap *out) {
  if (!tc__op_is(slice, "tensor.extract_slice") || mlirOperationGetNumOperands(slice) != 1)
    return false;
  int64_t offsets[MAX_RANK], sizes[MAX_RANK], strides[MAX_RANK];
  MlirType to = mlirValueGetType(mlirOperationGetResult(slice, 0));
  size_t rank = tc__get_ints(slice, "static_offsets", offsets, MAX_RANK);
  if (tc__get_ints(slice, "static_sizes", sizes, MAX_RANK) != rank ||
      tc__get_ints(slice, "static_strides", strides, MAX_RANK) != rank)
    return false;
  MlirContext ctx = mlirAffineMapGetContext(map);
  MlirAffineExpr exprs[MAX_RANK];
  intptr_t j = 0, low = mlirShapedTypeGetRank(to), to_drop = (intptr_t)rank - low;
  for (size_t d = 0; d < rank; d++) {
    MlirAffineExpr e = mlirAffineConstantExprGet(ctx, offsets[d]);
    bool drop =
        to_drop > 0 && sizes[d] == 1 && (j >= low || mlirShapedTypeGetDimSize(to, j) != 1 || to_drop >= (intptr_t)(rank - d));
    if (drop) {
      to_drop--;
    } else {
      if (j >= low)
        return false;
      MlirAffineExpr scaled = mlirAffineMulExprGet(mlirAffineMapGetResult(map, j++), mlirAffineConstantExprGet(ctx, strides[d]));
      e = mlirAffineAddExprGet(scaled, e);
    }
    exprs[d] = mlirSimplifyAffineExpr(e, (uint32_t)mlirAffineMapGetNumDims(map), 0);
  }
  *out = mlirAffineMapGet(ctx, mlirAffineMapGetNumDims(map), 0, (intptr_t)rank, exprs);
  return j == low;
}

/// Every loop is still some operand's dim, so that its size is known.
static bool loops_bound(MlirAffineMap const *maps, intptr_t n) {
  uint64_t seen = 0;
  intptr_t loops = mlirAffineMapGetNumDims(maps[0]);
  for (intptr_t i = 0; i < n; i++)
    for (intptr_t r = 0, m = mlirAffineMapGetNumResults(maps[i]); r < m; r++) {
      MlirAffineExpr e = mlirAffineMapGetResult(maps[i], r);
      if (mlirAffineExprIsADim(e))
        seen |= UINT64_C(1) << mlirAffineDimExprGetPosition(e);
    }
  return loops >= 64 || seen == (UINT64_C(1) << loops) - 1;
}

/// A generic that only yields its one input: a permute, broadcast, slice or flip.
static bool through_view(MlirOperation view, MlirAffineMap map, MlirAffineMap *out) {
  if (!tc__gen_is_pointwise(view) || tc__gen_inputs(view) != 1 || mlirOperationGetNumResults(view) != 1)
    return false;
  MlirOperation first = mlirBlockGetFirstOperation(tc__gen_body(view));
  if (!tc__op_is(first, "linalg.yield") ||
      !mlirValueEqual(mlirOperationGetOperand(first, 0), mlirBlockGetArgument(tc__gen_body(view), 0)) ||
      !mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetOperand(view, 0))))
    return false;
  *out = tc__map_compose(tc__gen_map(view, 0), map);
  return true;
}

/// Each dim at most once, alone or in a window's sum, or 0: what a contraction can still read by strides.
static bool is_permuted(MlirAffineMap before, MlirAffineMap after) {
  for (intptr_t i = 0, n = mlirAffineMapGetNumResults(after); i < n; i++) {
    MlirAffineExpr e = mlirAffineMapGetResult(after, i);
    bool found = mlirAffineExprIsAConstant(e) && mlirAffineConstantExprGetValue(e) == 0;
    for (intptr_t k = 0, m = mlirAffineMapGetNumResults(before); k < m && !found; k++)
      found = mlirAffineExprEqual(mlirAffineMapGetResult(before, k), e);
    if (!found)
      return false;
  }
  return true;
}

static void count_view(MlirOperation view, MlirOperation op) {
  MlirContext ctx = mlirOperationGetContext(op);
  int64_t read = tc__gen_bytes_read(view), written = tc__gen_bytes_written(view);
  mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_read"), tc__attr_i64(ctx, tc__gen_bytes_read(op) + read));
  mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_written"), tc__attr_i64(ctx, tc__gen_bytes_written(op) + written));
  mlirOperationSetAttributeByName(view, tc__sref("tc.bytes_read"), tc__attr_i64(ctx, 0));
  mlirOperationSetAttributeByName(view, tc__sref("tc.bytes_written"), tc__attr_i64(ctx, 0));
  tc__str label = {0};
  tc__op_label(view, &label);
  tc__str_append(&label, " ");
  tc__op_label(op, &label);
  if (label.data && label.size < 400)
    mlirOperationSetAttributeByName(op, tc__sref("tc.op"), tc__attr_str(ctx, label.data));
  tc__str_free(&label);
}

static tc_status fold_into_maps(MlirOperation op) {
  bool contraction = tc__gen_is_contraction(op);
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op);
  MlirContext ctx = mlirOperationGetContext(op);
  MlirAffineMap *maps = tc__alloc((size_t)n * sizeof *maps);
  MlirAttribute *attrs = tc__alloc((size_t)n * sizeof *attrs);
  bool changed = false;
  if (!maps || !attrs) {
    tc__free(maps);
    tc__free(attrs);
    return tc__oom();
  }
  int64_t sizes[64];
  intptr_t n_loops = tc__gen_loops(op);
  for (intptr_t l = 0; l < n_loops && l < 64; l++)
    sizes[l] = tc__gen_loop_size(op, l);
  for (intptr_t i = 0; i < n; i++)
    maps[i] = tc__gen_map(op, i);
  for (intptr_t i = 0; i < n_in; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    for (;;) {
      MlirOperation def = tc__def_op(v);
      MlirAffineMap before = maps[i];
      reassociation r;
      if (mlirOperationIsNull(def))
        break;
      bool view = through_view(def, before, &maps[i]);
      if (!view && (contraction || !((read_reshape(def, &r) && through_unit_reshape(&r, before, &maps[i])) ||
                                     through_slice(def, before, &maps[i]))))
        break;
      MlirAffineMap composed = maps[i]; // as it will be written below: d mod n binds no loop
      if (n_loops <= 64)
        maps[i] = tc__map_fit(composed, mlirValueGetType(mlirOperationGetOperand(def, 0)), sizes);
      bool bound = loops_bound(maps, n);
      maps[i] = composed;
      if (!bound || (contraction && !is_permuted(before, maps[i]))) {
        maps[i] = before;
        break;
      }
      if (view)
        count_view(def, op);
      v = mlirOperationGetOperand(def, 0);
      changed = true;
    }
    mlirOperationSetOperand(op, i, v);
    if (changed && n_loops <= 64)
      maps[i] = tc__map_fit(maps[i], mlirValueGetType(v), sizes);
  }
  if (changed) {
    for (intptr_t i = 0; i < n; i++)
      attrs[i] = mlirAffineMapAttrGet(maps[i]);
    mlirOperationSetAttributeByName(op, tc__sref("indexing_maps"), mlirArrayAttrGet(ctx, n, attrs));
  }
  tc__free(maps);
  tc__free(attrs);
  return TC_OK;
}

/// tensor.dim of a result is a dim of its out: sizes must not wait for the values.
static void resolve_dim(MlirOperation op) {
  MlirValue v = mlirOperationGetOperand(op, 0);
  MlirOperation index = tc__def_op(mlirOperationGetOperand(op, 1));
  if (mlirOperationIsNull(index) || !tc__op_is(index, "arith.constant"))
    return;
  int64_t dim = mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(index, tc__sref("value")));
  for (;;) {
    MlirOperation def = tc__def_op(v);
    if (mlirOperationIsNull(def))
      break;
    if (tc__gen_is(def)) {
      v = mlirOperationGetOperand(def, tc__gen_inputs(def) + mlirOpResultGetResultNumber(v));
    } else if (tc__op_is(def, "linalg.fill")) {
      v = mlirOperationGetOperand(def, 1);
    } else if (tc__op_is(def, "tensor.empty")) {
      intptr_t at = 0;
      for (int64_t d = 0; d < dim; d++)
        at += mlirShapedTypeIsDynamicDim(mlirValueGetType(v), (intptr_t)d);
      if (mlirShapedTypeIsDynamicDim(mlirValueGetType(v), (intptr_t)dim)) {
        MlirValue size = mlirOperationGetOperand(def, at);
        tc__replace_op(op, &size);
        return;
      }
      break;
    } else {
      break;
    }
  }
  mlirOperationSetOperand(op, 0, v);
}

tc_status tc__fuse_normalize(MlirBlock block) {
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (is_named_linalg(op))
      generalize(op);
    else if (tc__op_is(op, "tensor.dim"))
      resolve_dim(op);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tc__gen_is(op))
      continue;
    sink_constants(op);
  }
  bool changed = false;
  return tc__fuse_move_reshapes(block, &changed);
}

static tc_status fold_all(MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tc__gen_is(op))
      TC_TRY(fold_into_maps(op));
  return TC_OK;
}

// ---- moving reshapes past pointwise ops
// -------------------------------------------------------------------------------------------------------

/// How the loops of an op change: runs of loops [begin[g], begin[g + 1]) of the high side are loop g of the low side.
typedef struct regroup {
  int n;
  int begin[MAX_RANK + 1];
  int64_t sizes[MAX_RANK]; ///< of the high loops
  bool to_high;            ///< low -> high (expand the op) or high -> low (collapse it)
} regroup;

static MlirAttribute reassociation_attr(MlirContext ctx, const int *begin, int n) {
  MlirAttribute groups[MAX_RANK], dims[MAX_RANK];
  for (int g = 0; g < n; g++) {
    for (int d = begin[g]; d < begin[g + 1]; d++)
      dims[d - begin[g]] = tc__attr_i64(ctx, d);
    groups[g] = mlirArrayAttrGet(ctx, begin[g + 1] - begin[g], dims);
  }
  return mlirArrayAttrGet(ctx, n, groups);
}

/// v under another static shape; begin: the groups of the higher-rank side. A reshape back to where v came from is v's source.
static MlirValue reshape(tc__builder *b, MlirValue v, bool expand, const int *begin, int n, const int64_t *shape, int rank) {
  MlirType from = mlirValueGetType(v);
  MlirType to = mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(from), mlirAttributeGetNull());
  MlirOperation def = tc__def_op(v);
  if (!mlirOperationIsNull(def) && tc__op_is(def, expand ? "tensor.collapse_shape" : "tensor.expand_shape") &&
      mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(def, 0)), to))
    return mlirOperationGetOperand(def, 0);
  MlirNamedAttribute attrs[2] = {tc__named(b->ctx, "reassociation", reassociation_attr(b->ctx, begin, n)),
                                 tc__named(b->ctx, "static_output_shape", tc__attr_ints(b->ctx, shape, (size_t)rank))};
  return tc__build1(b, expand ? "tensor.expand_shape" : "tensor.collapse_shape", &v, 1, to, attrs, expand ? 2 : 1);
}

/// Map and shape of operand v (map m) once the loops are regrouped. false when it cannot be had without moving data.
static bool regroup_operand(const regroup *g, MlirValue v, MlirAffineMap m, MlirAffineMap *out_map, int *begin, int *n_groups,
                            int64_t *shape, int *rank, bool *same) {
  MlirType t = mlirValueGetType(v);
  MlirContext ctx = mlirAffineMapGetContext(m);
  intptr_t n = mlirAffineMapGetNumResults(m);
  MlirAffineExpr exprs[MAX_RANK];
  int at = 0, groups = 0;
  intptr_t new_loops = g->to_high ? g->begin[g->n] : g->n;
  *same = true;
  for (intptr_t r = 0; r < n;) {
    MlirAffineExpr e = mlirAffineMapGetResult(m, r);
    int64_t size = mlirShapedTypeGetDimSize(t, r);
    begin[groups++] = g->to_high ? at : (int)r;
    if (at >= MAX_RANK)
      return false;
    if (mlirAffineExprIsAConstant(e)) {
      exprs[at] = e, shape[at++] = size, r++;
      continue;
    }
    if (!mlirAffineExprIsADim(e))
      return false;
    int d = (int)mlirAffineDimExprGetPosition(e);
    if (g->to_high) {
      int width = g->begin[d + 1] - g->begin[d];
      if (at + width > MAX_RANK)
        return false;
      *same = *same && width == 1;
      for (int k = g->begin[d]; k < g->begin[d + 1]; k++)
        exprs[at] = mlirAffineDimExprGet(ctx, k), shape[at++] = width == 1 ? size : g->sizes[k];
      r++;
    } else {
      int group = 0;
      while (g->begin[group + 1] <= d)
        group++;
      int width = g->begin[group + 1] - g->begin[group];
      int64_t product = 1;
      for (int k = 0; k < width; k++) { // the whole group, in order, or it is no reshape
        if (r + k >= n)
          return false;
        MlirAffineExpr ek = mlirAffineMapGetResult(m, r + k);
        if (!mlirAffineExprIsADim(ek) || mlirAffineDimExprGetPosition(ek) != g->begin[group] + k)
          return false;
        product *= mlirShapedTypeGetDimSize(t, r + k);
      }
      *same = *same && width == 1;
      exprs[at] = mlirAffineDimExprGet(ctx, group), shape[at++] = product;
      r += width;
    }
  }
  begin[groups] = g->to_high ? at : (int)n;
  *n_groups = groups, *rank = at;
  *out_map = mlirAffineMapGet(ctx, new_loops, 0, at, exprs);
  return true;
}

typedef struct moved_operand {
  MlirAffineMap map;
  int begin[MAX_RANK + 1], n_groups, rank;
  int64_t shape[MAX_RANK];
  bool same;
} moved_operand;

/// Rewrites the pointwise op over regrouped loops, reshapes around it. Null when it can't be.
static MlirOperation regroup_op(MlirOperation op, const regroup *g) {
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op), n_out = n - n_in;
  moved_operand *moved = tc__calloc((size_t)n, sizeof *moved);
  MlirValue *operands = tc__alloc((size_t)n * sizeof *operands);
  MlirAffineMap *maps = tc__alloc((size_t)n * sizeof *maps);
  MlirOperation out = {NULL};
  bool ok = moved && operands && maps;
  for (intptr_t i = 0; i < n && ok; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    MlirType t = mlirValueGetType(v);
    moved_operand *m = &moved[i];
    ok = !mlirTypeIsAShaped(t) || (mlirShapedTypeHasStaticShape(t) && mlirShapedTypeGetRank(t) <= MAX_RANK);
    if (ok && !mlirTypeIsAShaped(t)) {
      m->same = true;
      m->map = mlirAffineMapZeroResultGet(mlirOperationGetContext(op), g->to_high ? g->begin[g->n] : g->n, 0);
    } else if (ok) {
      ok = regroup_operand(g, v, tc__gen_map(op, i), &m->map, m->begin, &m->n_groups, m->shape, &m->rank, &m->same);
    }
  }
  if (ok) {
    tc__builder b = tc__builder_before(op);
    for (intptr_t i = 0; i < n; i++) {
      MlirValue v = mlirOperationGetOperand(op, i);
      moved_operand *m = &moved[i];
      maps[i] = m->map;
      if (m->same)
        operands[i] = v;
      else if (i >= n_in) // only a buffer: regroup_for() wants a body that does not read it
        operands[i] = tc__build1(
            &b, "tensor.empty", NULL, 0,
            mlirRankedTensorTypeGet(m->rank, m->shape, mlirShapedTypeGetElementType(mlirValueGetType(v)), mlirAttributeGetNull()),
            NULL, 0);
      else
        operands[i] = reshape(&b, v, g->to_high, m->begin, m->n_groups, m->shape, m->rank);
    }
    // The old loops in terms of the new ones, for linalg.index.
    MlirAffineExpr loops[MAX_RANK];
    intptr_t n_old = g->to_high ? g->n : g->begin[g->n], n_new = g->to_high ? g->begin[g->n] : g->n;
    for (int j = 0; j < g->n; j++) {
      MlirAffineExpr sum = mlirAffineConstantExprGet(b.ctx, 0), rest = mlirAffineDimExprGet(b.ctx, j);
      for (int k = g->begin[j]; k < g->begin[j + 1]; k++) {
        MlirAffineExpr size = mlirAffineConstantExprGet(b.ctx, g->sizes[k]);
        sum = mlirAffineAddExprGet(mlirAffineMulExprGet(sum, size), mlirAffineDimExprGet(b.ctx, k));
      }
      if (g->to_high)
        loops[j] = mlirSimplifyAffineExpr(sum, (uint32_t)n_new, 0);
      for (int k = g->begin[j + 1] - 1; !g->to_high && k >= g->begin[j]; k--) {
        MlirAffineExpr size = mlirAffineConstantExprGet(b.ctx, g->sizes[k]);
        loops[k] = k == g->begin[j] ? rest : mlirAffineModExprGet(rest, size);
        rest = mlirAffineFloorDivExprGet(rest, size);
      }
    }
    MlirAffineMap order = mlirAffineMapGet(b.ctx, n_new, 0, n_old, loops);
    out = tc__gen_remapped(&b, op, order, maps, operands, 0);
    for (intptr_t r = 0; r < n_out && !mlirOperationIsNull(out); r++) {
      MlirValue old = mlirOperationGetResult(op, r), v = mlirOperationGetResult(out, r);
      MlirType t = mlirValueGetType(old);
      int64_t shape[MAX_RANK];
      int rank = (int)mlirShapedTypeGetRank(t);
      for (int d = 0; d < rank; d++)
        shape[d] = mlirShapedTypeGetDimSize(t, d);
      if (!moved[n_in + r].same)
        v = reshape(&b, v, !g->to_high, moved[n_in + r].begin, moved[n_in + r].n_groups, shape, rank);
      mlirValueReplaceAllUsesOfWith(old, v);
    }
    if (!mlirOperationIsNull(out))
      mlirOperationDestroy(op);
  }
  tc__free(moved);
  tc__free(operands);
  tc__free(maps);
  return out;
}

/// The regrouping of op's loops that lets operand i read the reshape's source.
static bool regroup_for(MlirOperation op, intptr_t i, const reassociation *r, regroup *g) {
  MlirAffineMap map = tc__gen_map(op, i);
  intptr_t n_loops = tc__gen_loops(op);
  if (n_loops > MAX_RANK || !mlirShapedTypeHasStaticShape(r->high) || tc__gen_reads_outs(op))
    return false;
  MlirType space = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirShapedTypeHasStaticShape(space))
    return false;
  g->to_high = r->collapse;
  g->n = 0;
  int at = 0;
  if (r->collapse) { // loop l read at low dim j becomes the dims of group j
    int group_of[MAX_RANK];
    for (intptr_t l = 0; l < n_loops; l++)
      group_of[l] = -1;
    for (int j = 0; j < r->n; j++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, j);
      if (mlirAffineExprIsADim(e) && group_of[mlirAffineDimExprGetPosition(e)] < 0)
        group_of[mlirAffineDimExprGetPosition(e)] = j;
      else if (r->begin[j + 1] - r->begin[j] > 1)
        return false;
    }
    for (intptr_t l = 0; l < n_loops; l++) {
      g->begin[g->n++] = at;
      int j = group_of[l];
      if (j < 0)
        g->sizes[at++] = mlirShapedTypeGetDimSize(space, l);
      else
        for (int d = r->begin[j]; d < r->begin[j + 1]; d++) {
          if (at >= MAX_RANK)
            return false;
          g->sizes[at++] = mlirShapedTypeGetDimSize(r->high, d);
        }
      if (at > MAX_RANK - 1)
        return false;
    }
  } else {                       // runs of loops read at the dims of a group become one loop
    int next_in_group[MAX_RANK]; // loop -> 1: continues the group of the loop before it
    memset(next_in_group, 0, sizeof next_in_group);
    for (int j = 0; j < r->n; j++)
      for (int d = r->begin[j]; d + 1 < r->begin[j + 1]; d++) {
        MlirAffineExpr a = mlirAffineMapGetResult(map, d), b = mlirAffineMapGetResult(map, d + 1);
        if (!mlirAffineExprIsADim(a) || !mlirAffineExprIsADim(b) ||
            mlirAffineDimExprGetPosition(b) != mlirAffineDimExprGetPosition(a) + 1)
          return false;
        next_in_group[mlirAffineDimExprGetPosition(b)] = 1;
      }
    for (intptr_t l = 0; l < n_loops; l++) {
      if (!next_in_group[l])
        g->begin[g->n++] = (int)l;
      g->sizes[l] = mlirShapedTypeGetDimSize(space, l);
    }
    at = (int)n_loops;
  }
  g->begin[g->n] = at;
  return true;
}

typedef struct mover {
  tc__graph g;     ///< of the block as it was: what depends on what does not change
  int *anchor;     ///< node -> the contraction it follows element by element, -1 = none
  tc__ptrmap node; ///< rewritten op -> node + 1
} mover;

static int node_of(const mover *m, MlirOperation op) {
  int node = mlirOperationIsNull(op) ? 0 : (int)(intptr_t)tc__ptrmap_get(&m->node, op.ptr);
  return node ? node - 1 : mlirOperationIsNull(op) ? -1 : tc__graph_node(&m->g, op);
}

static int anchor_of(const mover *m, MlirOperation def) {
  int node = node_of(m, def);
  return node < 0 ? -1 : tc__gen_is_contraction(def) ? node : m->anchor[node];
}

/// 2: a contraction's result or what follows one element by element; 1: another pointwise op; 0: anything else.
static int pull(const mover *m, MlirOperation def) {
  return mlirOperationIsNull(def) ? 0 : anchor_of(m, def) >= 0 ? 2 : tc__gen_is_pointwise(def);
}

static tc_status move_past(mover *m, MlirOperation op, bool *changed) {
  intptr_t n_in = tc__gen_inputs(op), best = -1;
  int direct = 0, score = 0, c = node_of(m, op), anchor = -1;
  reassociation through = {0};
  for (intptr_t i = 0; i < n_in; i++) {
    MlirOperation def = tc__def_op(mlirOperationGetOperand(op, i));
    if (mlirOperationIsNull(def))
      continue;
    reassociation r;
    bool reshaped = read_reshape(def, &r), in_place = !reshaped && mlirAffineMapIsIdentity(tc__gen_map(op, i));
    if (reshaped)
      def = tc__def_op(r.source);
    if ((!reshaped && !in_place) || mlirOperationIsNull(def))
      continue;
    int p = pull(m, def), a = anchor_of(m, def);
    if (a >= 0 && (c < 0 || tc__graph_escapes(&m->g, c, a, m->anchor)))
      p = 1, a = -1;
    if (in_place) {
      direct = p > direct ? p : direct;
      anchor = a > anchor ? a : anchor;
    } else if (p > score) {
      score = p, best = i, through = r;
    }
  }
  regroup g;
  if (best >= 0 && score > direct && regroup_for(op, best, &through, &g)) {
    int a = anchor_of(m, tc__def_op(through.source));
    MlirOperation moved = regroup_op(op, &g);
    if (!mlirOperationIsNull(moved)) {
      *changed = true;
      anchor = score == 2 ? a : anchor;
      if (!tc__ptrmap_set(&m->node, moved.ptr, (void *)(intptr_t)(c + 1)))
        return tc__oom();
    }
  }
  if (c >= 0)
    m->anchor[c] = anchor;
  return TC_OK;
}

tc_status tc__fuse_move_reshapes(MlirBlock block, bool *changed) {
  mover m = {0};
  TC_TRY(tc__graph_create(block, &m.g));
  m.anchor = tc__alloc(((size_t)m.g.n + 1) * sizeof *m.anchor);
  tc_status status = m.anchor ? TC_OK : tc__oom();
  for (int i = 0; i < m.g.n && status == TC_OK; i++)
    m.anchor[i] = -1;
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && status == TC_OK; op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (tc__gen_is_pointwise(op))
      status = move_past(&m, op, changed);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && status == TC_OK; op = next) {
    next = mlirOperationGetNextInBlock(op);
    MlirAffineMap map;
    if (tc__gen_is(op) && anchor_of(&m, op) < 0 && !through_view(op, tc__gen_map(op, 0), &map))
      status = tc__fuse_drop_unit_loops(op);
  }
  tc__free(m.anchor);
  tc__ptrmap_free(&m.node);
  tc__graph_destroy(&m.g);
  // Only now, when what a contraction feeds has its space: a unit dim folded into a map looks like another space.
  if (status == TC_OK)
    status = fold_all(block);
  tc__block_dce(block);
  return status;
}
