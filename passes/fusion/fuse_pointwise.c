// Merges each maximal group of pointwise ops into one linalg.generic: one pass over memory instead of one an op.
//
// before:                                            after:
//   %1 = linalg.generic {map (i)->(i)} ins(%x) {       %2 = linalg.generic {map (i)->(i)} ins(%x) {
//     %c = math.cos %in; yield %c }                      %c = math.cos %in
//   %2 = linalg.generic {map (i)->(i)} ins(%1) {         %s = math.sin %c
//     %s = math.sin %in; yield %s }                      yield %s } {tc.op = "cos sin"}
//
// Two ways to merge, until neither finds anything:
// 1. ops over the same space, one reading the other element by element (or both reading the same tensor), become one group with a
// result
//    for each value used outside: nothing is computed twice;
// 2. a producer read through another map (broadcast, permute, slice) is computed inside its reader, maps composed, when that is
// its only
//    reader and asks for no element twice, or when it is so cheap that computing it again costs less than a trip to memory.
// Pointwise ops right behind a contraction keep its space (they become its epilogue), so they are only merged with what keeps it
// too.
#include "fuse_pointwise.h"

/// A kernel's arguments and body must stay within what a GPU launch takes and a code generator likes.
enum { MAX_INPUTS = 32, MAX_RESULTS = 16, MAX_BODY = 360 };

typedef struct size {
  int inputs, results, body;
} size;

typedef struct state {
  tc__graph *g;
  bool *pointwise;
  bool *captures; ///< node -> its body reads tensors by tensor.extract
  int *anchor;    ///< node -> the last contraction whose result it follows element by element, -1 = none
  bool *inlined;  ///< node -> computed inside its readers
  int *members;
  size *sizes; ///< of groups (by root) while merging, of ops with what they compute inside while inlining
} state;

/// Operand i of op is read element by element over op's own space.
static bool reads_in_place(MlirOperation op, intptr_t i) {
  MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i)), space = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsAShaped(t) || !mlirAffineMapIsIdentity(tc__gen_map(op, i)) ||
      mlirShapedTypeGetRank(t) != mlirShapedTypeGetRank(space))
    return false;
  for (intptr_t d = 0, rank = mlirShapedTypeGetRank(t); d < rank; d++)
    if (mlirShapedTypeGetDimSize(t, d) != mlirShapedTypeGetDimSize(space, d))
      return false;
  return true;
}

static void find_anchors(state *s) {
  for (int i = 0; i < s->g->n; i++) {
    s->anchor[i] = -1;
    if (!s->pointwise[i])
      continue;
    MlirOperation op = s->g->ops[i];
    for (intptr_t k = 0, n = tc__gen_inputs(op); k < n; k++) {
      MlirOperation def = tc__def_op(mlirOperationGetOperand(op, k));
      int p = mlirOperationIsNull(def) ? -1 : tc__graph_node(s->g, def);
      if (p < 0 || !reads_in_place(op, k))
        continue;
      int a = tc__gen_is_contraction(def) ? p : s->anchor[p];
      if (a > s->anchor[i] && !tc__graph_escapes(s->g, i, a, s->anchor))
        s->anchor[i] = a;
    }
  }
}

/// Results that stay results when one pointwise reader is merged in.
static int kept_results(MlirOperation op) {
  int n = 0;
  for (intptr_t r = 0, rn = mlirOperationGetNumResults(op); r < rn; r++) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, r));
    n += !mlirOpOperandIsNull(use) &&
         (!mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)) || !tc__gen_is_pointwise(mlirOpOperandGetOwner(use)));
  }
  return n;
}

static size size_of(MlirOperation op) {
  size z = {(int)tc__gen_inputs(op), kept_results(op), 0};
  for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(op)); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    z.body++;
  return z;
}

/// The sizes together when they fit; shared: inputs of one that are results of the other, or read by both.
static bool fits(size a, size b, int shared, size *out) {
  *out = (size){a.inputs + b.inputs - shared, a.results + b.results, a.body + b.body};
  return out->inputs <= MAX_INPUTS && out->body <= MAX_BODY;
}

/// A body of one group looks up elements (tensor.extract) of what the other computes: all of it must exist before.
static bool looks_up(state *s, int a, int b) {
  for (int side = 0; side < 2; side++)
    for (int m = side ? b : a; m >= 0; m = s->g->next[m]) {
      if (!s->captures[m])
        continue;
      MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(s->g->ops[m]));
      for (; !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) {
        MlirOperation def = tc__op_is(o, "tensor.extract") ? tc__def_op(mlirOperationGetOperand(o, 0)) : (MlirOperation){NULL};
        int p = mlirOperationIsNull(def) ? -1 : tc__graph_node(s->g, def);
        if (p >= 0 && (tc__graph_group(s->g, p) == a || tc__graph_group(s->g, p) == b))
          return true;
      }
    }
  return false;
}

/// A reduction (no contraction, whose operands are packed) can compute what it reads as an input.
static bool can_compute_inside(MlirOperation p, MlirOperation reduction) {
  if (!tc__gen_is(reduction) || tc__gen_is_contraction(reduction) || tc__gen_all_parallel(reduction))
    return false;
  for (intptr_t i = tc__gen_inputs(reduction), n = mlirOperationGetNumOperands(reduction); i < n; i++)
    if (mlirOperationEqual(tc__def_op(mlirOperationGetOperand(reduction, i)), p))
      return false;
  return true;
}

/// Cheap, and reading its inputs costs no more than reading its result.
static bool costs_no_more(MlirOperation op) {
  if (!tc__gen_is_cheap(op))
    return false;
  int64_t in = 0, elements = tc__mlir_type_elements(mlirValueGetType(mlirOperationGetResult(op, 0)));
  int64_t out = tc__mlir_type_bytes(mlirValueGetType(mlirOperationGetResult(op, 0)));
  for (intptr_t k = 0, n = tc__gen_inputs(op); k < n; k++) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, k));
    int64_t bytes = tc__mlir_type_bytes(t), count = tc__mlir_type_elements(t);
    in += count > elements && elements > 0 ? bytes / count * elements : bytes;
  }
  return in <= out + out / 8 || tc__gen_only_moves(op);
}

/// Such as the square before a sum: computed where it is summed, it is never written. Merging it with what it reads would make it
/// a result.
static bool feeds_reductions(state *s, int c) {
  const tc__graph *g = s->g;
  bool all = mlirOperationGetNumResults(g->ops[c]) == 1 && g->succ_begin[c] < g->succ_begin[c + 1];
  for (int k = g->succ_begin[c]; k < g->succ_begin[c + 1] && all; k++)
    all = can_compute_inside(g->ops[c], g->ops[g->succ[k]]);
  return all && costs_no_more(g->ops[c]);
}

static void try_merge(state *s, int p, int c, bool sibling) {
  int a = tc__graph_group(s->g, p), b = tc__graph_group(s->g, c);
  if (a == b)
    return;
  int pa = s->anchor[a], ca = s->anchor[b];
  if (sibling ? pa >= 0 || ca >= 0 : pa >= 0 && pa != ca)
    return;
  size together;
  if (!fits(s->sizes[a], s->sizes[b], 1, &together) || together.results >= MAX_RESULTS || looks_up(s, a, b) ||
      tc__graph_would_cycle(s->g, a, b))
    return;
  tc__graph_merge(s->g, a, b);
  a = tc__graph_group(s->g, a);
  s->anchor[a] = pa > ca ? pa : ca;
  s->sizes[a] = together;
}

/// Merges what shares a space. Vertical first: siblings take what is left.
static void merge_same_space(state *s) {
  tc__graph *g = s->g;
  for (int c = 0; c < g->n; c++)
    if (s->pointwise[c] && !feeds_reductions(s, c))
      for (intptr_t k = 0, n = tc__gen_inputs(g->ops[c]); k < n; k++) {
        MlirOperation def = tc__def_op(mlirOperationGetOperand(g->ops[c], k));
        int p = mlirOperationIsNull(def) ? -1 : tc__graph_node(g, def);
        if (p >= 0 && s->pointwise[p] && reads_in_place(g->ops[c], k))
          try_merge(s, p, c, false);
      }
  tc__ptrmap reader = {0}; // tensor -> a pointwise op that reads it in place, + 1
  for (int c = 0; c < g->n; c++)
    if (s->pointwise[c] && !feeds_reductions(s, c))
      for (intptr_t k = 0, n = tc__gen_inputs(g->ops[c]); k < n; k++) {
        MlirValue v = mlirOperationGetOperand(g->ops[c], k);
        if (!reads_in_place(g->ops[c], k))
          continue;
        int other = (int)(intptr_t)tc__ptrmap_get(&reader, v.ptr) - 1;
        if (other >= 0)
          try_merge(s, other, c, true);
        if (!tc__ptrmap_set(&reader, v.ptr, (void *)(intptr_t)(c + 1)))
          break;
      }
  tc__ptrmap_free(&reader);
}

static bool in_group(void *user, MlirOperation producer, MlirOperation consumer) {
  state *s = user;
  int p = tc__graph_node(s->g, producer), c = tc__graph_node(s->g, consumer);
  return p >= 0 && c >= 0 && s->pointwise[p] && tc__graph_group(s->g, p) == tc__graph_group(s->g, c);
}

static int by_position(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/// Builds the generic of the group of root and moves the uses over. *out_count of members.
static tc_status build_group(state *s, int root) {
  tc__graph *g = s->g;
  int n = 0;
  for (int m = root; m >= 0; m = g->next[m])
    s->members[n++] = m;
  if (n < 2)
    return TC_OK;
  qsort(s->members, (size_t)n, sizeof *s->members, by_position);
  MlirValue *values = NULL;
  size_t count = 0, capacity = 0;
  for (int i = 0; i < n; i++) {
    MlirOperation op = g->ops[s->members[i]];
    for (intptr_t r = 0, rn = mlirOperationGetNumResults(op); r < rn; r++) {
      MlirValue v = mlirOperationGetResult(op, r);
      bool outside = false;
      for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use) && !outside;
           use = mlirOpOperandGetNextUse(use)) {
        int user = tc__graph_node(g, mlirOpOperandGetOwner(use));
        outside = user < 0 || tc__graph_group(g, user) != root;
      }
      if (!outside)
        continue;
      if (count == capacity) {
        MlirValue *more = tc__realloc(values, (capacity = capacity ? capacity * 2 : 8) * sizeof *values);
        if (!more) {
          tc__free(values);
          return tc__oom();
        }
        values = more;
      }
      values[count++] = v;
    }
  }
  tc_status status = TC_OK;
  if (count) {
    MlirOperation fused = tc__gen_fuse(g->ops[s->members[n - 1]], values, count, in_group, s);
    if (mlirOperationIsNull(fused))
      status = TC_ERR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && status == TC_OK; i++)
      mlirValueReplaceAllUsesOfWith(values[i], mlirOperationGetResult(fused, (intptr_t)i));
  }
  tc__free(values);
  return status;
}

static int64_t domain_of(MlirOperation op) {
  int64_t n = 1;
  for (intptr_t l = 0, loops = tc__gen_loops(op); l < loops; l++) {
    int64_t size = tc__gen_loop_size(op, l);
    n = size < 0 || n < 0 ? -1 : n * size;
  }
  return n;
}

/// Producer p, read by c through another map than the identity: is it better computed inside c?
static bool pays_inside(state *s, int p, int only_reader) {
  MlirOperation op = s->g->ops[p];
  int64_t elements = tc__mlir_type_elements(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (elements == 1)
    return true; // a scalar: loops keep it in a register
  if (s->anchor[p] >= 0)
    return feeds_reductions(s, p);
  if (only_reader >= 0) {
    int64_t domain = domain_of(s->g->ops[only_reader]);
    if (domain >= 0 && elements >= 0 && domain <= elements)
      return true;
  }
  return costs_no_more(op);
}

static void decide_inlined(state *s) {
  tc__graph *g = s->g;
  for (int p = 0; p < g->n; p++) {
    s->inlined[p] = false;
    if (!s->pointwise[p] || mlirOperationGetNumResults(g->ops[p]) != 1)
      continue;
    int reader = -1;
    bool all = g->succ_begin[p] < g->succ_begin[p + 1], several = false;
    for (int k = g->succ_begin[p]; k < g->succ_begin[p + 1] && all; k++) {
      all = s->pointwise[g->succ[k]] || can_compute_inside(g->ops[p], g->ops[g->succ[k]]);
      several |= reader >= 0 && reader != g->succ[k];
      reader = g->succ[k];
    }
    // An out operand is no reader that could compute it.
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(g->ops[p], 0)); all && !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      all = tc__graph_node(g, mlirOpOperandGetOwner(use)) >= 0 && // not a tensor that a body looks up
            (intptr_t)mlirOpOperandGetOperandNumber(use) < tc__gen_inputs(mlirOpOperandGetOwner(use));
    if (!all)
      continue;
    if (!pays_inside(s, p, several ? -1 : reader))
      continue;
    bool small = true;
    size together;
    for (int k = g->succ_begin[p]; k < g->succ_begin[p + 1] && small; k++)
      small = fits(s->sizes[p], s->sizes[g->succ[k]], 1, &together);
    for (int k = g->succ_begin[p]; k < g->succ_begin[p + 1] && small; k++)
      if (k == g->succ_begin[p] || g->succ[k] != g->succ[k - 1])
        fits(s->sizes[p], s->sizes[g->succ[k]], 1, &s->sizes[g->succ[k]]);
    s->inlined[p] = small;
  }
}

static bool is_inlined(void *user, MlirOperation producer, MlirOperation consumer) {
  (void)consumer;
  state *s = user;
  int p = tc__graph_node(s->g, producer);
  return p >= 0 && s->inlined[p];
}

static tc_status build_readers(state *s, bool *changed) {
  tc__graph *g = s->g;
  for (int c = 0; c < g->n; c++) {
    if (s->inlined[c] || !tc__gen_is(g->ops[c]) || tc__gen_is_contraction(g->ops[c]))
      continue;
    bool any = false;
    for (int k = g->pred_begin[c]; k < g->pred_begin[c + 1] && !any; k++)
      any = s->inlined[g->pred[k]];
    for (intptr_t k = 0, n = tc__gen_inputs(g->ops[c]); k < n && s->pointwise[c] && !any; k++)
      any = tc__value_is_splat(mlirOperationGetOperand(g->ops[c], k));
    any = any || (s->pointwise[c] && tc__gen_reads_outs(g->ops[c])); // the out becomes an input, or a scalar
    if (!any)
      continue;
    MlirOperation op = g->ops[c];
    intptr_t n = mlirOperationGetNumResults(op);
    MlirValue *values = tc__alloc((size_t)n * sizeof *values);
    if (!values)
      return tc__oom();
    for (intptr_t r = 0; r < n; r++)
      values[r] = mlirOperationGetResult(op, r);
    MlirOperation fused = tc__gen_fuse(op, values, (size_t)n, is_inlined, s);
    for (intptr_t r = 0; r < n && !mlirOperationIsNull(fused); r++)
      mlirValueReplaceAllUsesOfWith(values[r], mlirOperationGetResult(fused, r));
    tc__free(values);
    if (mlirOperationIsNull(fused))
      return TC_ERR_OUT_OF_MEMORY;
    *changed = true;
  }
  return TC_OK;
}

static tc_status state_create(MlirBlock block, tc__graph *g, state *s) {
  TC_TRY(tc__graph_create(block, g));
  size_t n = (size_t)g->n + 1;
  *s = (state){.g = g,
               .pointwise = tc__calloc(n, sizeof(bool)),
               .captures = tc__calloc(n, sizeof(bool)),
               .anchor = tc__calloc(n, sizeof(int)),
               .inlined = tc__calloc(n, sizeof(bool)),
               .members = tc__alloc(n * sizeof(int)),
               .sizes = tc__calloc(n, sizeof(size))};
  if (!s->pointwise || !s->captures || !s->anchor || !s->inlined || !s->members || !s->sizes)
    return tc__oom();
  for (int i = 0; i < g->n; i++) {
    s->pointwise[i] = tc__gen_is_pointwise(g->ops[i]);
    if (!tc__gen_is(g->ops[i]))
      continue;
    s->sizes[i] = size_of(g->ops[i]);
    for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(g->ops[i])); !mlirOperationIsNull(o) && !s->captures[i];
         o = mlirOperationGetNextInBlock(o))
      s->captures[i] = tc__op_is(o, "tensor.extract");
  }
  find_anchors(s);
  return TC_OK;
}

static void state_destroy(state *s) {
  tc__free(s->pointwise);
  tc__free(s->captures);
  tc__free(s->anchor);
  tc__free(s->inlined);
  tc__free(s->members);
  tc__free(s->sizes);
  tc__graph_destroy(s->g);
}

/// One round of one of the two ways.
static tc_status fuse_round(MlirBlock block, bool merge, bool *changed) {
  tc__graph g = {0};
  state s = {.g = &g};
  tc_status status = state_create(block, &g, &s);
  if (status == TC_OK && merge) {
    merge_same_space(&s);
    for (int i = 0; i < g.n && status == TC_OK; i++)
      if (tc__graph_group(&g, i) == i && g.next[i] >= 0) {
        *changed = true;
        status = build_group(&s, i);
      }
  } else if (status == TC_OK) {
    decide_inlined(&s);
    status = build_readers(&s, changed);
  }
  state_destroy(&s);
  if (status == TC_OK && merge)
    status = tc__block_sort(block);
  if (status == TC_OK)
    tc__block_dce(block);
  return status;
}

static tc_status fuse_block(MlirBlock block) {
  TC_TRY(tc__fuse_normalize(block));
  bool changed = true;
  for (int round = 0; round < 16 && changed; round++) {
    changed = false;
    TC_TRY(tc__fuse_move_reshapes(block, &changed));
    TC_TRY(fuse_round(block, true, &changed));
    TC_TRY(fuse_round(block, false, &changed));
  }
  return TC_OK;
}

static tc_status has_tc(MlirOperation op, void *user) {
  if (tc__op_kind(op) != TC_OP_COUNT)
    *(bool *)user = true;
  return TC_OK;
}

tc_status tc__pass_fuse_pointwise(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  // A tc op may also be one that stays (sort, gather): converting again finds nothing to do.
  bool tc_ops = false;
  TC_TRY(tc__walk(module, has_tc, &tc_ops));
  if (tc_ops)
    TC_TRY(tc__pass_convert_tc_to_linalg(module, &(tc__pass_options){""}));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute kernel = mlirOperationGetAttributeByName(op, tc__sref("tc.kernel"));
    if (!tc__op_is(op, "func.func") || !mlirAttributeIsNull(kernel))
      continue;
    MlirRegion region = mlirOperationGetRegion(op, 0);
    MlirBlock block = mlirRegionGetFirstBlock(region);
    if (!mlirBlockIsNull(block) && mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
      TC_TRY(fuse_block(block));
  }
  return TC_OK;
}
