// f32 matmul and convolution kernels: register blocks over a packed block of the vector side.
//
// One operand holds the last dim of the result: the vector side, V; the other, S, is broadcast. C[m, n] = sum over k of S[m, k] V[k, n]. A task takes one
// block of n (rows of a convolution's output, or columns of a matmul) and a range of m:
//
//   pack V's block into scratch                                              rows of k, n contiguous (once a task; not when packed at load)
//   for m by MR:  for n by NR:  an MR x NR block of accumulators over all k  -> tile[MR][n]
//                 for each row of the tile: the epilogue's pointwise ops, vectorised over n, and the stores
//
// A convolution with stride 1 packs each input channel once, with its padding, and reads a shifted view for each tap: k = (c, kh, kw) lies at
// c * plane + kh * pitch + kw. Its columns run over the padded rows, so the last kw - 1 of a row are computed and not used. Other strides pack a row for each
// tap. S is read as it lies: its rows are streams. Measured on one Zen 4 core (AVX-512): see docs/performance.md.
#include "emit.h"

#include <stdio.h>

typedef MlirValue V;

enum { MAX_SPATIAL = 3, MAX_ROWS = 16 };

typedef struct contraction {
  tc__kernel k;
  tc__accesses *all;
  tc__value_pairs *scalars;
  tc__generic_view g;
  MlirOperation epilogue[16];
  int n_epilogue;
  int64_t sizes[TC_MAX_RANK * 2];
  int rank; // of the result
  bool conv;
  // Result dims: outer (batch and groups), m, then the columns: one dim (matmul) or the spatial ones.
  int outer[TC_MAX_RANK], n_outer, m_dim, n_spatial;
  int spatial[MAX_SPATIAL];
  int k_loops[TC_MAX_RANK], n_k; // matmul: one; convolution: c, window
  size_t s_in, v_in;             // operand numbers
  tc__access *s, *v;             // in memory
  int64_t v_low[MAX_SPATIAL];    // padding in front
  int64_t v_size[MAX_SPATIAL];   // unpadded input sizes
  int64_t s_step[TC_MAX_RANK * 2], v_step[TC_MAX_RANK * 2]; // elements for one step of each loop (spatial ones of V: of the input position)
  int64_t stride[MAX_SPATIAL], dilation[MAX_SPATIAL];
  bool packed;                   // V comes in blocks [n / block][k][block]
  int64_t block;                 // matmul: columns a block; convolution: output rows a block
  int64_t mr, nr, lanes, pitch, plane, v_rows, tile_width, m_split;
  bool shifted;
} contraction;

// ---- recognising ------------------------------------------------------------------------------------------------------------------------------------

static bool linear_step(const tc__access *a, MlirAffineMap map, int loop, int64_t *out) {
  int64_t sum = 0;
  MlirContext ctx = mlirAffineMapGetContext(map);
  for (int r = 0; r < a->type.rank; r++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, r);
    if (!mlirAffineExprIsFunctionOfDim(e, loop))
      continue;
    MlirAffineExpr shifted[TC_MAX_RANK * 2];
    intptr_t n = mlirAffineMapGetNumDims(map);
    for (intptr_t d = 0; d < n; d++)
      shifted[d] = d == loop ? tc__expr_add(mlirAffineDimExprGet(ctx, d), 1) : mlirAffineDimExprGet(ctx, d);
    MlirAffineExpr moved = mlirAffineExprCompose(e, mlirAffineMapGet(ctx, n, 0, n, shifted));
    MlirAffineExpr difference = mlirSimplifyAffineExpr(mlirAffineAddExprGet(moved, tc__expr_mul(e, -1)), (uint32_t)n, 0);
    if (!mlirAffineExprIsAConstant(difference))
      return false;
    sum += mlirAffineConstantExprGetValue(difference) * a->strides[r];
  }
  *out = sum;
  return true;
}

static bool depends_on(MlirAffineMap map, int loop) {
  for (intptr_t r = 0; r < mlirAffineMapGetNumResults(map); r++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, r), loop))
      return true;
  return false;
}

static bool starts_at_zero(const tc__access *a, MlirAffineMap map) {
  for (int r = 0; r < a->type.rank; r++) { // no constant terms
    MlirAffineExpr e = mlirAffineMapGetResult(map, r);
    MlirAffineExpr zeros[TC_MAX_RANK * 2];
    MlirContext ctx = mlirAffineMapGetContext(map);
    intptr_t n = mlirAffineMapGetNumDims(map);
    for (intptr_t d = 0; d < n; d++)
      zeros[d] = mlirAffineConstantExprGet(ctx, 0);
    MlirAffineExpr at = mlirSimplifyAffineExpr(mlirAffineExprCompose(e, mlirAffineMapGet(ctx, n, 0, n, zeros)), (uint32_t)n, 0);
    if (!mlirAffineExprIsAConstant(at) || mlirAffineConstantExprGetValue(at) != 0)
      return false;
  }
  return true;
}

// (n floordiv b, k, n mod b): V packed at load by tc-pack-weights.
static bool is_packed(contraction *c, MlirAffineMap map, int n_loop) {
  if (mlirAffineMapGetNumResults(map) != 3 || c->v->type.rank != 3)
    return false;
  MlirAffineExpr q = mlirAffineMapGetResult(map, 0), k = mlirAffineMapGetResult(map, 1), r = mlirAffineMapGetResult(map, 2);
  if (!mlirAffineExprIsAFloorDiv(q) || !mlirAffineExprIsAMod(r) || !mlirAffineExprIsADim(k))
    return false;
  c->block = c->v->type.shape[2];
  return mlirAffineExprIsADim(mlirAffineBinaryOpExprGetLHS(q)) && mlirAffineDimExprGetPosition(mlirAffineBinaryOpExprGetLHS(q)) == n_loop &&
         mlirAffineDimExprGetPosition(k) == c->k_loops[0];
}

static bool recognise_matmul(contraction *c) {
  int n_loop = c->rank - 1, m_loop = c->rank - 2;
  if (c->n_k != 1 || c->rank < 2)
    return false;
  c->v_in = depends_on(c->g.maps[1], n_loop) ? 1 : 0;
  c->s_in = 1 - c->v_in;
  if (depends_on(c->g.maps[c->s_in], n_loop) || depends_on(c->g.maps[c->v_in], m_loop))
    return false;
  c->s = tc__access_find(c->all, tc__generic_in(&c->g, c->s_in));
  c->v = tc__access_find(c->all, tc__generic_in(&c->g, c->v_in));
  if (!c->s || !c->v || c->s->place != TC__PLACE_MEMORY || c->v->place != TC__PLACE_MEMORY)
    return false;
  for (int i = 0; i < m_loop; i++)
    c->outer[c->n_outer++] = i;
  c->m_dim = m_loop;
  c->n_spatial = 1;
  c->spatial[0] = n_loop;
  c->packed = is_packed(c, c->g.maps[c->v_in], n_loop);
  if (!starts_at_zero(c->s, c->g.maps[c->s_in]) || (!c->packed && !starts_at_zero(c->v, c->g.maps[c->v_in])))
    return false;
  for (size_t l = 0; l < c->g.n_loops; l++)
    if (!linear_step(c->s, c->g.maps[c->s_in], (int)l, &c->s_step[l]) ||
        (!c->packed && !linear_step(c->v, c->g.maps[c->v_in], (int)l, &c->v_step[l])))
      return false;
  return true;
}

// The memory behind x, through an expand_shape of groups and a pad.
static bool see_through(contraction *c, const tc__access *x, bool grouped) {
  const tc__access *padded = x->place == TC__PLACE_EXPAND ? x->source : x;
  const tc__access *memory = padded->place == TC__PLACE_PAD ? padded->source : padded;
  if (memory->place != TC__PLACE_MEMORY)
    return false;
  int rank = x->type.rank, lead = rank - c->n_spatial, source_lead = memory->type.rank - c->n_spatial;
  if (padded->place == TC__PLACE_PAD && padded->type.rank != memory->type.rank)
    return false;
  for (int d = 0; d < source_lead && padded->place == TC__PLACE_PAD; d++)
    if (padded->low[d] || padded->type.shape[d] != memory->type.shape[d])
      return false;
  // Padding is of zeros (tensor.pad in front of a convolution is made so).
  for (int i = 0; i < c->n_spatial; i++) {
    c->v_low[i] = padded->place == TC__PLACE_PAD ? padded->low[source_lead + i] : 0;
    c->v_size[i] = memory->type.shape[source_lead + i];
  }
  int64_t area = memory->strides[source_lead - 1];
  int64_t channels = x->type.shape[lead - 1];
  c->v_step[0] = x->type.shape[0] == 1 ? 0 : channels * (grouped ? x->type.shape[1] : 1) * area;
  if (grouped)
    c->v_step[1] = channels * area;
  c->v_step[c->k_loops[0]] = area;
  for (int i = 0; i < c->n_spatial; i++)
    c->v_step[c->spatial[i]] = memory->strides[source_lead + i];
  c->v = (tc__access *)(uintptr_t)memory;
  return true;
}

// Loops [n, g?, o, spatial.., c, window..] as convert-tc-to-linalg makes them.
static bool recognise_convolution(contraction *c) {
  c->n_spatial = c->n_k - 1;
  bool grouped = c->rank == c->n_spatial + 3;
  if (c->n_spatial < 1 || c->n_spatial > MAX_SPATIAL || (c->rank != c->n_spatial + 2 && !grouped))
    return false;
  c->v_in = 0;
  c->s_in = 1;
  c->conv = true;
  c->s = tc__access_find(c->all, tc__generic_in(&c->g, 1));
  const tc__access *x = tc__access_find(c->all, tc__generic_in(&c->g, 0));
  if (!c->s || !x || c->s->place != TC__PLACE_MEMORY || !starts_at_zero(c->s, c->g.maps[1]))
    return false;
  c->outer[c->n_outer++] = 0;
  if (grouped)
    c->outer[c->n_outer++] = 1;
  c->m_dim = grouped ? 2 : 1;
  for (int i = 0; i < c->n_spatial; i++)
    c->spatial[i] = c->m_dim + 1 + i;
  MlirAffineMap map = c->g.maps[0];
  if (mlirAffineMapGetNumResults(map) != c->rank)
    return false;
  int lead = c->rank - c->n_spatial; // n, g?, c
  static const int expected_plain[3] = {0, 1, -1};
  for (int r = 0; r < lead; r++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, r);
    int want = r == lead - 1 ? c->k_loops[0] : expected_plain[r];
    bool unit = mlirAffineExprIsAConstant(e) && mlirAffineConstantExprGetValue(e) == 0 && c->sizes[want] == 1;
    if (!unit && (!mlirAffineExprIsADim(e) || mlirAffineDimExprGetPosition(e) != want))
      return false;
  }
  // Position = out * stride + window * dilation, by evaluating the expression on unit steps.
  for (int i = 0; i < c->n_spatial; i++) {
    tc__access unit = {.type = {.rank = 1, .shape = {1}}, .strides = {1}};
    MlirAffineExpr e = mlirAffineMapGetResult(map, lead + i);
    MlirAffineMap one = mlirAffineMapGet(mlirAffineMapGetContext(map), mlirAffineMapGetNumDims(map), 0, 1, &e);
    int64_t other;
    if (!linear_step(&unit, one, c->spatial[i], &c->stride[i]) || !linear_step(&unit, one, c->k_loops[1 + i], &c->dilation[i]) ||
        !starts_at_zero(&unit, one))
      return false;
    for (size_t l = 0; l < c->g.n_loops; l++)
      if ((int)l != c->spatial[i] && (int)l != c->k_loops[1 + i] && (!linear_step(&unit, one, (int)l, &other) || other))
        return false;
    if (c->sizes[c->spatial[i]] == 1 && c->stride[i] == 0)
      c->stride[i] = 1;
    if (c->sizes[c->k_loops[1 + i]] == 1)
      c->dilation[i] = 1;
    if (c->stride[i] < 1 || c->dilation[i] < 1)
      return false;
  }
  for (size_t l = 0; l < c->g.n_loops; l++)
    if (!linear_step(c->s, c->g.maps[1], (int)l, &c->s_step[l]))
      return false;
  return see_through(c, x, grouped);
}

static bool recognise(contraction *c, MlirOperation func) {
  MlirBlock block = c->k.old_block;
  MlirOperation ret = mlirBlockGetTerminator(block);
  bool found = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, ret); op = mlirOperationGetNextInBlock(op)) {
    tc__generic_view g;
    if (!tc__generic_read(op, &g))
      continue;
    if (tc__generic_is_contraction(&g)) {
      if (found)
        return false;
      c->g = g;
      found = true;
    } else {
      if (c->n_epilogue == 16 || !tc__generic_is_pointwise(&g))
        return false;
      c->epilogue[c->n_epilogue++] = op;
    }
  }
  (void)func;
  if (!found || c->g.n_ins != 2 || c->g.n_outs != 1)
    return false;
  for (size_t i = 0; i < 3; i++) {
    MlirType t = mlirShapedTypeGetElementType(mlirValueGetType(mlirOperationGetOperand(c->g.op, (intptr_t)i)));
    if (!mlirTypeIsAF32(t))
      return false;
  }
  tc__generic_sizes(&c->g, c->sizes);
  c->rank = (int)mlirAffineMapGetNumResults(c->g.maps[2]);
  for (int d = 0; d < c->rank; d++) { // result dims are the first loops, in order
    MlirAffineExpr e = mlirAffineMapGetResult(c->g.maps[2], d);
    if (!mlirAffineExprIsADim(e) || mlirAffineDimExprGetPosition(e) != d)
      return false;
  }
  for (size_t l = (size_t)c->rank; l < c->g.n_loops; l++) {
    if (!c->g.reduction[l])
      return false;
    c->k_loops[c->n_k++] = (int)l;
  }
  MlirStringRef kind;
  bool conv = tc__get_str(c->g.op, "tc.contraction", &kind) && kind.length == strlen("convolution");
  if (!(conv ? recognise_convolution(c) : recognise_matmul(c)))
    return false;
  // A depthwise convolution has one product an output and tap: nothing to block.
  return !conv || c->sizes[c->m_dim] * c->sizes[c->k_loops[0]] >= 16;
}

// ---- shape of the work --------------------------------------------------------------------------------------------------------------------------------

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static void choose(contraction *c, int vector_bits) {
  c->lanes = vector_bits >= 512 ? 16 : vector_bits >= 256 ? 8 : 4;
  c->mr = vector_bits >= 512 ? 8 : vector_bits >= 256 ? 6 : 4;
  c->nr = 2 * c->lanes;
  int64_t m = c->sizes[c->m_dim], k = 1;
  for (int i = 0; i < c->n_k; i++)
    k *= c->sizes[c->k_loops[i]];
  enum { BLOCK_FLOATS = 56 * 1024 }; // of V in the second-level cache, beside S's rows
  if (!c->conv) {
    int64_t n = c->sizes[c->spatial[0]];
    if (!c->packed) {
      c->block = BLOCK_FLOATS * 2 / k / c->nr * c->nr;
      c->block = c->block < c->nr ? c->nr : c->block > 512 ? 512 : c->block;
      int64_t whole = round_up(n, c->nr);
      c->block = c->block > whole ? whole : c->block;
    }
    c->pitch = c->block;
    c->v_rows = k;
    c->plane = c->block;
    c->tile_width = c->block;
  } else {
    int last = c->n_spatial - 1;
    c->shifted = c->n_spatial <= 2;
    for (int i = 0; i < c->n_spatial; i++)
      c->shifted &= c->stride[i] == 1;
    int64_t ow = c->sizes[c->spatial[last]], kw = c->sizes[c->k_loops[1 + last]], channels = c->sizes[c->k_loops[0]];
    int64_t rows = 1, halo = 0;
    for (int i = 0; i < last; i++)
      rows *= c->sizes[c->spatial[i]];
    c->pitch = c->shifted ? ow + (kw - 1) * c->dilation[last] : ow;
    if (c->shifted && c->n_spatial == 2)
      halo = (c->sizes[c->k_loops[1]] - 1) * c->dilation[0];
    c->v_rows = c->shifted ? channels : k;
    // A row for each tap makes large blocks; few columns a block would leave the registers' columns empty.
    int64_t budget = (c->shifted ? BLOCK_FLOATS : 5 * BLOCK_FLOATS) / c->v_rows / c->pitch - halo;
    c->block = budget < 1 ? 1 : budget > rows ? rows : budget;
    // Blocks of one size, and some for each thread.
    int64_t blocks = (rows + c->block - 1) / c->block;
    c->block = (rows + blocks - 1) / blocks;
    c->tile_width = round_up(c->block * c->pitch, c->nr);
    c->plane = c->shifted ? round_up((c->block + halo) * c->pitch, 16) + 16 : c->tile_width;
  }
  int64_t outer = 1, blocks = c->conv ? 1 : (c->sizes[c->spatial[0]] + c->block - 1) / c->block;
  for (int i = 0; i < c->n_outer; i++)
    outer *= c->sizes[c->outer[i]];
  if (c->conv) {
    int64_t rows = 1;
    for (int i = 0; i + 1 < c->n_spatial; i++)
      rows *= c->sizes[c->spatial[i]];
    blocks = (rows + c->block - 1) / c->block;
  }
  c->m_split = 1;
  while (outer * blocks * c->m_split < 4 && m / (c->m_split * 2) >= c->mr)
    c->m_split *= 2;
}

// ---- emitting -----------------------------------------------------------------------------------------------------------------------------------------

static V constant_step(tc__builder *b, V x, int64_t step) { return step ? tc__muli(b, x, step) : (V){NULL}; }

static MlirType f32_type(tc__builder *b) { return mlirF32TypeGet(b->ctx); }

static V scratch_at(contraction *c, tc__builder *b, int64_t floats) {
  return floats ? tc__gep(b, c->k.scratch, f32_type(b), tc__i64(b, floats)) : c->k.scratch;
}

// for j in 0..n: to[j] = from[j * step]; a vectorised loop
static void copy_run(tc__builder *b, V to, V from, V low, V high, int64_t step) {
  V j;
  tc__for f;
  tc__builder in = tc__for_begin(b, low, high, tc__i64(b, 1), NULL, 0, &j, &f);
  V value = tc__load(&in, tc__gep(&in, from, f32_type(b), tc__muli(&in, j, step)), f32_type(b), 4);
  tc__store(&in, tc__gep(&in, to, f32_type(b), j), value, 4);
  tc__for_end(b, &in, &f, NULL);
}

static void zero_run(tc__builder *b, V to, V low, V high) {
  V j, zero = tc__const_f(b, f32_type(b), 0);
  tc__for f;
  tc__builder in = tc__for_begin(b, low, high, tc__i64(b, 1), NULL, 0, &j, &f);
  tc__store(&in, tc__gep(&in, to, f32_type(b), j), zero, 4);
  tc__for_end(b, &in, &f, NULL);
}

// V's block of a matmul: rows of k, `block` columns from n0.
static void pack_matmul(contraction *c, tc__builder *b, V base, V n0, V columns) {
  int n_loop = c->spatial[0], k_loop = c->k_loops[0];
  V k;
  tc__for f;
  V start = tc__gep(b, base, f32_type(b), constant_step(b, n0, c->v_step[n_loop]));
  tc__builder in = tc__for_begin(b, tc__i64(b, 0), tc__i64(b, c->sizes[k_loop]), tc__i64(b, 1), NULL, 0, &k, &f);
  V from = tc__gep(&in, start, f32_type(b), constant_step(&in, k, c->v_step[k_loop]));
  V to = tc__gep(&in, scratch_at(c, &in, 0), f32_type(b), tc__muli(&in, k, c->pitch));
  copy_run(&in, to, from, tc__i64(&in, 0), columns, c->v_step[n_loop] ? c->v_step[n_loop] : 0);
  tc__for_end(b, &in, &f, NULL);
}

// One row of the input into a packed row of `width`: position p of it is input column p * stride + shift; what falls outside is zero.
static void pack_row(contraction *c, tc__builder *b, V to, V row_start, int64_t width, int64_t stride, int64_t shift, V inside) {
  int last = c->n_spatial - 1;
  int64_t size = c->v_size[last], step = c->v_step[c->spatial[last]];
  // Columns p with 0 <= p * stride + shift < size.
  int64_t low = shift < 0 ? (-shift + stride - 1) / stride : 0, high = size - shift <= 0 ? 0 : (size - shift + stride - 1) / stride;
  low = low > width ? width : low;
  high = high > width ? width : high < low ? low : high;
  V zero = tc__i64(b, 0), w = tc__i64(b, width);
  // A row outside of the image is all zeros: an empty copy.
  V from_column = tc__select(b, inside, tc__i64(b, low), w), to_column = tc__select(b, inside, tc__i64(b, high), w);
  zero_run(b, to, zero, from_column);
  V from = tc__gep(b, row_start, f32_type(b), tc__i64(b, shift * step));
  copy_run(b, to, from, from_column, to_column, stride * step);
  zero_run(b, to, to_column, w);
}

// Splits a flat row number into the leading spatial positions.
static void split_row(contraction *c, tc__builder *b, V row, V *at) {
  for (int i = c->n_spatial - 2; i >= 0; i--) {
    at[i] = i == 0 ? row : tc__binary(b, "arith.remsi", row, tc__i64(b, c->sizes[c->spatial[i]]));
    if (i > 0)
      row = tc__binary(b, "arith.divsi", row, tc__i64(b, c->sizes[c->spatial[i]]));
  }
}

static V in_range(tc__builder *b, V x, int64_t size) { return tc__cmpi(b, TC__CMPI_ULT, x, tc__i64(b, size)); }

// V's block of a convolution: output rows from row0 on.
static void pack_convolution(contraction *c, tc__builder *b, V base, V row0, V rows) {
  int last = c->n_spatial - 1;
  V channel;
  tc__for f;
  tc__builder in = tc__for_begin(b, tc__i64(b, 0), tc__i64(b, c->sizes[c->k_loops[0]]), tc__i64(b, 1), NULL, 0, &channel, &f);
  V plane = tc__gep(&in, base, f32_type(b), constant_step(&in, channel, c->v_step[c->k_loops[0]]));
  V t = tc__const_i(&in, mlirIntegerTypeGet(b->ctx, 1), 1);
  if (c->shifted) { // (rows + halo) rows of the padded input
    int64_t halo = c->n_spatial == 2 ? (c->sizes[c->k_loops[1]] - 1) * c->dilation[0] : 0;
    V r;
    tc__for fr;
    tc__builder row = tc__for_begin(&in, tc__i64(&in, 0), tc__addi(&in, rows, tc__i64(&in, halo)), tc__i64(&in, 1), NULL, 0, &r, &fr);
    V inside = t, start = plane;
    if (c->n_spatial == 2) {
      V ih = tc__binary(&row, "arith.subi", tc__addi(&row, row0, r), tc__i64(&row, c->v_low[0]));
      inside = in_range(&row, ih, c->v_size[0]);
      V safe = tc__select(&row, inside, ih, tc__i64(&row, 0));
      start = tc__gep(&row, plane, f32_type(b), tc__muli(&row, safe, c->v_step[c->spatial[0]]));
    }
    V offset = tc__addi(&row, tc__muli(&row, channel, c->plane), tc__muli(&row, r, c->pitch));
    pack_row(c, &row, tc__gep(&row, c->k.scratch, f32_type(b), offset), start, c->pitch, 1, -c->v_low[last], inside);
    tc__for_end(&in, &row, &fr, NULL);
  } else { // a packed row for each tap
    tc__for taps[MAX_SPATIAL];
    tc__builder at[MAX_SPATIAL + 1];
    V window[MAX_SPATIAL], tap = channel;
    at[0] = in;
    for (int i = 0; i < last; i++) {
      at[i + 1] = tc__for_begin(&at[i], tc__i64(&at[i], 0), tc__i64(&at[i], c->sizes[c->k_loops[1 + i]]), tc__i64(&at[i], 1), NULL, 0, &window[i], &taps[i]);
      tap = tc__addi(&at[i + 1], tc__muli(&at[i + 1], tap, c->sizes[c->k_loops[1 + i]]), window[i]);
    }
    tc__builder *deep = &at[last];
    V r, pos[MAX_SPATIAL];
    tc__for fr;
    tc__builder row = tc__for_begin(deep, tc__i64(deep, 0), rows, tc__i64(deep, 1), NULL, 0, &r, &fr);
    split_row(c, &row, tc__addi(&row, row0, r), pos);
    V inside = t, start = plane;
    for (int i = 0; i < last; i++) {
      V ih = tc__addi(&row, tc__muli(&row, pos[i], c->stride[i]), tc__muli(&row, window[i], c->dilation[i]));
      ih = tc__binary(&row, "arith.subi", ih, tc__i64(&row, c->v_low[i]));
      V ok = in_range(&row, ih, c->v_size[i]);
      inside = tc__binary(&row, "arith.andi", inside, ok);
      start = tc__gep(&row, start, f32_type(b), tc__muli(&row, tc__select(&row, ok, ih, tc__i64(&row, 0)), c->v_step[c->spatial[i]]));
    }
    // The taps along the row differ by constants: unrolled.
    int64_t kw = c->sizes[c->k_loops[1 + last]];
    for (int64_t x = 0; x < kw; x++) {
      V line = tc__addi(&row, tc__muli(&row, tap, kw), tc__i64(&row, x));
      V offset = tc__addi(&row, tc__muli(&row, line, c->plane), tc__muli(&row, r, c->pitch));
      pack_row(c, &row, tc__gep(&row, c->k.scratch, f32_type(b), offset), start, c->pitch, c->stride[last], x * c->dilation[last] - c->v_low[last], inside);
    }
    tc__for_end(deep, &row, &fr, NULL);
    for (int i = last - 1; i >= 0; i--)
      tc__for_end(&at[i], &at[i + 1], &taps[i], NULL);
    in = at[0];
  }
  tc__for_end(b, &in, &f, NULL);
}

// The accumulators over all of k: nested loops over k's parts.
static void accumulate(contraction *c, tc__builder *b, int level, V s_offset, V v_ptr, const V *s_rows, V *acc) {
  int64_t n_acc = c->mr * 2;
  if (level == c->n_k) {
    MlirType vector = mlirVectorTypeGet(1, &c->lanes, f32_type(b));
    V v[2];
    for (int i = 0; i < 2; i++)
      v[i] = tc__load(b, i ? tc__gep(b, v_ptr, f32_type(b), tc__i64(b, c->lanes)) : v_ptr, vector, 4);
    for (int64_t r = 0; r < c->mr; r++) {
      V s = tc__load(b, tc__gep(b, s_rows[r], f32_type(b), s_offset), f32_type(b), 4);
      V wide = tc__build1(b, "vector.broadcast", &s, 1, vector, NULL, 0);
      for (int i = 0; i < 2; i++)
        acc[r * 2 + i] = tc__ternary(b, "vector.fma", wide, v[i], acc[r * 2 + i]);
    }
    return;
  }
  int loop = c->k_loops[level];
  int64_t step; // of V's scratch for one step of this loop
  if (!c->conv)
    step = c->pitch;
  else if (c->shifted)
    step = level == 0 ? c->plane : (level == c->n_k - 1 ? 1 : c->pitch) * c->dilation[level - 1];
  else {
    step = c->plane;
    for (int i = level + 1; i < c->n_k; i++)
      step *= c->sizes[c->k_loops[i]];
  }
  if (c->sizes[loop] == 1) {
    accumulate(c, b, level + 1, s_offset, v_ptr, s_rows, acc);
    return;
  }
  V k;
  tc__for f;
  tc__builder in = tc__for_begin(b, tc__i64(b, 0), tc__i64(b, c->sizes[loop]), tc__i64(b, 1), acc, (size_t)n_acc, &k, &f);
  V deeper = tc__addi(&in, s_offset, constant_step(&in, k, c->s_step[loop]));
  accumulate(c, &in, level + 1, deeper, tc__gep(&in, v_ptr, f32_type(b), tc__muli(&in, k, step)), s_rows, acc);
  MlirOperation op = tc__for_end(b, &in, &f, acc);
  for (int64_t i = 0; i < n_acc; i++)
    acc[i] = mlirOperationGetResult(op, i);
}

// The pointwise ops on one element, and the stores. ivs: the result's dims.
static bool finish_element(contraction *c, tc__builder *b, V value, const V *ivs) {
  MlirOperation ret = mlirBlockGetTerminator(c->k.old_block);
  V results[20][TC_COUNTOF(((tc__generic_view *)0)->maps)];
  MlirOperation owners[20];
  int n = 0;
  owners[n] = c->g.op;
  results[n++][0] = value;
  for (int e = 0; e < c->n_epilogue; e++) {
    tc__generic_view g;
    if (!tc__generic_read(c->epilogue[e], &g))
      return false;
    V args[80];
    for (size_t i = 0; i < g.n_ins; i++) {
      V in = tc__generic_in(&g, i);
      args[i] = (V){NULL};
      for (int k = 0; k < n; k++)
        if (mlirOperationEqual(tc__def_op(in), owners[k]))
          args[i] = results[k][mlirOpResultGetResultNumber(in)];
      if (!mlirValueIsNull(args[i]))
        continue;
      const tc__access *a = tc__access_find(c->all, in);
      if (!a)
        return false;
      MlirAffineMap map = g.maps[i];
      V index[TC_MAX_RANK];
      for (int d = 0; d < a->type.rank; d++)
        index[d] = tc__expr_value(b, mlirAffineMapGetResult(map, d), ivs);
      args[i] = tc__access_load(b, a, index);
    }
    for (size_t r = 0; r < g.n_outs; r++) {
      MlirType t = mlirShapedTypeGetElementType(mlirValueGetType(tc__generic_out(&g, r)));
      args[g.n_ins + r] = mlirTypeIsAInteger(t) ? tc__const_i(b, t, 0) : tc__const_f(b, t, 0);
    }
    owners[n] = c->epilogue[e];
    if (!tc__emit_body(b, &g, args, ivs, c->all, c->scalars, results[n]))
      return false;
    n++;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(ret); i++) {
    V out = mlirOperationGetOperand(ret, i);
    for (int k = 0; k < n; k++)
      if (mlirOperationEqual(tc__def_op(out), owners[k])) {
        tc__access memory = {.place = TC__PLACE_MEMORY, .ptr = c->k.pointers[c->k.n_ins + (size_t)i]};
        tc__type_from_mlir(mlirValueGetType(out), &memory.type);
        memory.element = mlirShapedTypeGetElementType(mlirValueGetType(out));
        int64_t stride = 1;
        for (int d = memory.type.rank - 1; d >= 0; d--) {
          memory.strides[d] = stride;
          stride *= memory.type.shape[d];
        }
        tc__store(b, tc__access_address(b, &memory, ivs), results[k][mlirOpResultGetResultNumber(out)], 0);
      }
  }
  return true;
}

typedef struct task {
  V ivs[TC_MAX_RANK]; // outer dims filled in
  V first, count;     // columns (matmul) or rows (convolution)
  V v_block;
  V m_low, m_high;
} task;

static bool emit_panel(contraction *c, tc__builder *b, const task *t, V s_base, V m0) {
  int64_t m = c->sizes[c->m_dim], tile = c->v_rows * c->plane + 64;
  V tile_ptr = c->packed ? scratch_at(c, b, 0) : scratch_at(c, b, tile);
  V rows[MAX_ROWS];
  for (int64_t r = 0; r < c->mr; r++) { // rows past the end repeat the last one; their results are not stored
    V row = tc__mini(b, tc__addi(b, m0, tc__i64(b, r)), tc__i64(b, m - 1));
    rows[r] = tc__gep(b, s_base, f32_type(b), constant_step(b, row, c->s_step[c->m_dim]));
  }
  V width = c->conv ? tc__muli(b, t->count, c->pitch) : t->count, j;
  tc__for f;
  tc__builder in = tc__for_begin(b, tc__i64(b, 0), width, tc__i64(b, c->nr), NULL, 0, &j, &f);
  MlirType vector = mlirVectorTypeGet(1, &c->lanes, f32_type(b));
  V acc[2 * MAX_ROWS], zero = tc__const_f(&in, vector, 0), none = {NULL};
  for (int64_t i = 0; i < c->mr * 2; i++)
    acc[i] = zero;
  accumulate(c, &in, 0, none, tc__gep(&in, t->v_block, f32_type(b), j), rows, acc);
  for (int64_t r = 0; r < c->mr; r++)
    for (int i = 0; i < 2; i++) {
      V at = tc__addi(&in, j, tc__i64(&in, r * c->tile_width + i * c->lanes));
      tc__store(&in, tc__gep(&in, tile_ptr, f32_type(b), at), acc[r * 2 + i], 4);
    }
  tc__for_end(b, &in, &f, NULL);

  // The tile's valid rows and columns.
  V ivs[TC_MAX_RANK], r, high = tc__mini(b, tc__i64(b, c->mr), tc__binary(b, "arith.subi", t->m_high, m0));
  memcpy(ivs, t->ivs, sizeof ivs);
  tc__for fr;
  tc__builder row = tc__for_begin(b, tc__i64(b, 0), high, tc__i64(b, 1), NULL, 0, &r, &fr);
  ivs[c->m_dim] = tc__addi(&row, m0, r);
  V line = tc__gep(&row, tile_ptr, f32_type(b), tc__muli(&row, r, c->tile_width));
  bool ok;
  if (!c->conv) {
    V x;
    tc__for fx;
    tc__builder e = tc__for_begin(&row, tc__i64(&row, 0), t->count, tc__i64(&row, 1), NULL, 0, &x, &fx);
    ivs[c->spatial[0]] = tc__addi(&e, t->first, x);
    ok = finish_element(c, &e, tc__load(&e, tc__gep(&e, line, f32_type(b), x), f32_type(b), 4), ivs);
    tc__for_end(&row, &e, &fx, NULL);
  } else {
    V y, x, pos[MAX_SPATIAL];
    tc__for fy, fx;
    int last = c->n_spatial - 1;
    tc__builder rb = tc__for_begin(&row, tc__i64(&row, 0), t->count, tc__i64(&row, 1), NULL, 0, &y, &fy);
    split_row(c, &rb, tc__addi(&rb, t->first, y), pos);
    for (int i = 0; i < last; i++)
      ivs[c->spatial[i]] = pos[i];
    V start = tc__gep(&rb, line, f32_type(b), tc__muli(&rb, y, c->pitch));
    tc__builder e = tc__for_begin(&rb, tc__i64(&rb, 0), tc__i64(&rb, c->sizes[c->spatial[last]]), tc__i64(&rb, 1), NULL, 0, &x, &fx);
    ivs[c->spatial[last]] = x;
    ok = finish_element(c, &e, tc__load(&e, tc__gep(&e, start, f32_type(b), x), f32_type(b), 4), ivs);
    tc__for_end(&rb, &e, &fx, NULL);
    tc__for_end(&row, &rb, &fy, NULL);
  }
  tc__for_end(b, &row, &fr, NULL);
  return ok;
}

static bool emit(contraction *c, int64_t *out_tasks, int64_t *out_cost) {
  tc__builder *b = &c->k.b;
  int64_t lines = 1, m = c->sizes[c->m_dim], outer = 1;
  if (c->conv)
    for (int i = 0; i + 1 < c->n_spatial; i++)
      lines *= c->sizes[c->spatial[i]];
  else
    lines = c->sizes[c->spatial[0]];
  int64_t blocks = (lines + c->block - 1) / c->block;
  for (int i = 0; i < c->n_outer; i++)
    outer *= c->sizes[c->outer[i]];
  *out_tasks = outer * blocks * c->m_split;
  double flops = 2;
  for (size_t l = 0; l < c->g.n_loops; l++)
    flops *= (double)c->sizes[l];
  *out_cost = (int64_t)(flops / 60 / (double)*out_tasks) + 1;

  V p;
  tc__for f;
  tc__builder in = tc__for_begin(b, c->k.begin, c->k.end, tc__i64(b, 1), NULL, 0, &p, &f);
  V rest = p, part = tc__i64(&in, 0);
  if (c->m_split > 1) {
    part = tc__binary(&in, "arith.remsi", rest, tc__i64(&in, c->m_split));
    rest = tc__binary(&in, "arith.divsi", rest, tc__i64(&in, c->m_split));
  }
  V nb = blocks == 1 ? tc__i64(&in, 0) : tc__binary(&in, "arith.remsi", rest, tc__i64(&in, blocks));
  if (blocks > 1)
    rest = tc__binary(&in, "arith.divsi", rest, tc__i64(&in, blocks));
  task t;
  V zero = tc__i64(&in, 0);
  for (int d = 0; d < TC_MAX_RANK; d++)
    t.ivs[d] = zero;
  V s_offset = {NULL}, v_offset = {NULL};
  for (int i = c->n_outer - 1; i >= 0; i--) {
    int64_t size = c->sizes[c->outer[i]];
    V at = i == 0 ? rest : size == 1 ? zero : tc__binary(&in, "arith.remsi", rest, tc__i64(&in, size));
    if (i > 0 && size > 1)
      rest = tc__binary(&in, "arith.divsi", rest, tc__i64(&in, size));
    t.ivs[c->outer[i]] = at;
    s_offset = tc__addi(&in, s_offset, constant_step(&in, at, c->s_step[c->outer[i]]));
    v_offset = tc__addi(&in, v_offset, constant_step(&in, at, c->v_step[c->outer[i]]));
  }
  V s_base = tc__gep(&in, c->s->ptr, f32_type(b), s_offset), v_base = tc__gep(&in, c->v->ptr, f32_type(b), v_offset);
  t.first = tc__muli(&in, nb, c->block);
  t.count = lines % c->block ? tc__mini(&in, tc__i64(&in, c->block), tc__binary(&in, "arith.subi", tc__i64(&in, lines), t.first)) : tc__i64(&in, c->block);
  t.v_block = c->k.scratch;
  if (c->conv)
    pack_convolution(c, &in, v_base, t.first, t.count);
  else if (c->packed)
    t.v_block = tc__gep(&in, c->v->ptr, f32_type(b), tc__muli(&in, nb, c->v_rows * c->block));
  else
    pack_matmul(c, &in, v_base, t.first, t.count);
  int64_t share = round_up((m + c->m_split - 1) / c->m_split, c->mr);
  t.m_low = tc__muli(&in, part, share);
  t.m_high = c->m_split > 1 ? tc__mini(&in, tc__addi(&in, t.m_low, tc__i64(&in, share)), tc__i64(&in, m)) : tc__i64(&in, m);
  t.m_low = tc__mini(&in, t.m_low, t.m_high);
  V m0;
  tc__for fm;
  tc__builder panel = tc__for_begin(&in, t.m_low, t.m_high, tc__i64(&in, c->mr), NULL, 0, &m0, &fm);
  bool ok = emit_panel(c, &panel, &t, s_base, m0);
  tc__for_end(&in, &panel, &fm, NULL);
  tc__for_end(b, &in, &f, NULL);
  return ok;
}

static tc_status lower(contraction *c, MlirOperation func, int vector_bits, bool *out_done) {
  // Recognised on the old function, before anything is made.
  c->k.old_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  tc__kernel begun;
  V placeholder = {NULL};
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(c->k.old_block); i++)
    if (!tc__access_add(c->all, mlirBlockGetArgument(c->k.old_block, i), placeholder))
      return TC_OK;
  MlirOperation ret = mlirBlockGetTerminator(c->k.old_block);
  // Internal ops need a builder for the constants they clone: a block that is thrown away.
  MlirBlock draft = mlirBlockCreate(0, NULL, NULL);
  tc__builder db = tc__builder_at_end(draft, mlirOperationGetLocation(func));
  for (MlirOperation op = mlirBlockGetFirstOperation(c->k.old_block); !mlirOperationEqual(op, ret); op = mlirOperationGetNextInBlock(op))
    tc__access_add_internal(c->all, &db, op, c->scalars);
  bool fits = recognise(c, func);
  mlirBlockDestroy(draft);
  if (!fits)
    return TC_OK;
  choose(c, vector_bits);
  int64_t s_index = c->s - c->all->items, v_index = c->v - c->all->items;
  TC_TRY(tc__kernel_begin(func, TC__TARGET_CPU, &begun));
  c->k = begun;
  c->all->n = 0;
  c->scalars->n = 0;
  for (size_t i = 0; i < c->k.n_ins; i++)
    tc__access_add(c->all, mlirBlockGetArgument(c->k.old_block, (intptr_t)i), c->k.pointers[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(c->k.old_block); !mlirOperationEqual(op, ret); op = mlirOperationGetNextInBlock(op))
    tc__access_add_internal(c->all, &c->k.b, op, c->scalars);
  c->s = &c->all->items[s_index];
  c->v = &c->all->items[v_index];
  int64_t tasks, cost;
  if (!emit(c, &tasks, &cost))
    return tc__error_at(mlirOperationGetLocation(func), TC_ERR_UNSUPPORTED, "an op behind this contraction cannot be computed on its tile");
  int64_t floats = (c->packed ? 0 : c->v_rows * c->plane + 64) + c->mr * c->tile_width + 64;
  tc__kernel_finish(&c->k, tasks, cost, floats * 4);
  *out_done = true;
  return TC_OK;
}

tc_status tc__lower_contraction_kernel(MlirOperation func, int vector_bits, bool *out_done) {
  *out_done = false;
  contraction *c = tc__calloc(1, sizeof *c);
  tc_status status = TC_OK;
  if (!c || !(c->all = tc__calloc(1, sizeof *c->all)) || !(c->scalars = tc__calloc(1, sizeof *c->scalars)))
    status = tc__oom();
  if (status == TC_OK)
    status = lower(c, func, vector_bits, out_done);
  if (c) {
    tc__free(c->all);
    tc__free(c->scalars);
  }
  tc__free(c);
  return status;
}
