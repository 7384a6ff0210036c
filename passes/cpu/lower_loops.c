// Kernels as loops. The shared outer space is walked task by task; inside, the generics run one after another over their inner loops.
//
//   for p in tasks: (o0, o1, chunk) = p
//     m = -inf;  for j: m = max(m, x[o, j])               a reduction whose result has no inner dims: a scalar
//     for j: row[j] = exp(x[o, j] - m)                     a carried value: a row in scratch memory
//     for j: y[o, j] = row[j] / s
//
// When the fastest dim of the inputs is a shared one (a sum over rows, a pooling window), the last shared dim is cut into chunks that form the innermost
// loop, with an accumulator for each of its elements. LLVM's vectoriser does the rest: loops are plain, innermost ones contiguous.
#include "emit.h"

#include <math.h>

typedef MlirValue V;

enum { MAX_MEMBERS = 16, MAX_LOOPS = TC_MAX_RANK * 2, MAX_RESULTS = TC_COUNTOF(((tc__generic_view *)0)->maps) };

typedef struct member {
  tc__generic_view g;
  int64_t sizes[MAX_LOOPS];
  int outer_loop[TC_MAX_RANK];            // loop of each shared dim
  int inner[MAX_LOOPS], reduced[MAX_LOOPS]; // other parallel loops in the order of the result, and reduction loops
  int n_inner, n_reduced;
} member;

typedef struct loops {
  tc__kernel k;
  tc__accesses *all;
  tc__value_pairs *scalars;
  member members[MAX_MEMBERS];
  int n, outer;          // shared dims
  int walked;            // of them, those that tasks enumerate one by one (all but the chunked one)
  bool chunked;
  int64_t outer_size[TC_MAX_RANK], chunk;
  V chunk_low, chunk_high;
  int64_t scratch;
  tc__builder b;
} loops;

// ---- reading the kernel ---------------------------------------------------------------------------------------------------------------------------

static bool read_member(loops *l, MlirOperation op, int outer) {
  if (l->n == MAX_MEMBERS || !tc__generic_read(op, &l->members[l->n].g))
    return false;
  member *m = &l->members[l->n++];
  tc__generic_sizes(&m->g, m->sizes);
  MlirAffineMap out = m->g.maps[m->g.n_ins];
  bool is_outer[MAX_LOOPS] = {false};
  for (int o = 0; o < outer; o++) {
    MlirAffineExpr e = mlirAffineMapGetResult(out, o);
    m->outer_loop[o] = (int)mlirAffineDimExprGetPosition(e);
    is_outer[m->outer_loop[o]] = true;
    l->outer_size[o] = m->sizes[m->outer_loop[o]];
  }
  bool in_result[MAX_LOOPS] = {false};
  for (intptr_t r = outer; r < mlirAffineMapGetNumResults(out); r++) {
    MlirAffineExpr e = mlirAffineMapGetResult(out, r);
    if (!mlirAffineExprIsADim(e))
      return false;
    m->inner[m->n_inner++] = (int)mlirAffineDimExprGetPosition(e);
    in_result[mlirAffineDimExprGetPosition(e)] = true;
  }
  for (size_t i = 0; i < m->g.n_loops; i++)
    if (!is_outer[i] && !in_result[i]) {
      if (!m->g.reduction[i])
        return false;
      m->reduced[m->n_reduced++] = (int)i;
    }
  return true;
}

// How far an operand moves for one step of loop; NAN when its map is not linear in it.
static double coefficient(const tc__access *a, MlirAffineMap map, int loop) {
  double sum = 0;
  MlirContext ctx = mlirAffineMapGetContext(map);
  for (int r = 0; r < a->type.rank; r++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, r);
    if (!mlirAffineExprIsFunctionOfDim(e, loop))
      continue;
    // e(loop + 1) - e(loop), folded to a constant when it is linear.
    MlirAffineExpr shifted[MAX_LOOPS];
    intptr_t n = mlirAffineMapGetNumDims(map);
    for (intptr_t d = 0; d < n; d++)
      shifted[d] = d == loop ? tc__expr_add(mlirAffineDimExprGet(ctx, d), 1) : mlirAffineDimExprGet(ctx, d);
    MlirAffineExpr moved = mlirAffineExprCompose(e, mlirAffineMapGet(ctx, n, 0, n, shifted));
    MlirAffineExpr difference = mlirSimplifyAffineExpr(mlirAffineAddExprGet(moved, tc__expr_mul(e, -1)), (uint32_t)n, 0);
    if (!mlirAffineExprIsAConstant(difference))
      return (double)NAN;
    sum += (double)mlirAffineConstantExprGetValue(difference) * (double)a->strides[r];
  }
  return sum;
}

static bool wants_chunks(const loops *l) {
  if (l->outer == 0 || l->outer_size[l->outer - 1] < 4)
    return false;
  bool any_reduction = false;
  for (int i = 0; i < l->n; i++) {
    const member *m = &l->members[i];
    if (!m->n_reduced)
      continue;
    any_reduction = true;
    int last = m->reduced[m->n_reduced - 1], column = m->outer_loop[l->outer - 1];
    double count = 1;
    for (int r = 0; r < m->n_reduced; r++)
      count *= (double)m->sizes[m->reduced[r]];
    for (size_t k = 0; k < m->g.n_ins; k++) {
      const tc__access *a = tc__access_find(l->all, tc__generic_in(&m->g, k));
      if (!a || a->place == TC__PLACE_EMPTY || a->place == TC__PLACE_FILL)
        continue;
      double along = coefficient(a, m->g.maps[k], last), across = coefficient(a, m->g.maps[k], column);
      if (across > 0 && across <= 4 && (along != 1 || count < 64))
        return true;
    }
  }
  if (any_reduction)
    return false;
  for (int i = 0; i < l->n; i++) // pointwise over the shared dims alone: the last one is the loop
    if (l->members[i].n_inner)
      return false;
  return true;
}

static int64_t align64(int64_t n) { return (n + 63) / 64 * 64; }

// Rows of carried values: dims from `first` on, the chunked one first.
static bool place_results(loops *l, MlirOperation ret) {
  int first = l->walked;
  for (int i = 0; i < l->n; i++) {
    const member *m = &l->members[i];
    for (size_t r = 0; r < m->g.n_outs; r++) {
      V v = mlirOperationGetResult(m->g.op, (intptr_t)r);
      int output = -1;
      for (intptr_t k = 0; k < mlirOperationGetNumOperands(ret) && output < 0; k++)
        if (mlirValueEqual(mlirOperationGetOperand(ret, k), v))
          output = (int)k;
      tc__access *a = tc__access_add(l->all, v, output >= 0 ? l->k.pointers[l->k.n_ins + (size_t)output] : (V){NULL});
      if (!a)
        return false;
      if (output >= 0)
        continue;
      if (first == a->type.rank) { // one value a task step: an SSA value
        a->place = TC__PLACE_FILL;
        continue;
      }
      a->place = TC__PLACE_ROW;
      a->first = first;
      int64_t stride = 1;
      for (int d = a->type.rank - 1; d >= first; d--) {
        a->strides[d] = stride;
        stride *= l->chunked && d == l->outer - 1 ? l->chunk : a->type.shape[d];
      }
      MlirType byte = mlirIntegerTypeGet(l->b.ctx, 8);
      int64_t bytes = align64(stride * (int64_t)tc_dtype_size(a->type.dtype));
      if (l->k.target == TC__TARGET_CPU) {
        a->ptr = tc__gep(&l->k.b, l->k.scratch, byte, tc__i64(&l->k.b, l->scratch));
      } else { // a thread's own memory
        V count = tc__i64(&l->k.b, bytes);
        MlirNamedAttribute attrs[2] = {tc__named(l->b.ctx, "elem_type", mlirTypeAttrGet(byte)), tc__named(l->b.ctx, "alignment", tc__attr_i64(l->b.ctx, 16))};
        a->ptr = tc__build1(&l->k.b, "llvm.alloca", &count, 1, tc__ptr_type(l->b.ctx, 0), attrs, 2);
      }
      l->scratch += bytes;
    }
  }
  return true;
}

// ---- emitting -------------------------------------------------------------------------------------------------------------------------------------

// The chunked dim of a carried row counts from the chunk's start.
static void index_of(loops *l, tc__builder *b, const tc__access *a, MlirAffineMap map, const V *ivs, V *index) {
  for (int d = 0; d < a->type.rank; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    bool has_dims = mlirAffineMapGetNumDims(map) > 0;
    index[d] = has_dims ? tc__expr_value(b, e, ivs) : tc__i64(b, mlirAffineConstantExprGetValue(e));
    if (a->place == TC__PLACE_ROW && l->chunked && d == l->outer - 1)
      index[d] = tc__binary(b, "arith.subi", index[d], l->chunk_low);
  }
}

static V read(loops *l, tc__builder *b, const member *m, size_t operand, const V *ivs) {
  const tc__access *a = tc__access_find(l->all, mlirOperationGetOperand(m->g.op, (intptr_t)operand));
  V index[TC_MAX_RANK];
  if (!a)
    return (V){NULL};
  if (a->place != TC__PLACE_FILL && a->place != TC__PLACE_EMPTY)
    index_of(l, b, a, m->g.maps[operand], ivs, index);
  return tc__access_load(b, a, index);
}

static const tc__access *result_access(loops *l, const member *m, size_t r) {
  return tc__access_find(l->all, mlirOperationGetResult(m->g.op, (intptr_t)r));
}

static V result_address(loops *l, tc__builder *b, const member *m, size_t r, const V *ivs) {
  const tc__access *a = result_access(l, m, r);
  V index[TC_MAX_RANK];
  index_of(l, b, a, m->g.maps[m->g.n_ins + r], ivs, index);
  return tc__access_address(b, a, index);
}

static void write(loops *l, tc__builder *b, const member *m, size_t r, const V *ivs, V value) {
  tc__access *a = tc__access_find(l->all, mlirOperationGetResult(m->g.op, (intptr_t)r));
  if (a->place == TC__PLACE_FILL)
    a->scalar = value;
  else
    tc__store(b, result_address(l, b, m, r, ivs), value, 0);
}

// Sums may be reassociated: that is what lets them vectorise. Products of a contraction may also be contracted into fma.
static void relax(const member *m, const V *accumulated, const V *yields) {
  for (size_t r = 0; r < m->g.n_outs; r++) {
    MlirOperation op = tc__def_op(yields[r]);
    if (mlirOperationIsNull(op) || (!tc__op_is(op, "arith.addf") && !tc__op_is(op, "arith.mulf")))
      continue;
    V x = mlirOperationGetOperand(op, 0), y = mlirOperationGetOperand(op, 1);
    if (!mlirValueEqual(x, accumulated[r]) && !mlirValueEqual(y, accumulated[r]))
      continue;
    bool contraction = tc__generic_is_contraction(&m->g);
    MlirAttribute flags = mlirAttributeParseGet(mlirOperationGetContext(op), tc__sref(contraction ? "#arith.fastmath<reassoc,contract>" : "#arith.fastmath<reassoc>"));
    mlirOperationSetAttributeByName(op, tc__sref("fastmath"), flags);
    MlirOperation product = tc__def_op(mlirValueEqual(x, accumulated[r]) ? y : x);
    if (contraction && !mlirOperationIsNull(product) && tc__op_is(product, "arith.mulf"))
      mlirOperationSetAttributeByName(product, tc__sref("fastmath"), flags);
  }
}

static bool compute(loops *l, tc__builder *b, const member *m, const V *ivs, const V *accumulated, V *yields) {
  V args[MAX_RESULTS];
  for (size_t i = 0; i < m->g.n_ins; i++)
    if (mlirValueIsNull(args[i] = read(l, b, m, i, ivs)))
      return false;
  for (size_t r = 0; r < m->g.n_outs; r++) {
    MlirType t = mlirShapedTypeGetElementType(mlirValueGetType(tc__generic_out(&m->g, r)));
    args[m->g.n_ins + r] = accumulated ? accumulated[r]
                           : mlirTypeIsAInteger(t) ? tc__const_i(b, t, 0)
                                                   : tc__const_f(b, t, 0);
  }
  if (!tc__emit_body(b, &m->g, args, ivs, l->all, l->scalars, yields))
    return false;
  if (accumulated)
    relax(m, accumulated, yields);
  return true;
}

typedef struct nest {
  int loop[MAX_LOOPS];
  int n;
} nest;

static void bounds(loops *l, tc__builder *b, const member *m, int loop, V *low, V *high) {
  bool chunk = l->chunked && loop == m->outer_loop[l->outer - 1];
  *low = chunk ? l->chunk_low : tc__i64(b, 0);
  *high = chunk ? l->chunk_high : tc__i64(b, m->sizes[loop]);
}

typedef bool (*leaf_fn)(loops *l, tc__builder *b, const member *m, V *ivs);

// Loops around leaf, none of them carrying values.
static bool nest_loops(loops *l, tc__builder *b, const member *m, const nest *n, int at, V *ivs, leaf_fn leaf) {
  if (at == n->n)
    return leaf(l, b, m, ivs);
  V low, high;
  tc__for f;
  bounds(l, b, m, n->loop[at], &low, &high);
  tc__builder inside = tc__for_begin(b, low, high, tc__i64(b, 1), NULL, 0, &ivs[n->loop[at]], &f);
  bool ok = nest_loops(l, &inside, m, n, at + 1, ivs, leaf);
  tc__for_end(b, &inside, &f, NULL);
  return ok;
}

static bool leaf_pointwise(loops *l, tc__builder *b, const member *m, V *ivs) {
  V yields[MAX_RESULTS];
  if (!compute(l, b, m, ivs, NULL, yields))
    return false;
  for (size_t r = 0; r < m->g.n_outs; r++)
    write(l, b, m, r, ivs, yields[r]);
  return true;
}

static bool leaf_init(loops *l, tc__builder *b, const member *m, V *ivs) {
  for (size_t r = 0; r < m->g.n_outs; r++) {
    V init = read(l, b, m, m->g.n_ins + r, ivs);
    if (mlirValueIsNull(init))
      return false;
    write(l, b, m, r, ivs, init);
  }
  return true;
}

static bool leaf_accumulate(loops *l, tc__builder *b, const member *m, V *ivs) {
  V accumulated[MAX_RESULTS], yields[MAX_RESULTS], address[MAX_RESULTS];
  for (size_t r = 0; r < m->g.n_outs; r++) {
    address[r] = result_address(l, b, m, r, ivs);
    accumulated[r] = tc__load(b, address[r], result_access(l, m, r)->element, 0);
  }
  if (!compute(l, b, m, ivs, accumulated, yields))
    return false;
  for (size_t r = 0; r < m->g.n_outs; r++)
    tc__store(b, address[r], yields[r], 0);
  return true;
}

// Reduction loops carrying the accumulators.
static bool carry(loops *l, tc__builder *b, const member *m, int at, V *ivs, V *accumulated) {
  if (at == m->n_reduced) {
    V yields[MAX_RESULTS];
    if (!compute(l, b, m, ivs, accumulated, yields))
      return false;
    memcpy(accumulated, yields, sizeof *accumulated * m->g.n_outs);
    return true;
  }
  V low, high;
  tc__for f;
  bounds(l, b, m, m->reduced[at], &low, &high);
  tc__builder inside = tc__for_begin(b, low, high, tc__i64(b, 1), accumulated, m->g.n_outs, &ivs[m->reduced[at]], &f);
  bool ok = carry(l, &inside, m, at + 1, ivs, accumulated);
  MlirOperation op = tc__for_end(b, &inside, &f, accumulated);
  for (size_t r = 0; r < m->g.n_outs; r++)
    accumulated[r] = mlirOperationGetResult(op, (intptr_t)r);
  return ok;
}

static bool emit_member(loops *l, tc__builder *b, const member *m, const V *outer) {
  V ivs[MAX_LOOPS];
  V zero = tc__i64(b, 0);
  for (size_t i = 0; i < MAX_LOOPS; i++)
    ivs[i] = zero;
  for (int o = 0; o < l->walked; o++)
    ivs[m->outer_loop[o]] = outer[o];
  nest inner = {.n = 0};
  if (l->chunked && m->n_inner == 0)
    inner.loop[inner.n++] = m->outer_loop[l->outer - 1];
  else if (l->chunked) { // the chunk outside of the inner dims
    inner.loop[inner.n++] = m->outer_loop[l->outer - 1];
    for (int i = 0; i < m->n_inner; i++)
      inner.loop[inner.n++] = m->inner[i];
  } else {
    for (int i = 0; i < m->n_inner; i++)
      inner.loop[inner.n++] = m->inner[i];
  }
  if (!m->n_reduced)
    return nest_loops(l, b, m, &inner, 0, ivs, leaf_pointwise);
  if (inner.n == 0) {
    V accumulated[MAX_RESULTS];
    for (size_t r = 0; r < m->g.n_outs; r++)
      if (mlirValueIsNull(accumulated[r] = read(l, b, m, m->g.n_ins + r, ivs)))
        return false;
    if (!carry(l, b, m, 0, ivs, accumulated))
      return false;
    for (size_t r = 0; r < m->g.n_outs; r++)
      write(l, b, m, r, ivs, accumulated[r]);
    return true;
  }
  if (!nest_loops(l, b, m, &inner, 0, ivs, leaf_init))
    return false;
  nest all = {.n = 0};
  for (int i = 0; i < m->n_reduced; i++)
    all.loop[all.n++] = m->reduced[i];
  for (int i = 0; i < inner.n; i++)
    all.loop[all.n++] = inner.loop[i];
  return nest_loops(l, b, m, &all, 0, ivs, leaf_accumulate);
}

// ---- tasks ----------------------------------------------------------------------------------------------------------------------------------------

// Nanoseconds for one element of a body, vectorised: a guess that only decides how work is cut.
static double body_cost(const tc__generic_view *g) {
  double cost = 0.15 * (double)(g->n_ins + g->n_outs);
  for (MlirOperation op = mlirBlockGetFirstOperation(g->body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    bool math = name.length > 5 && memcmp(name.data, "math.", 5) == 0;
    cost += math ? 0.6 : tc__op_is(op, "tensor.extract") ? 0.7 : 0.05;
  }
  return cost;
}

static double step_cost(const loops *l) {
  double cost = 2;
  for (int i = 0; i < l->n; i++) {
    const member *m = &l->members[i];
    double iterations = l->chunked ? (double)l->chunk : 1;
    for (int k = 0; k < m->n_inner; k++)
      iterations *= (double)m->sizes[m->inner[k]];
    for (int k = 0; k < m->n_reduced; k++)
      iterations *= (double)m->sizes[m->reduced[k]];
    cost += iterations * body_cost(&m->g);
  }
  return cost;
}

static tc_status emit(loops *l, int64_t *out_tasks, int64_t *out_cost) {
  tc__builder *b = &l->k.b;
  int64_t steps = 1, chunks = 1;
  for (int o = 0; o < l->walked; o++)
    steps *= l->outer_size[o];
  int64_t last = l->chunked ? l->outer_size[l->outer - 1] : 1;
  if (l->chunked) {
    chunks = (last + l->chunk - 1) / l->chunk;
    steps *= chunks;
  }
  double cost = step_cost(l);
  // Tasks of some microseconds, and enough of them to balance.
  int64_t group = (int64_t)(3000 / cost);
  if (group > steps / 16)
    group = steps / 16;
  if (group < 1)
    group = 1;
  while ((steps + group - 1) / group > 4096)
    group *= 2;
  *out_tasks = (steps + group - 1) / group;
  *out_cost = (int64_t)(cost * (double)group) + 1;
  V low = tc__muli(b, l->k.begin, group), high = tc__mini(b, tc__muli(b, l->k.end, group), tc__i64(b, steps)), p;
  tc__for f;
  tc__builder inside = tc__for_begin(b, low, high, tc__i64(b, 1), NULL, 0, &p, &f);
  V rest = p, outer[TC_MAX_RANK];
  if (l->chunked) {
    V c = chunks == 1 ? tc__i64(&inside, 0) : tc__binary(&inside, "arith.remsi", rest, tc__i64(&inside, chunks));
    if (chunks > 1)
      rest = tc__binary(&inside, "arith.divsi", rest, tc__i64(&inside, chunks));
    l->chunk_low = tc__binary(&inside, "arith.muli", c, tc__i64(&inside, l->chunk));
    V end = tc__addi(&inside, l->chunk_low, tc__i64(&inside, l->chunk));
    l->chunk_high = last % l->chunk ? tc__mini(&inside, end, tc__i64(&inside, last)) : end;
  }
  for (int o = l->walked - 1; o >= 0; o--) {
    V size = tc__i64(&inside, l->outer_size[o]);
    outer[o] = o == 0 ? rest : tc__binary(&inside, "arith.remsi", rest, size);
    if (o > 0)
      rest = tc__binary(&inside, "arith.divsi", rest, size);
  }
  tc_status status = TC_OK;
  for (int i = 0; i < l->n && status == TC_OK; i++)
    if (!emit_member(l, &inside, &l->members[i], outer))
      status = tc__error_at(mlirOperationGetLocation(l->members[i].g.op), TC_ERR_UNSUPPORTED, "an op of this kernel has no loop form");
  tc__for_end(b, &inside, &f, NULL);
  return status;
}

// ---- merging loops of a pointwise kernel ------------------------------------------------------------------------------------------------------------

static bool reads_index(const tc__generic_view *g) {
  for (MlirOperation op = mlirBlockGetFirstOperation(g->body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tc__op_is(op, "linalg.index") || tc__op_is(op, "tensor.extract"))
      return true;
  return false;
}

// Whether dims d and d+1 are neighbours in every operand that has either.
static bool mergeable(const tc__generic_view *g, int d, int64_t inner_size) {
  for (size_t i = 0; i < g->n_ins + g->n_outs; i++) {
    MlirType t = mlirValueGetType(mlirOperationGetOperand(g->op, (intptr_t)i));
    int at = -1, uses = 0;
    for (intptr_t r = 0; r < mlirAffineMapGetNumResults(g->maps[i]); r++) {
      MlirAffineExpr e = mlirAffineMapGetResult(g->maps[i], r);
      bool first = mlirAffineExprIsFunctionOfDim(e, d), second = mlirAffineExprIsFunctionOfDim(e, d + 1);
      uses += first + second;
      if (mlirAffineExprIsADim(e) && first)
        at = (int)r;
    }
    if (uses == 0)
      continue;
    if (uses != 2 || at < 0 || at + 1 >= mlirAffineMapGetNumResults(g->maps[i]))
      return false;
    MlirAffineExpr next = mlirAffineMapGetResult(g->maps[i], at + 1);
    if (!mlirAffineExprIsADim(next) || mlirAffineDimExprGetPosition(next) != d + 1 || mlirShapedTypeGetDimSize(t, at + 1) != inner_size)
      return false;
  }
  return true;
}

// Rewrites the one generic over fewer dims by collapsing its operands' types (the bytes are the same): done on the accesses and maps in place.
static void merge_loops(loops *l) {
  member *m = &l->members[0];
  if (l->n != 1 || m->n_reduced || m->n_inner || reads_index(&m->g))
    return;
  // One tensor read in two ways has one access, which cannot take two shapes.
  for (size_t i = 0; i < m->g.n_ins; i++)
    for (size_t k = 0; k < i; k++)
      if (mlirValueEqual(tc__generic_in(&m->g, i), tc__generic_in(&m->g, k)) && !mlirAffineMapEqual(m->g.maps[i], m->g.maps[k]))
        return;
  for (int d = (int)m->g.n_loops - 2; d >= 0; d--) {
    if (!mergeable(&m->g, d, m->sizes[d + 1]))
      continue;
    MlirContext ctx = l->b.ctx;
    intptr_t n = (intptr_t)m->g.n_loops;
    MlirAffineExpr dims[MAX_LOOPS]; // old dims in terms of the new: d stands for both
    for (intptr_t i = 0; i < n; i++)
      dims[i] = mlirAffineDimExprGet(ctx, i <= d ? i : i - 1);
    MlirAffineMap renumber = mlirAffineMapGet(ctx, n - 1, 0, n, dims);
    for (size_t i = 0; i < m->g.n_ins + m->g.n_outs; i++) {
      MlirValue v = i < m->g.n_ins ? tc__generic_in(&m->g, i) : mlirOperationGetResult(m->g.op, (intptr_t)(i - m->g.n_ins));
      tc__access *a = tc__access_find(l->all, v);
      MlirAffineExpr results[TC_MAX_RANK];
      intptr_t old_n = mlirAffineMapGetNumResults(m->g.maps[i]), kept = 0;
      int gone = -1;
      for (intptr_t r = 0; r < old_n; r++) {
        MlirAffineExpr e = mlirAffineMapGetResult(m->g.maps[i], r);
        if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == d + 1) {
          gone = (int)r;
          continue;
        }
        results[kept++] = mlirAffineExprCompose(e, renumber);
      }
      m->g.maps[i] = mlirAffineMapGet(ctx, n - 1, 0, kept, results);
      if (gone < 0 || !a || a->type.rank == (int)kept)
        continue; // seen already: the same tensor read twice
      // An access is shared by all operands that read the tensor; mergeable() held for each of them.
      a->type.shape[gone - 1] *= a->type.shape[gone];
      a->strides[gone - 1] = a->strides[gone];
      for (int r = gone; r + 1 < a->type.rank; r++) {
        a->type.shape[r] = a->type.shape[r + 1];
        a->strides[r] = a->strides[r + 1];
      }
      a->type.rank--;
    }
    m->sizes[d] *= m->sizes[d + 1];
    for (intptr_t i = d + 1; i + 1 < n; i++)
      m->sizes[i] = m->sizes[i + 1];
    m->g.n_loops--;
  }
  l->outer = (int)m->g.n_loops;
  for (int o = 0; o < l->outer; o++) {
    m->outer_loop[o] = o;
    l->outer_size[o] = m->sizes[o];
  }
}

// ---- the kernel -------------------------------------------------------------------------------------------------------------------------------------

// ---- GPU: a thread a step ---------------------------------------------------------------------------------------------------------------------------

enum { BLOCK = 256 };

static void set_launch(loops *l, int64_t threads) {
  MlirContext ctx = l->b.ctx;
  int64_t grid[1] = {(threads + BLOCK - 1) / BLOCK}, block[1] = {BLOCK};
  mlirOperationSetAttributeByName(l->k.dispatcher, tc__sref("tc.grid"), tc__attr_ints(ctx, grid, 1));
  mlirOperationSetAttributeByName(l->k.dispatcher, tc__sref("tc.block"), tc__attr_ints(ctx, block, 1));
}

// Elements a thread takes of a contiguous pointwise kernel: as many as fill 16 bytes of its widest operand; 1 when an operand is no plain run.
static int64_t vector_width(loops *l) {
  const member *m = &l->members[0];
  if (l->n != 1 || m->n_reduced || m->g.n_loops != 1 || reads_index(&m->g))
    return 1;
  size_t widest = 1;
  for (size_t i = 0; i < m->g.n_ins + m->g.n_outs; i++) {
    V v = i < m->g.n_ins ? tc__generic_in(&m->g, i) : mlirOperationGetResult(m->g.op, (intptr_t)(i - m->g.n_ins));
    const tc__access *a = tc__access_find(l->all, v);
    double step = coefficient(a, m->g.maps[i], 0);
    if (a->place != TC__PLACE_MEMORY || (step != 0 && step != 1) || (step == 1 && a->type.rank != 1))
      return 1;
    size_t size = tc_dtype_size(a->type.dtype);
    widest = size > widest ? size : widest;
  }
  return m->sizes[0] % (int64_t)(16 / widest) ? 1 : (int64_t)(16 / widest);
}

static V lane_index(tc__builder *b, int64_t lane) { return tc__const_i(b, mlirIntegerTypeGet(b->ctx, 32), lane); }

static tc_status emit_vector(loops *l, int64_t width) {
  tc__builder *b = &l->k.b;
  const member *m = &l->members[0];
  int64_t threads = m->sizes[0] / width;
  V id = tc__thread_id(&l->k, b), first = tc__muli(b, id, width);
  tc__builder inside = tc__if_begin(b, tc__cmpi(b, TC__CMPI_SLT, id, tc__i64(b, threads)));
  V whole[MAX_RESULTS], lanes[MAX_RESULTS][16], results[MAX_RESULTS];
  bool spread[MAX_RESULTS];
  for (size_t i = 0; i < m->g.n_ins; i++) {
    const tc__access *a = tc__access_find(l->all, tc__generic_in(&m->g, i));
    spread[i] = coefficient(a, m->g.maps[i], 0) == 1;
    MlirType memory = tc__memory_element(a->element);
    V none = {NULL};
    if (spread[i])
      whole[i] = tc__load(&inside, tc__gep(&inside, a->ptr, a->element, first), mlirVectorTypeGet(1, &width, memory),
                          width * (int64_t)tc_dtype_size(a->type.dtype));
    else
      whole[i] = tc__load(&inside, tc__gep(&inside, a->ptr, a->element, none), a->element, 0);
  }
  for (int64_t lane = 0; lane < width; lane++) {
    V args[MAX_RESULTS], ivs[MAX_LOOPS], yields[MAX_RESULTS];
    ivs[0] = first;
    for (size_t i = 0; i < m->g.n_ins; i++) {
      args[i] = whole[i];
      if (!spread[i])
        continue;
      const tc__access *a = tc__access_find(l->all, tc__generic_in(&m->g, i));
      V operands[2] = {whole[i], lane_index(&inside, lane)};
      args[i] = tc__build1(&inside, "llvm.extractelement", operands, 2, tc__memory_element(a->element), NULL, 0);
      if (a->type.dtype == TC_BOOL)
        args[i] = tc__convert(&inside, "arith.trunci", args[i], a->element);
    }
    for (size_t r = 0; r < m->g.n_outs; r++) {
      MlirType t = mlirShapedTypeGetElementType(mlirValueGetType(tc__generic_out(&m->g, r)));
      args[m->g.n_ins + r] = mlirTypeIsAInteger(t) ? tc__const_i(&inside, t, 0) : tc__const_f(&inside, t, 0);
    }
    if (!tc__emit_body(&inside, &m->g, args, ivs, l->all, l->scalars, yields))
      return tc__error_at(mlirOperationGetLocation(m->g.op), TC_ERR_UNSUPPORTED, "this op has no vector form");
    for (size_t r = 0; r < m->g.n_outs; r++)
      lanes[r][lane] = yields[r];
  }
  for (size_t r = 0; r < m->g.n_outs; r++) {
    const tc__access *a = result_access(l, m, r);
    MlirType memory = tc__memory_element(a->element), vector = mlirVectorTypeGet(1, &width, memory);
    results[r] = tc__build1(&inside, "llvm.mlir.poison", NULL, 0, vector, NULL, 0);
    for (int64_t lane = 0; lane < width; lane++) {
      V value = a->type.dtype == TC_BOOL ? tc__convert(&inside, "arith.extui", lanes[r][lane], memory) : lanes[r][lane];
      V operands[3] = {results[r], value, lane_index(&inside, lane)};
      results[r] = tc__build1(&inside, "llvm.insertelement", operands, 3, vector, NULL, 0);
    }
    tc__store(&inside, tc__gep(&inside, a->ptr, a->element, first), results[r], width * (int64_t)tc_dtype_size(a->type.dtype));
  }
  set_launch(l, threads);
  return TC_OK;
}

static tc_status emit_threads(loops *l) {
  int64_t width = vector_width(l);
  if (width > 1)
    return emit_vector(l, width);
  tc__builder *b = &l->k.b;
  int64_t steps = 1;
  for (int o = 0; o < l->walked; o++)
    steps *= l->outer_size[o];
  V id = tc__thread_id(&l->k, b), rest = id, outer[TC_MAX_RANK];
  tc__builder inside = tc__if_begin(b, tc__cmpi(b, TC__CMPI_SLT, id, tc__i64(b, steps)));
  for (int o = l->walked - 1; o >= 0; o--) {
    V size = tc__i64(&inside, l->outer_size[o]);
    outer[o] = o == 0 ? rest : tc__binary(&inside, "arith.remui", rest, size);
    if (o > 0)
      rest = tc__binary(&inside, "arith.divui", rest, size);
  }
  for (int i = 0; i < l->n; i++)
    if (!emit_member(l, &inside, &l->members[i], outer))
      return tc__error_at(mlirOperationGetLocation(l->members[i].g.op), TC_ERR_UNSUPPORTED, "an op of this kernel has no loop form");
  set_launch(l, steps);
  return TC_OK;
}

static tc_status lower(loops *l, MlirOperation func, tc__kernel_target target) {
  MlirLocation loc = mlirOperationGetLocation(func);
  l->outer = (int)tc__get_int(func, "tc.outer", 0);
  TC_TRY(tc__kernel_begin(func, target, &l->k));
  l->b = l->k.b;
  for (size_t i = 0; i < l->k.n_ins; i++)
    if (!tc__access_add(l->all, mlirBlockGetArgument(l->k.old_block, (intptr_t)i), l->k.pointers[i]))
      return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a kernel operand that is no static tensor");
  MlirOperation ret = mlirBlockGetTerminator(l->k.old_block);
  for (MlirOperation op = mlirBlockGetFirstOperation(l->k.old_block); !mlirOperationEqual(op, ret); op = mlirOperationGetNextInBlock(op)) {
    if (tc__access_add_internal(l->all, &l->k.b, op, l->scalars))
      continue;
    if (!read_member(l, op, l->outer)) {
      MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
      return tc__error_at(mlirOperationGetLocation(op), TC_ERR_UNSUPPORTED, "'%.*s' has no loop form in a kernel", (int)name.length, name.data);
    }
  }
  bool gpu = target != TC__TARGET_CPU;
  l->chunked = !gpu && wants_chunks(l);
  l->walked = l->outer - l->chunked;
  // Results get their places before loops are merged, which changes their types; a single pointwise op has only outputs.
  l->chunk = 1;
  bool single = l->n == 1 && !l->members[0].n_reduced;
  if (l->chunked && !single) {
    int64_t size = l->outer_size[l->outer - 1];
    l->chunk = size < 128 ? size : 128;
  }
  if (!place_results(l, ret))
    return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a kernel with too many values");
  if (single && l->chunked) {
    merge_loops(l);
    l->walked = l->outer - 1;
    int64_t size = l->outer ? l->outer_size[l->outer - 1] : 1, limit = l->outer == 1 ? 4096 : 16384;
    if (l->outer == 0) {
      l->chunked = false;
      l->walked = 0;
    }
    l->chunk = size < limit ? size : limit;
  }
  if (gpu) {
    if (single) {
      merge_loops(l);
      l->walked = l->outer;
    }
    TC_TRY(emit_threads(l));
    tc__kernel_finish(&l->k, 0, 0, l->scratch);
    return TC_OK;
  }
  int64_t tasks, cost;
  TC_TRY(emit(l, &tasks, &cost));
  tc__kernel_finish(&l->k, tasks, cost, l->scratch);
  return TC_OK;
}

tc_status tc__lower_loop_kernel(MlirOperation func, tc__kernel_target target) {
  loops *l = tc__calloc(1, sizeof *l);
  tc_status status = TC_OK;
  if (!l || !(l->all = tc__calloc(1, sizeof *l->all)) || !(l->scalars = tc__calloc(1, sizeof *l->scalars)))
    status = tc__oom();
  if (status == TC_OK)
    status = lower(l, func, target);
  if (l) {
    tc__free(l->all);
    tc__free(l->scalars);
  }
  tc__free(l);
  return status;
}
