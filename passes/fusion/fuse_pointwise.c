// fuse-pointwise: each maximal group of pointwise ops becomes one linalg.generic.
//
//   %0 = linalg.generic {...} ins(%x) { cos }        %1 = linalg.generic {...} ins(%0) { sin }
// becomes
//   %1 = linalg.generic {...} ins(%x) { cos; sin }
//
// A producer joins its consumer when its value is read there only, when it costs nothing to repeat (a view, a cast, a constant), or, on the same
// iteration space, as a further result. Broadcasts, permutes, slices and unit-dim reshapes turn into indexing maps, also of reductions and
// contractions. Nothing that computes is done twice. tc ops in the input are lowered by convert-tc-to-linalg first.
#include "pass.h"
#include "support/generic.h"

#include <stdio.h>

enum { MAX_INS = 24, MAX_BODY = 200 };

static MlirAffineMap compose(MlirAffineMap outer, MlirAffineMap inner) {
  MlirAffineExpr exprs[TC_MAX_RANK * 2];
  intptr_t n = mlirAffineMapGetNumResults(outer);
  for (intptr_t i = 0; i < n; i++)
    exprs[i] = mlirAffineExprCompose(mlirAffineMapGetResult(outer, i), inner);
  return mlirAffineMapGet(mlirAffineMapGetContext(inner), mlirAffineMapGetNumDims(inner), 0, n, exprs);
}

static int64_t product(const int64_t *sizes, size_t n) {
  double p = 1;
  for (size_t i = 0; i < n; i++) {
    if (sizes[i] == TC__DYNAMIC)
      return -1;
    p *= (double)sizes[i];
  }
  return p < 9e18 ? (int64_t)p : INT64_MAX;
}

static size_t body_size(MlirBlock body) {
  size_t n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  return n;
}

// ---- folding views into maps ----------------------------------------------------------------------------------------------------------------------

// For collapse_shape and expand_shape that only drop or add dims of size 1: the map from the result's dims to the operand's. Null otherwise.
static MlirAffineMap unit_reshape_map(MlirOperation op) {
  MlirAffineMap none = {NULL};
  MlirContext ctx = mlirOperationGetContext(op);
  bool collapse = tc__op_is(op, "tensor.collapse_shape");
  if (!collapse && !tc__op_is(op, "tensor.expand_shape"))
    return none;
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType wide = collapse ? from : to, narrow = collapse ? to : from;
  MlirAttribute groups = mlirOperationGetAttributeByName(op, tc__sref("reassociation"));
  intptr_t n = mlirShapedTypeGetRank(narrow);
  MlirAffineExpr exprs[TC_MAX_RANK];
  intptr_t m = mlirShapedTypeGetRank(wide);
  for (intptr_t d = 0; d < m; d++) // dims outside of every group (rank 0) are 1
    exprs[d] = mlirAffineConstantExprGet(ctx, 0);
  for (intptr_t g = 0; g < n; g++) {
    MlirAttribute group = mlirArrayAttrGetElement(groups, g);
    intptr_t size = mlirArrayAttrGetNumElements(group), big = -1;
    for (intptr_t i = 0; i < size; i++) {
      intptr_t d = (intptr_t)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, i));
      if (mlirShapedTypeIsDynamicDim(wide, d))
        return none;
      if (mlirShapedTypeGetDimSize(wide, d) == 1)
        continue;
      if (big >= 0)
        return none;
      big = d;
    }
    if (collapse) {
      if (big >= 0)
        exprs[big] = mlirAffineDimExprGet(ctx, g);
    } else {
      exprs[g] = big >= 0 ? mlirAffineDimExprGet(ctx, big) : mlirAffineConstantExprGet(ctx, 0);
    }
  }
  // collapse: operand (wide) dims from result (narrow) dims; expand: operand (narrow) from result (wide).
  return collapse ? mlirAffineMapGet(ctx, n, 0, m, exprs) : mlirAffineMapGet(ctx, m, 0, n, exprs);
}

// The value and map behind a view, or false.
static bool look_through(MlirValue v, MlirValue *source, MlirAffineMap *map) {
  MlirOperation op = tc__def_op(v);
  if (mlirOperationIsNull(op))
    return false;
  tc__generic_view g;
  if (tc__generic_read(op, &g) && tc__generic_is_pointwise(&g) && tc__generic_is_view(&g)) {
    *source = tc__generic_in(&g, 0);
    *map = g.maps[0];
    return mlirTypeIsAShaped(mlirValueGetType(*source));
  }
  *map = unit_reshape_map(op);
  *source = mlirAffineMapIsNull(*map) ? *source : mlirOperationGetOperand(op, 0);
  return !mlirAffineMapIsNull(*map);
}

static bool is_projected(MlirAffineMap map) { // dims, each once, and zeros
  bool seen[TC_MAX_RANK * 2] = {false};
  for (intptr_t i = 0; i < mlirAffineMapGetNumResults(map); i++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, i);
    if (mlirAffineExprIsAConstant(e))
      continue;
    if (!mlirAffineExprIsADim(e) || seen[mlirAffineDimExprGetPosition(e)])
      return false;
    seen[mlirAffineDimExprGetPosition(e)] = true;
  }
  return true;
}

// Each loop still needs an operand that gives its size: the outs do for results, but a reduction loop may hang on the operand replaced.
static bool loops_bound(const tc__generic_view *g, size_t changed, MlirAffineMap map) {
  bool bound[TC_MAX_RANK * 2] = {false};
  for (size_t i = 0; i < g->n_ins + g->n_outs; i++) {
    MlirAffineMap m = i == changed ? map : g->maps[i];
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(m); r++) {
      MlirAffineExpr e = mlirAffineMapGetResult(m, r);
      if (mlirAffineExprIsADim(e))
        bound[mlirAffineDimExprGetPosition(e)] = true;
    }
  }
  for (size_t l = 0; l < g->n_loops; l++)
    if (!bound[l])
      return false;
  return true;
}

static void set_map(tc__generic_view *g, size_t i, MlirAffineMap map) {
  MlirAttribute attrs[80];
  g->maps[i] = map;
  for (size_t k = 0; k < g->n_ins + g->n_outs; k++)
    attrs[k] = mlirAffineMapAttrGet(g->maps[k]);
  mlirOperationSetAttributeByName(g->op, tc__sref("indexing_maps"),
                                  mlirArrayAttrGet(mlirOperationGetContext(g->op), (intptr_t)(g->n_ins + g->n_outs), attrs));
}

static bool fold_views(tc__generic_view *g) {
  bool changed = false, contraction = tc__generic_is_contraction(g);
  for (size_t i = 0; i < g->n_ins; i++) {
    MlirValue source;
    MlirAffineMap map;
    if (!look_through(tc__generic_in(g, i), &source, &map))
      continue;
    MlirAffineMap composed = compose(map, g->maps[i]);
    // A contraction's code wants plain strides; its convolution operand has window sums that a permutation keeps as they are.
    if (contraction && !is_projected(map))
      continue;
    if (!loops_bound(g, i, composed))
      continue;
    mlirOperationSetOperand(g->op, (intptr_t)i, source);
    set_map(g, i, composed);
    changed = true;
    i--; // a view of a view
  }
  return changed;
}

// ---- fusing ---------------------------------------------------------------------------------------------------------------------------------------

static void join_text(tc__str *out, MlirOperation op) {
  MlirStringRef name;
  if (!tc__get_str(op, "tc.op", &name))
    return;
  if (out->size)
    tc__str_append(out, " ");
  tc__str_append_n(out, name.data, name.length);
}

static size_t add_input(tc__generic *g, MlirValue v, MlirAffineMap map) {
  for (size_t i = 0; i < g->n_ins; i++)
    if (mlirValueEqual(g->ins[i], v) && mlirAffineMapEqual(g->in_maps[i], map))
      return i;
  g->ins[g->n_ins] = v;
  g->in_maps[g->n_ins] = map;
  return g->n_ins++;
}

// consumer with producer computed inside, at `at`. Results of producer come after the consumer's when keep.
static MlirOperation fuse(const tc__generic_view *p, const tc__generic_view *c, MlirAffineMap map, bool keep, MlirOperation at) {
  MlirContext ctx = mlirOperationGetContext(c->op);
  tc__builder b = tc__builder_before(at);
  MlirLocation locs[2] = {mlirOperationGetLocation(p->op), mlirOperationGetLocation(c->op)};
  b.loc = mlirLocationFusedGet(ctx, 2, locs, mlirAttributeGetNull());
  tc__generic g = {.n_loops = c->n_loops};
  memcpy(g.reduction, c->reduction, sizeof g.reduction);
  size_t p_arg[80], c_arg[80];
  for (size_t i = 0; i < p->n_ins; i++)
    p_arg[i] = add_input(&g, tc__generic_in(p, i), compose(p->maps[i], map));
  for (size_t i = 0; i < c->n_ins; i++) {
    MlirValue v = tc__generic_in(c, i);
    bool inside = mlirOperationEqual(tc__def_op(v), p->op) && mlirAffineMapEqual(c->maps[i], map);
    c_arg[i] = inside ? SIZE_MAX : add_input(&g, v, c->maps[i]);
  }
  for (size_t i = 0; i < c->n_outs; i++) {
    g.outs[g.n_outs] = tc__generic_out(c, i);
    g.out_maps[g.n_outs++] = c->maps[c->n_ins + i];
  }
  for (size_t i = 0; keep && i < p->n_outs; i++) {
    g.outs[g.n_outs] = tc__generic_out(p, i);
    g.out_maps[g.n_outs++] = compose(p->maps[p->n_ins + i], map);
  }
  tc__builder *body = tc__generic_begin(&b, &g);
  tc__value_pairs *pairs = tc__calloc(1, sizeof *pairs);
  MlirValue p_yields[8], yields[16];
  size_t n_p = 0, n = 0;
  bool ok = pairs != NULL;
  for (size_t i = 0; ok && i < p->n_ins; i++)
    tc__pairs_add(pairs, mlirBlockGetArgument(p->body, (intptr_t)i), tc__generic_arg(&g, p_arg[i]));
  ok = ok && tc__body_clone(body, p->body, map, pairs, p_yields, &n_p);
  for (size_t i = 0; ok && i < c->n_ins; i++) {
    MlirValue v = tc__generic_in(c, i);
    MlirValue to = c_arg[i] == SIZE_MAX ? p_yields[mlirOpResultGetResultNumber(v)] : tc__generic_arg(&g, c_arg[i]);
    tc__pairs_add(pairs, mlirBlockGetArgument(c->body, (intptr_t)i), to);
  }
  for (size_t i = 0; ok && i < c->n_outs; i++)
    tc__pairs_add(pairs, mlirBlockGetArgument(c->body, (intptr_t)(c->n_ins + i)), tc__generic_arg(&g, g.n_ins + i));
  MlirAffineMap same = {NULL};
  ok = ok && tc__body_clone(body, c->body, same, pairs, yields, &n);
  tc__free(pairs);
  if (!ok) {
    mlirBlockDestroy(g.block);
    return (MlirOperation){NULL};
  }
  for (size_t i = 0; keep && i < p->n_outs; i++)
    yields[n++] = p_yields[i];
  tc__str text = {0};
  join_text(&text, p->op);
  join_text(&text, c->op);
  int64_t read = tc__get_int(p->op, "tc.bytes_read", 0) + tc__get_int(c->op, "tc.bytes_read", 0);
  int64_t written = tc__get_int(p->op, "tc.bytes_written", 0) + tc__get_int(c->op, "tc.bytes_written", 0);
  MlirNamedAttribute attrs[3] = {tc__named(ctx, "tc.op", tc__attr_str(ctx, text.data ? text.data : "")),
                                 tc__named(ctx, "tc.bytes_read", tc__attr_i64(ctx, read)),
                                 tc__named(ctx, "tc.bytes_written", tc__attr_i64(ctx, written))};
  tc__str_free(&text);
  return tc__generic_end(&b, &g, yields, n, attrs, 3);
}

// All other users of the producer come after `position`.
static bool users_after(const tc__generic_view *p, MlirOperation position) {
  for (size_t r = 0; r < p->n_outs; r++)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(p->op, (intptr_t)r)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation owner = mlirOpOperandGetOwner(use);
      if (mlirOperationEqual(owner, position))
        continue;
      if (!mlirBlockEqual(mlirOperationGetBlock(owner), mlirOperationGetBlock(position))) // inside another op's body
        owner = mlirOperationGetParentOperation(owner);
      if (mlirOperationEqual(owner, position) || mlirOperationIsBeforeInBlock(owner, position))
        return false;
    }
  return true;
}

static MlirOperation top_level(MlirOperation op, MlirBlock block) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

// Everything the consumer needs but the producer is there at the producer's place.
static bool inputs_before(const tc__generic_view *c, MlirOperation p) {
  for (size_t i = 0; i < c->n_ins + c->n_outs; i++) {
    MlirOperation d = tc__def_op(mlirOperationGetOperand(c->op, (intptr_t)i));
    if (!mlirOperationIsNull(d) && !mlirOperationEqual(d, p) && !mlirOperationIsBeforeInBlock(d, p)) {
      if (tc__op_is(d, "tensor.empty") && mlirOperationGetNumOperands(d) == 0) { // free to move
        mlirOperationMoveBefore(d, p);
        continue;
      }
      return false;
    }
  }
  MlirBlock block = mlirOperationGetBlock(c->op);
  for (MlirOperation op = mlirBlockGetFirstOperation(c->body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      MlirOperation d = top_level(tc__def_op(mlirOperationGetOperand(op, i)), block);
      if (!mlirOperationIsNull(d) && !mlirOperationEqual(d, c->op) && !mlirOperationIsBeforeInBlock(d, p))
        return false;
    }
  return true;
}

static bool all_uses_are(const tc__generic_view *p, MlirOperation c) {
  for (size_t r = 0; r < p->n_outs; r++)
    if (!tc__only_user_is(mlirOperationGetResult(p->op, (intptr_t)r), c))
      return false;
  return true;
}

static bool is_dead(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return true;
}

// Fuses one producer into g's op. The new op replaces it; *g is read anew.
static bool fuse_one(tc__generic_view *g) {
  bool pointwise = tc__generic_is_pointwise(g);
  if (tc__generic_is_contraction(g) || (!pointwise && !g->has_reduction))
    return false;
  for (size_t i = 0; i < g->n_ins; i++) {
    tc__generic_view p;
    MlirOperation def = tc__def_op(tc__generic_in(g, i));
    if (!tc__generic_read(def, &p) || !tc__generic_is_pointwise(&p) || !mlirBlockEqual(mlirOperationGetBlock(def), mlirOperationGetBlock(g->op)))
      continue;
    if (g->n_ins + p.n_ins > MAX_INS || g->n_outs + p.n_outs > 6 || body_size(p.body) + body_size(g->body) > MAX_BODY)
      continue;
    MlirAffineMap map = g->maps[i];
    bool cheap = tc__generic_is_cheap(&p), sole = all_uses_are(&p, g->op), one_map = true;
    for (size_t k = 0; k < g->n_ins; k++)
      one_map &= !mlirOperationEqual(tc__def_op(tc__generic_in(g, k)), def) || mlirAffineMapEqual(g->maps[k], map);
    bool same_space = pointwise && mlirAffineMapIsIdentity(map) && p.n_loops == g->n_loops;
    int64_t p_sizes[TC_MAX_RANK * 2], g_sizes[TC_MAX_RANK * 2];
    tc__generic_sizes(&p, p_sizes);
    tc__generic_sizes(g, g_sizes);
    bool repeats = !(pointwise && same_space) && product(p_sizes, p.n_loops) < product(g_sizes, g->n_loops);
    // A reduction's loops must stay bound by its other operands once the producer's operands are read through composed maps.
    if (!pointwise) {
      bool bound = true;
      for (size_t l = 0; l < g->n_loops; l++) {
        bool found = false;
        for (size_t k = 0; k < g->n_ins + g->n_outs && !found; k++) {
          if (k < g->n_ins && mlirOperationEqual(tc__def_op(tc__generic_in(g, k)), def))
            continue;
          for (intptr_t r = 0; r < mlirAffineMapGetNumResults(g->maps[k]) && !found; r++) {
            MlirAffineExpr e = mlirAffineMapGetResult(g->maps[k], r);
            found = mlirAffineExprIsADim(e) && (size_t)mlirAffineDimExprGetPosition(e) == l;
          }
        }
        for (size_t k = 0; k < p.n_ins && !found; k++) {
          MlirAffineMap m = compose(p.maps[k], map);
          for (intptr_t r = 0; r < mlirAffineMapGetNumResults(m) && !found; r++) {
            MlirAffineExpr e = mlirAffineMapGetResult(m, r);
            found = mlirAffineExprIsADim(e) && (size_t)mlirAffineDimExprGetPosition(e) == l;
          }
        }
        bound &= found;
      }
      if (!bound)
        continue;
    }
    bool absorb = sole && one_map && (cheap || !repeats), repeat = !absorb && cheap, keep = false;
    MlirOperation at = g->op;
    if (!absorb && !repeat) {
      if (!same_space || !one_map)
        continue;
      keep = true;
      if (!users_after(&p, g->op)) {
        if (!inputs_before(g, p.op))
          continue;
        at = p.op;
      }
    }
    MlirOperation fused = fuse(&p, g, map, keep, at);
    if (mlirOperationIsNull(fused))
      continue;
    for (size_t r = 0; keep && r < p.n_outs; r++)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(p.op, (intptr_t)r), mlirOperationGetResult(fused, (intptr_t)(g->n_outs + r)));
    for (size_t r = 0; r < g->n_outs; r++)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(g->op, (intptr_t)r), mlirOperationGetResult(fused, (intptr_t)r));
    mlirOperationDestroy(g->op);
    if (is_dead(p.op))
      mlirOperationDestroy(p.op);
    return tc__generic_read(fused, g);
  }
  return false;
}

// Results that nothing reads any more are dropped from multi-result generics by rebuilding without them.
static void drop_dead_results(tc__generic_view *g) {
  bool dead[8] = {false}, any = false;
  for (size_t r = 0; r < g->n_outs && r < 8; r++) {
    dead[r] = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(g->op, (intptr_t)r)));
    any |= dead[r];
  }
  if (!any || g->n_outs < 2 || !tc__generic_is_pointwise(g))
    return;
  tc__builder b = tc__builder_before(g->op);
  tc__generic n = {.n_ins = g->n_ins, .n_loops = g->n_loops};
  for (size_t i = 0; i < g->n_ins; i++) {
    n.ins[i] = tc__generic_in(g, i);
    n.in_maps[i] = g->maps[i];
  }
  for (size_t r = 0; r < g->n_outs; r++)
    if (!dead[r]) {
      n.outs[n.n_outs] = tc__generic_out(g, r);
      n.out_maps[n.n_outs++] = g->maps[g->n_ins + r];
    }
  tc__builder *body = tc__generic_begin(&b, &n);
  tc__value_pairs *pairs = tc__calloc(1, sizeof *pairs);
  MlirValue all[16], yields[8];
  size_t count, kept = 0;
  for (size_t i = 0; pairs && i < g->n_ins; i++)
    tc__pairs_add(pairs, mlirBlockGetArgument(g->body, (intptr_t)i), tc__generic_arg(&n, i));
  bool ok = pairs && tc__body_clone(body, g->body, (MlirAffineMap){NULL}, pairs, all, &count);
  tc__free(pairs);
  if (!ok) {
    mlirBlockDestroy(n.block);
    return;
  }
  for (size_t r = 0; r < g->n_outs; r++)
    if (!dead[r])
      yields[kept++] = all[r];
  MlirNamedAttribute attrs[3];
  static const char *const names[] = {"tc.op", "tc.bytes_read", "tc.bytes_written"};
  size_t n_attrs = 0;
  for (int i = 0; i < 3; i++) {
    MlirAttribute a = mlirOperationGetAttributeByName(g->op, tc__sref(names[i]));
    if (!mlirAttributeIsNull(a))
      attrs[n_attrs++] = tc__named(b.ctx, names[i], a);
  }
  MlirOperation fresh = tc__generic_end(&b, &n, yields, kept, attrs, n_attrs);
  size_t at = 0;
  for (size_t r = 0; r < g->n_outs; r++)
    if (!dead[r])
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(g->op, (intptr_t)r), mlirOperationGetResult(fresh, (intptr_t)at++));
  mlirOperationDestroy(g->op);
}

static bool is_removable(MlirOperation op) {
  static const char *const names[] = {"linalg.generic",      "linalg.fill",      "tensor.empty", "tensor.expand_shape", "tensor.collapse_shape",
                                      "tensor.bitcast",      "tensor.cast",      "tensor.pad",   "arith.constant"};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (tc__op_is(op, names[i]))
      return true;
  return tc__op_kind(op) != TC_OP_COUNT;
}

static void erase_dead(MlirBlock block) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
      MlirOperation next = mlirOperationGetNextInBlock(op);
      if (is_removable(op) && is_dead(op)) {
        mlirOperationDestroy(op);
        changed = true;
      }
      op = next;
    }
  }
}

static void run_on_block(MlirBlock block) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
      MlirOperation next = mlirOperationGetNextInBlock(op);
      tc__generic_view g;
      if (tc__generic_read(op, &g)) {
        changed |= fold_views(&g);
        while (fuse_one(&g)) {
          changed = true;
          fold_views(&g);
        }
      }
      op = next;
    }
    erase_dead(block);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    tc__generic_view g;
    if (tc__generic_read(op, &g))
      drop_dead_results(&g);
    op = next;
  }
  erase_dead(block);
}

static tc_status find_tc(MlirOperation op, void *user) {
  if (tc__op_kind(op) != TC_OP_COUNT)
    *(bool *)user = true;
  return TC_OK;
}

tc_status tc__pass_fuse_pointwise(MlirOperation module, const tc__pass_options *options) {
  bool has_tc = false;
  TC_TRY(tc__walk(module, find_tc, &has_tc));
  if (has_tc)
    TC_TRY(tc__pass_convert_tc_to_linalg(module, options));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tc__op_is(op, "func.func"))
      continue;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(block))
      run_on_block(block);
  }
  return TC_OK;
}
