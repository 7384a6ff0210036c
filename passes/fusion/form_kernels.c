// form-kernels: linalg ops become kernel functions that a straight-line host function calls.
//
//   %m = linalg.generic {max over d1} ins(%x)      %e = linalg.generic {exp(x - m)} ...      %s = linalg.generic {sum over d1} ...
// becomes
//   %y = call @softmax_0(%x)
//   func.func private @softmax_0(...) attributes {tc.kernel = "reduction", tc.outer = 1 : i64, ...} { the generics }
//
// A group starts at a generic and takes in later ones that read its values, as long as all of them share their first `outer` dims: every value carried
// inside has them as its leading dims. A contraction takes in the pointwise ops over its result. What depends on the group without being in it moves
// behind the call. Identical kernels become one function.
#include "pass.h"
#include "fuse_pointwise.h"
#include "support/generic.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_MEMBERS = 12, MAX_VALUES = 64, MAX_INNER = 1 << 20, LONG_ROW = 1 << 16, FEW_ROWS = 32 };

typedef struct group {
  tc__generic_view members[MAX_MEMBERS];
  size_t n;
  int outer;
  bool contraction, reduction;
  MlirOperation *tainted; // what waits for the group without being in it
  size_t n_tainted;
  tc__str not_fused; // "div: why; sort: why" of what reads the group's values
} group;

// What depends on what in the block, kept while groups become calls: a call stands for the group of its members' nodes.
typedef struct depend {
  tc__graph graph;
  int *member, *taint; // by group root: the round that put it in the group or behind it
  int round;
} depend;

typedef struct former {
  MlirOperation module;
  MlirContext ctx;
  bool fuse, explain;
  int count;
  char **texts; // printed kernels, to find identical ones
  char **names;
  size_t n_kernels, capacity;
} former;

// ---- growing a group ----------------------------------------------------------------------------------------------------------------------------

static const tc__generic_view *member_of(const group *g, MlirValue v) {
  MlirOperation def = tc__def_op(v);
  for (size_t i = 0; i < g->n; i++)
    if (mlirOperationEqual(g->members[i].op, def))
      return &g->members[i];
  return NULL;
}

static int node_of(depend *d, MlirOperation op) {
  int node = tc__graph_node(&d->graph, op);
  return node < 0 ? -1 : tc__graph_group(&d->graph, node);
}

static void depends(depend *d, int node, bool *on_group, bool *on_taint) {
  const tc__graph *g = &d->graph;
  *on_group = *on_taint = false;
  for (int m = node; m >= 0; m = g->next[m])
    for (int k = g->pred_begin[m]; k < g->pred_begin[m + 1]; k++) {
      int p = tc__graph_group(&d->graph, g->pred[k]);
      *on_group |= p != node && d->member[p] == d->round;
      *on_taint |= p != node && d->taint[p] == d->round;
    }
}

static intptr_t dim_of(MlirAffineMap map, intptr_t result) {
  MlirAffineExpr e = mlirAffineMapGetResult(map, result);
  return mlirAffineExprIsADim(e) ? mlirAffineDimExprGetPosition(e) : -1;
}

static bool same_dim(MlirValue a, MlirValue b, int d) {
  MlirType s = mlirValueGetType(a), t = mlirValueGetType(b);
  return d < mlirShapedTypeGetRank(s) && d < mlirShapedTypeGetRank(t) && mlirShapedTypeGetDimSize(s, d) == mlirShapedTypeGetDimSize(t, d);
}

// The longest prefix of outer dims that x keeps: the same parallel loops at the head of every group value it reads and of its own results.
static int common_prefix(const group *g, const tc__generic_view *x, int outer) {
  int p = outer;
  for (size_t r = 0; r < x->n_outs; r++) {
    int rank = (int)mlirAffineMapGetNumResults(x->maps[x->n_ins + r]);
    p = rank < p ? rank : p;
  }
  for (int o = 0; o < p; o++) {
    intptr_t loop = dim_of(x->maps[x->n_ins], o);
    bool fits = loop >= 0 && !x->reduction[loop];
    for (size_t r = 0; r < x->n_outs; r++)
      fits &= dim_of(x->maps[x->n_ins + r], o) == loop;
    for (size_t i = 0; i < x->n_ins && fits; i++)
      if (member_of(g, tc__generic_in(x, i))) // all of the dim: a slice of it runs over other steps
        fits = same_dim(tc__generic_in(x, i), mlirOperationGetResult(x->op, 0), o) && o < mlirAffineMapGetNumResults(x->maps[i]) && dim_of(x->maps[i], o) == loop;
    if (!fits)
      return o;
  }
  return p;
}

static int64_t inner_elements(const tc__generic_view *x, int outer) {
  MlirType t = mlirValueGetType(mlirOperationGetResult(x->op, 0));
  int64_t n = 1;
  for (intptr_t d = outer; d < mlirShapedTypeGetRank(t); d++)
    n *= mlirShapedTypeIsDynamicDim(t, d) ? 1 : mlirShapedTypeGetDimSize(t, d);
  return n;
}

static tc_status find_capture(MlirOperation op, void *user) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (member_of(user, mlirOperationGetOperand(op, i)))
      return TC_ERR_INTERNAL; // stops the walk: found
  return TC_OK;
}

static bool captures_group(group *g, const tc__generic_view *x) { return tc__walk(x->op, find_capture, g) != TC_OK; }

static bool inner_too_large(const tc__generic_view *x, int outer) {
  // A row is one task: few of them and long ones would leave most of the machine idle.
  MlirType t = mlirValueGetType(mlirOperationGetResult(x->op, 0));
  int64_t tasks = 1, inner = inner_elements(x, outer);
  for (int d = 0; d < outer && d < mlirShapedTypeGetRank(t); d++)
    tasks *= mlirShapedTypeIsDynamicDim(t, d) ? 1 : mlirShapedTypeGetDimSize(t, d);
  return inner > MAX_INNER || (inner > LONG_ROW && tasks < FEW_ROWS);
}

// NULL when x can join, with the dims that are shared then; else why not.
static const char *why_not(group *g, const tc__generic_view *x, int *out_outer) {
  if (g->n == MAX_MEMBERS)
    return "the kernel is full";
  if (tc__generic_is_contraction(x))
    return "a contraction packs its operands";
  if (captures_group(g, x))
    return "it looks up elements anywhere in the result";
  if (g->contraction) {
    if (!tc__generic_is_pointwise(x))
      return "only pointwise ops follow a contraction in its kernel";
    for (size_t i = 0; i < x->n_ins; i++)
      if (member_of(g, tc__generic_in(x, i)) && !mlirAffineMapIsIdentity(x->maps[i]))
        return "it reads the contraction's result in another order or shape";
    *out_outer = g->outer;
    return (int)x->n_loops == g->outer ? NULL : "it runs over another space than the contraction's result";
  }
  int p = common_prefix(g, x, g->outer);
  if (p == 0)
    return "they share no leading dim that both can run over in parallel";
  if (inner_too_large(x, p))
    return "too few and too long rows to be one task each";
  for (size_t i = 0; i < g->n; i++) // rows of internal values live in scratch memory
    if (inner_too_large(&g->members[i], p))
      return "too few and too long rows to be one task each";
  // Two pointwise ops that fuse-pointwise kept apart gain nothing from sharing a kernel unless a row is carried.
  if (!g->reduction && !x->has_reduction && p == g->outer && p == (int)x->n_loops)
    return "computing it again, or waiting for it, would cost more than memory traffic";
  *out_outer = p;
  return NULL;
}

static void note(group *g, MlirOperation op, const char *reason) {
  if (g->not_fused.size > 400)
    return;
  if (g->not_fused.size)
    tc__str_append(&g->not_fused, "; ");
  tc__op_label(op, &g->not_fused);
  tc__str_append(&g->not_fused, ": ");
  tc__str_append(&g->not_fused, reason);
}

static void grow(const former *f, depend *d, group *g) {
  MlirOperation start = g->members[0].op;
  d->round++;
  d->member[node_of(d, start)] = d->round;
  for (MlirOperation op = mlirOperationGetNextInBlock(start); !mlirOperationIsNull(op) && f->fuse; op = mlirOperationGetNextInBlock(op)) {
    int node = node_of(d, op);
    bool on_group, on_taint;
    if (node < 0)
      continue;
    depends(d, node, &on_group, &on_taint);
    if (!on_group && !on_taint)
      continue;
    tc__generic_view x;
    int outer;
    bool generic = tc__gen_is(op);
    const char *reason = !generic                    ? "it is no linalg op"
                         : on_taint                  ? "it also waits for an op outside of the kernel that waits for the kernel"
                         : !tc__generic_read(op, &x) ? "it has too many operands"
                                                     : why_not(g, &x, &outer);
    if (!reason) {
      g->members[g->n++] = x;
      g->outer = outer;
      g->reduction |= x.has_reduction;
      d->member[node] = d->round;
    } else {
      if (on_group && (generic || tc__op_kind(op) != TC_OP_COUNT))
        note(g, op, reason);
      g->tainted[g->n_tainted++] = op;
      d->taint[node] = d->round;
    }
  }
}

// ---- outlining ----------------------------------------------------------------------------------------------------------------------------------

typedef struct outline {
  const group *g;
  tc__value_pairs pairs;
  MlirValue args[MAX_VALUES];
  size_t n_args;
  MlirBlock block;
  MlirBlock host;
  tc__builder body;
  bool failed;
} outline;

// Ops that are cheaper to have inside than to pass: what they make is cloned into the kernel.
static bool is_internal(MlirOperation op) {
  if (tc__op_is(op, "tensor.empty") || tc__op_is(op, "linalg.fill") || tc__op_is(op, "tensor.pad"))
    return true;
  if (tc__op_is(op, "arith.constant"))
    return !mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (tc__op_is(op, "tensor.expand_shape")) { // of a pad
    MlirOperation source = tc__def_op(mlirOperationGetOperand(op, 0));
    return !mlirOperationIsNull(source) && tc__op_is(source, "tensor.pad");
  }
  return false;
}

static void clone_into(outline *o, MlirOperation op);

static void bring(outline *o, MlirValue v) {
  for (size_t i = 0; i < o->pairs.n; i++)
    if (mlirValueEqual(o->pairs.from[i], v))
      return;
  MlirOperation def = tc__def_op(v);
  if (!mlirOperationIsNull(def) && !mlirBlockEqual(mlirOperationGetBlock(def), o->host))
    return; // defined inside a region that is cloned whole
  if (mlirOperationIsNull(def) && !mlirBlockEqual(mlirBlockArgumentGetOwner(v), o->host))
    return;
  if (!mlirOperationIsNull(def) && is_internal(def)) {
    clone_into(o, def);
    return;
  }
  if (o->n_args == MAX_VALUES) {
    o->failed = true;
    return;
  }
  o->args[o->n_args++] = v;
  tc__pairs_add(&o->pairs, v, mlirBlockAddArgument(o->block, mlirValueGetType(v), mlirLocationUnknownGet(o->body.ctx)));
}

static tc_status bring_nested(MlirOperation op, void *user) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    bring(user, mlirOperationGetOperand(op, i));
  return TC_OK;
}

typedef struct renaming {
  const tc__value_pairs *pairs;
} renaming;

static tc_status rename_nested(MlirOperation op, void *user) {
  const renaming *r = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i), to = tc__pairs_get(r->pairs, v);
    if (!mlirValueEqual(v, to))
      mlirOperationSetOperand(op, i, to);
  }
  return TC_OK;
}

static void clone_into(outline *o, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    bring(o, mlirOperationGetOperand(op, i));
  if (mlirOperationGetNumRegions(op) && tc__walk(op, bring_nested, o) != TC_OK)
    o->failed = true;
  MlirOperation copy = mlirOperationClone(op);
  renaming r = {&o->pairs};
  rename_nested(copy, &r);
  if (mlirOperationGetNumRegions(copy) && tc__walk(copy, rename_nested, &r) != TC_OK)
    o->failed = true;
  mlirBlockAppendOwnedOperation(o->block, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    tc__pairs_add(&o->pairs, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
}

static int64_t bytes_of(MlirValue v) {
  tc__type t;
  int64_t bytes = tc__type_from_mlir(mlirValueGetType(v), &t) ? tc__type_bytes(&t) : 0;
  return bytes > 0 ? bytes : 0;
}

// "exp sub exp" as a list of words without repeats, and a C-like name of the first of them.
static void summarise(const group *g, tc__str *summary, char *name, size_t size) {
  for (size_t i = 0; i < g->n; i++) {
    MlirStringRef text;
    if (!tc__get_str(g->members[i].op, "tc.op", &text) || !text.length)
      continue;
    if (summary->size)
      tc__str_append(summary, " ");
    tc__str_append_n(summary, text.data, text.length);
  }
  if (!summary->size)
    tc__str_append(summary, g->contraction ? "contraction" : g->reduction ? "reduce" : "pointwise");
  size_t at = 0;
  int words = 0;
  const char *last = NULL;
  size_t last_n = 0;
  for (const char *c = summary->data; *c && words < 5;) {
    size_t n = strcspn(c, " ");
    bool repeat = last && n == last_n && strncmp(last, c, n) == 0;
    if (n && !repeat && at + n + 2 < size) {
      if (words++)
        name[at++] = '_';
      for (size_t i = 0; i < n; i++)
        name[at++] = isalnum((unsigned char)c[i]) ? c[i] : '_';
    }
    last = c;
    last_n = n;
    c += n + (c[n] == ' ');
  }
  name[at] = 0;
}

static tc_status add_known(former *f, char *text, const char *name) {
  if (f->n_kernels == f->capacity) {
    size_t capacity = f->capacity ? f->capacity * 2 : 64;
    char **texts = tc__realloc(f->texts, capacity * sizeof *texts), **names;
    if (texts)
      f->texts = texts;
    names = tc__realloc(f->names, capacity * sizeof *names);
    if (names)
      f->names = names;
    if (!texts || !names)
      return tc__oom();
    f->capacity = capacity;
  }
  char *copy = tc__strdup(name);
  if (!copy)
    return tc__oom();
  f->texts[f->n_kernels] = text;
  f->names[f->n_kernels++] = copy;
  return TC_OK;
}

static double product_of_loops(const tc__generic_view *g) {
  int64_t sizes[TC_MAX_RANK * 2];
  double p = 1;
  tc__generic_sizes(g, sizes);
  for (size_t i = 0; i < g->n_loops; i++)
    p *= sizes[i] > 0 ? (double)sizes[i] : 1;
  return p;
}

static void remark(MlirOperation call, const char *kernel, const char *text) {
  tc__str where = {0};
  tc__loc_format(mlirOperationGetLocation(call), &where);
  tc__report(TC_SEVERITY_REMARK, where.data, "%s: not fused: %s", kernel, text);
  tc__str_free(&where);
}

static tc_status outline_group(former *f, depend *d, group *g) {
  MlirOperation last = g->members[g->n - 1].op;
  outline *o = tc__calloc(1, sizeof *o);
  if (!o)
    return tc__oom();
  o->g = g;
  o->block = mlirBlockCreate(0, NULL, NULL);
  o->host = mlirOperationGetBlock(last);
  o->body = tc__builder_at_end(o->block, mlirOperationGetLocation(last));
  for (size_t i = 0; i < g->n; i++)
    clone_into(o, g->members[i].op);
  // Results: what is read outside of the group.
  MlirValue outside[MAX_VALUES], returned[MAX_VALUES];
  MlirType arg_types[MAX_VALUES], result_types[MAX_VALUES];
  size_t n_results = 0;
  for (size_t i = 0; i < g->n && !o->failed; i++)
    for (size_t r = 0; r < g->members[i].n_outs; r++) {
      MlirValue v = mlirOperationGetResult(g->members[i].op, (intptr_t)r);
      bool used = false;
      for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation owner = mlirOpOperandGetOwner(use);
        bool inside = false;
        for (size_t k = 0; k < g->n; k++)
          inside |= mlirOperationEqual(g->members[k].op, owner);
        used |= !inside;
      }
      if (!used)
        continue;
      if (n_results == MAX_VALUES) {
        o->failed = true;
        break;
      }
      outside[n_results] = v;
      result_types[n_results] = mlirValueGetType(v);
      returned[n_results++] = tc__pairs_get(&o->pairs, v);
    }
  if (o->failed) {
    mlirBlockDestroy(o->block);
    tc__free(o);
    return tc__error_at(mlirOperationGetLocation(last), TC_ERR_UNSUPPORTED, "a kernel with more than %d operands", MAX_VALUES);
  }
  tc__build(&o->body, "func.return", returned, n_results, NULL, 0, NULL, 0, NULL, 0);
  for (size_t i = 0; i < o->n_args; i++)
    arg_types[i] = mlirValueGetType(o->args[i]);

  tc__str summary = {0};
  char name[96], symbol[128];
  summarise(g, &summary, name, sizeof name);
  snprintf(symbol, sizeof symbol, "%s_%d", name, f->count);
  int64_t read = 0, written = 0;
  double flops = 0;
  for (size_t i = 0; i < g->n; i++) {
    MlirOperation op = g->members[i].op;
    int64_t in = 0, out = 0;
    for (size_t k = 0; k < g->members[i].n_ins; k++)
      in += bytes_of(tc__generic_in(&g->members[i], k));
    for (size_t k = 0; k < g->members[i].n_outs; k++)
      out += bytes_of(mlirOperationGetResult(op, (intptr_t)k));
    read += tc__get_int(op, "tc.bytes_read", in);
    written += tc__get_int(op, "tc.bytes_written", out);
    if (tc__generic_is_contraction(&g->members[i]))
      flops += 2 * product_of_loops(&g->members[i]);
  }
  MlirContext ctx = f->ctx;
  const char *kind = g->contraction ? "contraction" : g->reduction ? "reduction" : "pointwise";
  MlirType type = mlirFunctionTypeGet(ctx, (intptr_t)o->n_args, arg_types, (intptr_t)n_results, result_types);
  MlirNamedAttribute attrs[9] = {tc__named(ctx, "sym_name", tc__attr_str(ctx, "kernel")),
                                 tc__named(ctx, "function_type", mlirTypeAttrGet(type)),
                                 tc__named(ctx, "sym_visibility", tc__attr_str(ctx, "private")),
                                 tc__named(ctx, "tc.kernel", tc__attr_str(ctx, kind)),
                                 tc__named(ctx, "tc.summary", tc__attr_str(ctx, summary.data ? summary.data : "")),
                                 tc__named(ctx, "tc.outer", tc__attr_i64(ctx, g->outer)),
                                 tc__named(ctx, "tc.unfused_read", tc__attr_i64(ctx, read)),
                                 tc__named(ctx, "tc.unfused_write", tc__attr_i64(ctx, written)),
                                 tc__named(ctx, "tc.flops", tc__attr_i64(ctx, flops < 9e18 ? (int64_t)flops : 0))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, o->block);
  tc__builder at_end = tc__builder_at_end(mlirRegionGetFirstBlock(mlirOperationGetRegion(f->module, 0)), mlirOperationGetLocation(last));
  MlirOperation func = tc__build(&at_end, "func.func", NULL, 0, NULL, 0, attrs, 9, &region, 1);
  tc__str_free(&summary);

  // One function for identical kernels: compared by their text, which has no locations.
  tc__str text = {0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsAssumeVerified(flags);
  mlirOpPrintingFlagsUseLocalScope(flags); // else each print would number the whole module first
  mlirOperationPrintWithFlags(func, flags, tc__print_to_str, &text);
  mlirOpPrintingFlagsDestroy(flags);
  const char *callee = NULL;
  tc_status status = text.oom || !text.data ? tc__oom() : TC_OK;
  for (size_t i = 0; i < f->n_kernels && status == TC_OK && !callee; i++)
    if (strcmp(f->texts[i], text.data) == 0)
      callee = f->names[i];
  if (callee) {
    mlirOperationDestroy(func);
    tc__str_free(&text);
  } else if (status == TC_OK) {
    mlirOperationSetAttributeByName(func, tc__sref("sym_name"), tc__attr_str(ctx, symbol));
    f->count++;
    status = add_known(f, text.data, symbol);
    callee = symbol;
  }
  if (status != TC_OK) {
    tc__free(o);
    return status;
  }
  tc__builder b = tc__builder_before(last);
  MlirNamedAttribute attr = tc__named(ctx, "callee", mlirFlatSymbolRefAttrGet(ctx, tc__sref(callee)));
  MlirOperation call = tc__build(&b, "func.call", o->args, o->n_args, result_types, n_results, &attr, 1, NULL, 0);
  for (size_t i = 0; i < n_results; i++)
    mlirValueReplaceAllUsesOfWith(outside[i], mlirOperationGetResult(call, (intptr_t)i));
  if (g->not_fused.data) {
    mlirOperationSetAttributeByName(call, tc__sref("tc.not_fused"), tc__attr_str(ctx, g->not_fused.data));
    if (f->explain)
      remark(call, callee, g->not_fused.data);
  }
  int root = node_of(d, last);
  for (size_t i = 0; i + 1 < g->n; i++)
    tc__graph_merge(&d->graph, root, node_of(d, g->members[i].op));
  if (!tc__ptrmap_set(&d->graph.index, call.ptr, (void *)(intptr_t)(root + 1))) {
    tc__free(o);
    return tc__oom();
  }
  // What waits for the group and stands before its last member follows the call.
  MlirOperation after = mlirOperationGetNextInBlock(last);
  for (size_t i = 0; i < g->n_tainted; i++)
    if (mlirOperationIsBeforeInBlock(g->tainted[i], last))
      mlirOperationMoveBefore(g->tainted[i], after);
  for (size_t i = g->n; i-- > 0;)
    mlirOperationDestroy(g->members[i].op);
  tc__free(o);
  return TC_OK;
}

static tc_status form_in(former *f, MlirBlock block) {
  depend d = {0};
  TC_TRY(tc__graph_create(block, &d.graph));
  size_t n = (size_t)d.graph.n + 1;
  d.member = tc__calloc(n, sizeof *d.member);
  d.taint = tc__calloc(n, sizeof *d.taint);
  group *g = tc__calloc(1, sizeof *g);
  MlirOperation *tainted = tc__alloc(n * sizeof *tainted);
  tc_status status = d.member && d.taint && g && tainted ? TC_OK : tc__oom();
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && status == TC_OK;) {
    if (!tc__gen_is(op) || !tc__generic_read(op, &g->members[0])) {
      op = mlirOperationGetNextInBlock(op);
      continue;
    }
    g->n = 1;
    g->tainted = tainted;
    g->n_tainted = 0;
    tc__str_free(&g->not_fused);
    memset(&g->not_fused, 0, sizeof g->not_fused);
    g->contraction = tc__generic_is_contraction(&g->members[0]);
    g->reduction = g->members[0].has_reduction;
    g->outer = (int)mlirAffineMapGetNumResults(g->members[0].maps[g->members[0].n_ins]);
    for (int i = 0; i < g->outer; i++) // a result map that is no projection: no shared dims
      if (dim_of(g->members[0].maps[g->members[0].n_ins], i) < 0)
        g->outer = i;
    grow(f, &d, g);
    // Outlining moves ops, so the search starts over; what stands before has no generic left, and the walk over it is short.
    status = outline_group(f, &d, g);
    op = mlirBlockGetFirstOperation(block);
  }
  tc__free(d.member);
  tc__free(d.taint);
  tc__graph_destroy(&d.graph);
  if (g)
    tc__str_free(&g->not_fused);
  tc__free(g);
  tc__free(tainted);
  return status;
}

static void erase_unused(MlirBlock block) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
      MlirOperation next = mlirOperationGetNextInBlock(op);
      bool used = mlirOperationGetNumResults(op) == 0;
      for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        used |= !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)));
      if (!used) {
        mlirOperationDestroy(op);
        changed = true;
      }
      op = next;
    }
  }
}

tc_status tc__pass_form_kernels(MlirOperation module, const tc__pass_options *options) {
  former f = {.module = module, .ctx = mlirOperationGetContext(module), .fuse = tc__pass_option_bool(options, "fuse", true),
              .explain = tc__pass_option_bool(options, "explain", false)};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  tc_status status = TC_OK;
  // Kernels are appended behind: only functions that were there are visited.
  size_t n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    n++;
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (size_t i = 0; i < n && status == TC_OK; i++, op = mlirOperationGetNextInBlock(op)) {
    if (!tc__op_is(op, "func.func") || !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, tc__sref("tc.kernel"))))
      continue;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (mlirBlockIsNull(block))
      continue;
    status = form_in(&f, block);
    erase_unused(block);
  }
  for (size_t i = 0; i < f.n_kernels; i++) {
    tc__free(f.texts[i]);
    tc__free(f.names[i]);
  }
  tc__free(f.texts);
  tc__free(f.names);
  return status;
}
