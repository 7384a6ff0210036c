// Reading linalg.generic and building one from several.
#include "fuse_pointwise.h"

// ---- pointer map
// ------------------------------------------------------------------------------------------------------------------------

static size_t ptr_slot(const tc__ptrmap *m, const void *key) {
  uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  size_t i = (size_t)(h >> 20) & (m->capacity - 1);
  while (m->keys[i] && m->keys[i] != key)
    i = (i + 1) & (m->capacity - 1);
  return i;
}

bool tc__ptrmap_set(tc__ptrmap *m, const void *key, void *value) {
  if (m->size * 2 >= m->capacity) {
    tc__ptrmap bigger = {.capacity = m->capacity ? m->capacity * 2 : 64};
    bigger.keys = tc__calloc(bigger.capacity, sizeof *bigger.keys);
    bigger.values = tc__alloc(bigger.capacity * sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
      tc__ptrmap_free(&bigger);
      return false;
    }
    for (size_t i = 0; i < m->capacity; i++)
      if (m->keys[i]) {
        size_t k = ptr_slot(&bigger, m->keys[i]);
        bigger.keys[k] = m->keys[i], bigger.values[k] = m->values[i];
      }
    bigger.size = m->size;
    tc__ptrmap_free(m);
    *m = bigger;
  }
  size_t k = ptr_slot(m, key);
  m->size += !m->keys[k];
  m->keys[k] = key, m->values[k] = value;
  return true;
}

void *tc__ptrmap_get(const tc__ptrmap *m, const void *key) {
  if (!m->size)
    return NULL;
  size_t k = ptr_slot(m, key);
  return m->keys[k] ? m->values[k] : NULL;
}

void tc__ptrmap_free(tc__ptrmap *m) {
  tc__free(m->keys);
  tc__free(m->values);
  memset(m, 0, sizeof *m);
}

// ---- reading
// ----------------------------------------------------------------------------------------------------------------------------

MlirAffineMap tc__gen_map(MlirOperation op, intptr_t operand) {
  MlirAttribute maps = mlirOperationGetAttributeByName(op, tc__sref("indexing_maps"));
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand));
}

static MlirAttribute iterators(MlirOperation op) { return mlirOperationGetAttributeByName(op, tc__sref("iterator_types")); }

static MlirAttribute iterator_attr(MlirContext ctx, bool reduction) {
  return mlirAttributeParseGet(ctx, tc__sref(reduction ? "#linalg.iterator_type<reduction>" : "#linalg.iterator_type<parallel>"));
}

intptr_t tc__gen_loops(MlirOperation op) { return mlirArrayAttrGetNumElements(iterators(op)); }

static void to_text(MlirStringRef s, void *user) {
  char *text = user; // "#linalg.iterator_type<...>": the letter after '<' tells
  for (size_t i = 0; i < s.length; i++)
    if (text[0] == '<' && !text[1])
      text[1] = s.data[i];
    else if (s.data[i] == '<')
      text[0] = '<';
}

static bool is_parallel(MlirAttribute iterator) {
  char text[2] = {0, 0};
  mlirAttributePrint(iterator, to_text, text);
  return text[1] == 'p';
}

bool tc__gen_is_parallel(MlirOperation op, intptr_t loop) { return is_parallel(mlirArrayAttrGetElement(iterators(op), loop)); }

bool tc__gen_all_parallel(MlirOperation op) {
  MlirAttribute its = iterators(op), known = {NULL};
  for (intptr_t i = 0, n = mlirArrayAttrGetNumElements(its); i < n; i++) {
    MlirAttribute it = mlirArrayAttrGetElement(its, i);
    if (!mlirAttributeIsNull(known) && mlirAttributeEqual(it, known))
      continue;
    if (!is_parallel(it))
      return false;
    known = it;
  }
  return true;
}

MlirBlock tc__gen_body(MlirOperation op) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)); }

bool tc__gen_is_pointwise(MlirOperation op) {
  if (!tc__gen_is(op) || mlirOperationGetNumResults(op) < 1 || !tc__gen_all_parallel(op))
    return false;
  for (intptr_t r = 0, n = mlirOperationGetNumResults(op); r < n; r++)
    if (!mlirAffineMapIsIdentity(tc__gen_map(op, tc__gen_inputs(op) + r)))
      return false;
  return true;
}

bool tc__gen_is_contraction(MlirOperation op) {
  return tc__gen_is(op) && !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, tc__sref("tc.contraction")));
}

int64_t tc__gen_loop_size(MlirOperation op, intptr_t loop) {
  // Outs first: the input of a window reads further than the loop goes.
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op);
  for (intptr_t k = 0; k < n; k++) {
    intptr_t i = (k + n_in) % n;
    MlirType t = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsAShaped(t))
      continue;
    MlirAffineMap map = tc__gen_map(op, i);
    for (intptr_t r = 0, m = mlirAffineMapGetNumResults(map); r < m; r++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, r);
      if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == loop)
        return mlirShapedTypeIsDynamicDim(t, r) ? -1 : mlirShapedTypeGetDimSize(t, r);
    }
  }
  return -1;
}

static bool name_in(MlirOperation op, const char *const *names, size_t count) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < count; i++)
    if (strlen(names[i]) == name.length && !memcmp(names[i], name.data, name.length))
      return true;
  return false;
}

bool tc__gen_is_cheap(MlirOperation op) {
  static const char *const dear[] = {"arith.divf",  "arith.remf",  "arith.divsi",     "arith.divui",
                                     "arith.remsi", "arith.remui", "arith.floordivsi"};
  int count = 0;
  for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(op)); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(o));
    if (name.length > 5 && !memcmp(name.data, "math.", 5) && !tc__op_is(o, "math.absf") && !tc__op_is(o, "math.absi"))
      return false;
    if (mlirOperationGetNumRegions(o) || name_in(o, dear, TC_COUNTOF(dear)))
      return false;
    count += !tc__op_is(o, "arith.constant") && !tc__op_is(o, "linalg.yield") && !tc__op_is(o, "linalg.index");
  }
  return count <= 4;
}

bool tc__gen_reads_outs(MlirOperation op) {
  for (intptr_t i = tc__gen_inputs(op), n = mlirOperationGetNumOperands(op); i < n; i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(tc__gen_body(op), i))))
      return true;
  return false;
}

bool tc__gen_only_moves(MlirOperation op) {
  for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(op)); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    if (!tc__op_is(o, "linalg.yield") && !tc__op_is(o, "arith.constant"))
      return false;
  return true;
}

bool tc__is_free_cast(MlirOperation op) {
  static const char *const casts[] = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.bitcast", "tensor.cast"};
  return name_in(op, casts, TC_COUNTOF(casts));
}

MlirAffineMap tc__map_compose(MlirAffineMap outer, MlirAffineMap inner) {
  if (mlirAffineMapIsIdentity(inner))
    return outer;
  if (mlirAffineMapIsIdentity(outer))
    return inner;
  intptr_t n = mlirAffineMapGetNumResults(outer), dims = mlirAffineMapGetNumDims(inner);
  MlirAffineExpr exprs[64];
  if (n > 64)
    return (MlirAffineMap){NULL};
  for (intptr_t i = 0; i < n; i++)
    exprs[i] = mlirSimplifyAffineExpr(mlirAffineExprCompose(mlirAffineMapGetResult(outer, i), inner), (uint32_t)dims, 0);
  return mlirAffineMapGet(mlirAffineMapGetContext(outer), dims, 0, n, exprs);
}

int64_t tc__mlir_type_elements(MlirType t) {
  if (!mlirTypeIsAShaped(t))
    return 1;
  if (!mlirShapedTypeHasRank(t) || !mlirShapedTypeHasStaticShape(t))
    return -1;
  int64_t n = 1;
  for (intptr_t i = 0, rank = mlirShapedTypeGetRank(t); i < rank; i++)
    n *= mlirShapedTypeGetDimSize(t, i);
  return n;
}

int64_t tc__mlir_type_bytes(MlirType t) {
  int64_t n = mlirTypeIsAShaped(t) ? tc__mlir_type_elements(t) : 0;
  if (n <= 0)
    return 0;
  MlirType e = mlirShapedTypeGetElementType(t);
  int64_t bits = mlirTypeIsAInteger(e) ? mlirIntegerTypeGetWidth(e) : mlirTypeIsAFloat(e) ? mlirFloatTypeGetWidth(e) : 64;
  return n * ((bits + 7) / 8);
}

static bool is_constant(MlirOperation def) { return tc__op_is(def, "arith.constant") || tc__op_is(def, "tc.constant"); }

/// A constant with one value everywhere, of a type that arith has.
static bool is_splat(MlirOperation def) {
  if (!is_constant(def))
    return false;
  MlirAttribute value = mlirOperationGetAttributeByName(def, tc__sref("value"));
  MlirType t = mlirValueGetType(mlirOperationGetResult(def, 0)), e = mlirTypeIsAShaped(t) ? mlirShapedTypeGetElementType(t) : t;
  if (mlirTypeIsAInteger(e) && !mlirIntegerTypeIsSignless(e))
    return false;
  return !mlirAttributeIsADenseElements(value) || mlirDenseElementsAttrIsSplat(value);
}

int64_t tc__gen_bytes_read(MlirOperation op) {
  int64_t known = tc__get_int(op, "tc.bytes_read", -1);
  if (known >= 0)
    return known;
  int64_t sum = 0;
  bool generic = tc__gen_is(op);
  intptr_t n = generic ? tc__gen_inputs(op) : mlirOperationGetNumOperands(op);
  int64_t domain =
      generic && tc__gen_is_pointwise(op) ? tc__mlir_type_elements(mlirValueGetType(mlirOperationGetResult(op, 0))) : -1;
  for (intptr_t i = 0; i < n; i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    MlirOperation def = tc__def_op(v);
    if (!mlirOperationIsNull(def) && (is_splat(def) || tc__op_is(def, "linalg.fill") || tc__op_is(def, "tensor.empty")))
      continue;
    int64_t elements = tc__mlir_type_elements(mlirValueGetType(v)), bytes = tc__mlir_type_bytes(mlirValueGetType(v));
    if (domain >= 0 && elements > domain) // a slice reads no more than it gives
      bytes = bytes / elements * domain;
    sum += bytes;
  }
  return sum;
}

int64_t tc__gen_bytes_written(MlirOperation op) {
  int64_t known = tc__get_int(op, "tc.bytes_written", -1), sum = 0;
  if (known >= 0)
    return known;
  for (intptr_t i = 0, n = mlirOperationGetNumResults(op); i < n; i++)
    sum += tc__mlir_type_bytes(mlirValueGetType(mlirOperationGetResult(op, i)));
  return sum;
}

void tc__op_label(MlirOperation op, tc__str *out) {
  MlirStringRef s;
  if (tc__get_str(op, "tc.op", &s)) {
    tc__str_append_n(out, s.data, s.length);
    return;
  }
  s = mlirIdentifierStr(mlirOperationGetName(op));
  if (tc__gen_is(op)) { // an unnamed generic is called by the one op of its body, if there is one
    MlirOperation only = {NULL};
    int count = 0;
    for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(op)); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o))
      if (!tc__op_is(o, "linalg.yield") && !tc__op_is(o, "arith.constant") && !tc__op_is(o, "linalg.index"))
        only = o, count++;
    if (count == 1)
      s = mlirIdentifierStr(mlirOperationGetName(only));
    else if (!count)
      s = tc__sref("copy");
    else
      s = tc__sref(tc__gen_all_parallel(op) ? "pointwise" : "reduction");
  }
  const char *dot = memchr(s.data, '.', s.length);
  size_t skip = dot ? (size_t)(dot + 1 - s.data) : 0;
  tc__str_append_n(out, s.data + skip, s.length - skip);
}

// ---- building
// ---------------------------------------------------------------------------------------------------------------------------

void tc__copy_discardable(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0, n = mlirOperationGetNumDiscardableAttributes(from); i < n; i++) {
    MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(a.name), a.attribute);
  }
}

MlirAffineMap tc__map_fit(MlirAffineMap map, MlirType type, const int64_t *sizes) {
  MlirAffineExpr exprs[64];
  intptr_t n = mlirAffineMapGetNumResults(map);
  bool changed = false;
  for (intptr_t r = 0; r < n && n <= 64 && mlirTypeIsAShaped(type); r++) {
    MlirAffineExpr e = exprs[r] = mlirAffineMapGetResult(map, r);
    int64_t size = mlirShapedTypeIsDynamicDim(type, r) ? -1 : mlirShapedTypeGetDimSize(type, r);
    bool mod = mlirAffineExprIsAMod(e) && mlirAffineExprIsAConstant(mlirAffineBinaryOpExprGetRHS(e));
    MlirAffineExpr d = mod ? mlirAffineBinaryOpExprGetLHS(e) : e;
    if (size < 0 || !mlirAffineExprIsADim(d) || sizes[mlirAffineDimExprGetPosition(d)] < 0)
      continue;
    int64_t loop = sizes[mlirAffineDimExprGetPosition(d)];
    if (!mod && size > loop)
      exprs[r] = mlirAffineModExprGet(d, mlirAffineConstantExprGet(mlirAffineMapGetContext(map), size));
    else if (mod && size == loop && mlirAffineConstantExprGetValue(mlirAffineBinaryOpExprGetRHS(e)) >= loop)
      exprs[r] = d;
    changed |= !mlirAffineExprEqual(exprs[r], e);
  }
  return changed ? mlirAffineMapGet(mlirAffineMapGetContext(map), mlirAffineMapGetNumDims(map), 0, n, exprs) : map;
}

MlirOperation tc__gen_build(tc__builder *b, const tc__gen_spec *spec, MlirRegion body) {
  size_t n = spec->n_inputs + spec->n_outs;
  MlirValue *operands = tc__alloc((n + 1) * sizeof *operands);
  MlirAttribute *maps = tc__alloc((n + 1) * sizeof *maps), its[64];
  MlirType *types = tc__alloc((spec->n_outs + 1) * sizeof *types);
  MlirOperation op = {NULL};
  if (operands && maps && types && spec->n_loops <= 64) {
    MlirAttribute par = iterator_attr(b->ctx, false), red = spec->reduction_loops ? iterator_attr(b->ctx, true) : par;
    int64_t sizes[64];
    for (intptr_t l = 0; l < spec->n_loops; l++)
      sizes[l] = spec->sizes ? spec->sizes[l] : -1;
    for (size_t i = spec->n_inputs; i < n; i++)
      for (intptr_t r = 0, m = mlirAffineMapGetNumResults(spec->maps[i]); r < m; r++) {
        MlirAffineExpr e = mlirAffineMapGetResult(spec->maps[i], r);
        MlirType t = mlirValueGetType(spec->outs[i - spec->n_inputs]);
        if (mlirAffineExprIsADim(e) && !mlirShapedTypeIsDynamicDim(t, r))
          sizes[mlirAffineDimExprGetPosition(e)] = mlirShapedTypeGetDimSize(t, r);
      }
    for (size_t i = 0; i < n; i++) {
      operands[i] = i < spec->n_inputs ? spec->inputs[i] : spec->outs[i - spec->n_inputs];
      MlirAffineMap map = i < spec->n_inputs ? tc__map_fit(spec->maps[i], mlirValueGetType(operands[i]), sizes) : spec->maps[i];
      maps[i] = mlirAffineMapAttrGet(map);
    }
    for (intptr_t i = 0; i < spec->n_loops; i++)
      its[i] = spec->reduction_loops >> i & 1 ? red : par;
    for (size_t i = 0; i < spec->n_outs; i++)
      types[i] = mlirValueGetType(spec->outs[i]);
    int32_t segments[2] = {(int32_t)spec->n_inputs, (int32_t)spec->n_outs};
    MlirNamedAttribute attrs[] = {
        tc__named(b->ctx, "indexing_maps", mlirArrayAttrGet(b->ctx, (intptr_t)n, maps)),
        tc__named(b->ctx, "iterator_types", mlirArrayAttrGet(b->ctx, spec->n_loops, its)),
        tc__named(b->ctx, "operandSegmentSizes", mlirDenseI32ArrayGet(b->ctx, 2, segments)),
    };
    op = tc__build(b, "linalg.generic", operands, n, types, spec->n_outs, attrs, TC_COUNTOF(attrs), &body, 1);
  } else {
    mlirRegionDestroy(body);
    tc__oom();
  }
  tc__free(operands);
  tc__free(maps);
  tc__free(types);
  return op;
}

/// linalg.index `loop` of an op whose loops are `map` of the loops here, as arithmetic.
static MlirValue build_affine(tc__builder *b, MlirAffineExpr e) {
  MlirType index = mlirIndexTypeGet(b->ctx);
  if (mlirAffineExprIsADim(e)) {
    MlirNamedAttribute dim = tc__named(b->ctx, "dim", tc__attr_i64(b->ctx, mlirAffineDimExprGetPosition(e)));
    return tc__build1(b, "linalg.index", NULL, 0, index, &dim, 1);
  }
  if (mlirAffineExprIsAConstant(e)) {
    MlirNamedAttribute value = tc__named(b->ctx, "value", mlirIntegerAttrGet(index, mlirAffineConstantExprGetValue(e)));
    return tc__build1(b, "arith.constant", NULL, 0, index, &value, 1);
  }
  MlirValue args[2] = {build_affine(b, mlirAffineBinaryOpExprGetLHS(e)), build_affine(b, mlirAffineBinaryOpExprGetRHS(e))};
  // Loop indices and positions are never negative, so the unsigned forms do.
  const char *name = mlirAffineExprIsAAdd(e)        ? "arith.addi"
                     : mlirAffineExprIsAMul(e)      ? "arith.muli"
                     : mlirAffineExprIsAMod(e)      ? "arith.remui"
                     : mlirAffineExprIsAFloorDiv(e) ? "arith.divui"
                                                    : "arith.ceildivui";
  return tc__build1(b, name, args, 2, index, NULL, 0);
}

typedef struct remap {
  const tc__ptrmap *values;
} remap;

static MlirWalkResult remap_operands(MlirOperation op, void *user) {
  const tc__ptrmap *values = ((remap *)user)->values;
  for (intptr_t i = 0, n = mlirOperationGetNumOperands(op); i < n; i++) {
    void *to = tc__ptrmap_get(values, mlirOperationGetOperand(op, i).ptr);
    if (to)
      mlirOperationSetOperand(op, i, (MlirValue){to});
  }
  return MlirWalkResultAdvance;
}

/// Clones the body of `op`, whose block arguments are already in `values`, to the end of `block`; its loops are `loops` of the
/// ones there. The terminator is not cloned; its operands, mapped, go to yields.
static bool clone_body(MlirOperation op, MlirBlock block, MlirAffineMap loops, tc__ptrmap *values, MlirValue *yields) {
  bool same = mlirAffineMapIsIdentity(loops);
  remap r = {values};
  for (MlirOperation o = mlirBlockGetFirstOperation(tc__gen_body(op)); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o)) {
    if (tc__op_is(o, "linalg.yield")) {
      for (intptr_t i = 0, n = mlirOperationGetNumOperands(o); i < n; i++) {
        MlirValue v = mlirOperationGetOperand(o, i);
        void *to = tc__ptrmap_get(values, v.ptr);
        yields[i] = to ? (MlirValue){to} : v;
      }
      return true;
    }
    if (!same && tc__op_is(o, "linalg.index")) {
      tc__builder b = tc__builder_at_end(block, mlirOperationGetLocation(o));
      MlirValue v = build_affine(&b, mlirAffineMapGetResult(loops, (intptr_t)tc__get_int(o, "dim", 0)));
      if (!tc__ptrmap_set(values, mlirOperationGetResult(o, 0).ptr, (void *)v.ptr))
        return false;
      continue;
    }
    MlirOperation c = mlirOperationClone(o);
    mlirBlockAppendOwnedOperation(block, c);
    if (mlirOperationGetNumRegions(c))
      mlirOperationWalk(c, remap_operands, &r, MlirWalkPreOrder);
    else
      remap_operands(c, &r);
    for (intptr_t i = 0, n = mlirOperationGetNumResults(o); i < n; i++)
      if (!tc__ptrmap_set(values, mlirOperationGetResult(o, i).ptr, (void *)mlirOperationGetResult(c, i).ptr))
        return false;
  }
  return true;
}

MlirOperation tc__gen_remapped(tc__builder *b, MlirOperation op, MlirAffineMap loops, const MlirAffineMap *maps,
                               const MlirValue *operands, uint64_t reductions) {
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op);
  MlirValue *yields = tc__alloc(((size_t)n + 1) * sizeof *yields);
  MlirOperation out = {NULL};
  tc__ptrmap values = {0};
  bool ok = yields != NULL;
  if (ok) {
    MlirBlock from = tc__gen_body(op), body = mlirBlockCreate(0, NULL, NULL);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, body);
    for (intptr_t i = 0; i < n; i++) {
      MlirValue old = mlirBlockGetArgument(from, i), arg = mlirBlockAddArgument(body, mlirValueGetType(old), b->loc);
      ok = ok && tc__ptrmap_set(&values, old.ptr, (void *)arg.ptr);
    }
    ok = ok && clone_body(op, body, loops, &values, yields);
    if (ok) {
      tc__builder inner = tc__builder_at_end(body, b->loc);
      tc__build(&inner, "linalg.yield", yields, (size_t)(n - n_in), NULL, 0, NULL, 0, NULL, 0);
      int64_t sizes[64];
      for (intptr_t l = 0; l < 64; l++)
        sizes[l] = -1;
      for (intptr_t l = 0, m = mlirAffineMapGetNumResults(loops); l < m; l++) {
        MlirAffineExpr e = mlirAffineMapGetResult(loops, l);
        if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) < 64)
          sizes[mlirAffineDimExprGetPosition(e)] = tc__gen_loop_size(op, l);
      }
      tc__gen_spec spec = {operands,  operands + n_in, maps, (size_t)n_in, (size_t)(n - n_in), mlirAffineMapGetNumDims(loops),
                           reductions, sizes};
      out = tc__gen_build(b, &spec, region);
      if (!mlirOperationIsNull(out))
        tc__copy_discardable(op, out);
    } else {
      mlirRegionDestroy(region);
    }
  }
  if (!ok)
    tc__oom();
  tc__ptrmap_free(&values);
  tc__free(yields);
  return out;
}

MlirOperation tc__gen_interchanged(tc__builder *b, MlirOperation op, const intptr_t *perm, const MlirValue *operands) {
  intptr_t n_loops = tc__gen_loops(op), n = mlirOperationGetNumOperands(op);
  MlirAffineExpr at[64]; // old loop -> new dim
  uint64_t reductions = 0;
  for (intptr_t i = 0; i < n_loops; i++) {
    at[perm[i]] = mlirAffineDimExprGet(b->ctx, i);
    if (!tc__gen_is_parallel(op, perm[i]))
      reductions |= UINT64_C(1) << i;
  }
  MlirAffineMap order = mlirAffineMapGet(b->ctx, n_loops, 0, n_loops, at);
  MlirAffineMap *maps = tc__alloc(((size_t)n + 1) * sizeof *maps);
  MlirOperation out = {NULL};
  if (!maps) {
    tc__oom();
    return out;
  }
  for (intptr_t i = 0; i < n; i++)
    maps[i] = tc__map_compose(tc__gen_map(op, i), order);
  out = tc__gen_remapped(b, op, order, maps, operands, reductions);
  tc__free(maps);
  return out;
}

// ---- fusing
// -----------------------------------------------------------------------------------------------------------------------------

typedef struct instance { // one op computed in the body, for loops `map` of the loops there
  MlirOperation op;
  MlirAffineMap map;
  MlirValue *yields;
} instance;

typedef struct fuser {
  MlirContext ctx;
  MlirLocation loc;
  MlirBlock body;
  MlirOperation root; ///< the one op that is no pointwise one, or null
  tc__inside_fn inside;
  void *user;
  instance *instances;
  size_t n_instances, instance_capacity;
  tc__ptrmap first_instance; ///< op -> first instance + 1; few ops have more than one
  MlirValue *inputs;
  MlirAffineMap *maps;
  size_t n_inputs, input_capacity;
  tc__ptrmap known_inputs; ///< value -> first input + 1
  tc__str label;
  MlirLocation locs[32];
  size_t n_locs;
  int64_t read, written;
  bool oom;
} fuser;

bool tc__value_is_splat(MlirValue v) {
  MlirOperation def = tc__def_op(v);
  if (!mlirOperationIsNull(def) && tc__op_is(def, "linalg.fill"))
    def = tc__def_op(mlirOperationGetOperand(def, 0));
  return !mlirOperationIsNull(def) && is_splat(def);
}

static MlirValue scalar_constant(fuser *f, MlirType type, MlirAttribute value) {
  tc__builder b = tc__builder_at_end(f->body, f->loc);
  MlirNamedAttribute attr = tc__named(f->ctx, "value", value);
  return tc__build1(&b, "arith.constant", NULL, 0, type, &attr, 1);
}

/// The value as a scalar made in the body when it is the same everywhere: a constant, a splat, or a fill with one.
static MlirValue as_scalar(fuser *f, MlirValue v) {
  MlirOperation def = tc__def_op(v);
  if (mlirOperationIsNull(def))
    return (MlirValue){NULL};
  if (tc__op_is(def, "linalg.fill")) {
    v = mlirOperationGetOperand(def, 0);
    def = tc__def_op(v);
    if (mlirOperationIsNull(def))
      return (MlirValue){NULL};
  }
  if (!is_splat(def))
    return (MlirValue){NULL};
  MlirAttribute value = mlirOperationGetAttributeByName(def, tc__sref("value"));
  MlirType type = mlirValueGetType(v);
  if (!mlirTypeIsAShaped(type))
    return scalar_constant(f, type, value);
  return scalar_constant(f, mlirShapedTypeGetElementType(type), mlirDenseElementsAttrGetSplatValue(value));
}

static MlirValue external_input(fuser *f, MlirValue v, MlirAffineMap map) {
  size_t first = (size_t)(uintptr_t)tc__ptrmap_get(&f->known_inputs, v.ptr);
  for (size_t i = first ? first - 1 : f->n_inputs; i < f->n_inputs; i++)
    if (f->inputs[i].ptr == v.ptr && mlirAffineMapEqual(f->maps[i], map))
      return mlirBlockGetArgument(f->body, (intptr_t)i);
  if (f->n_inputs == f->input_capacity) {
    size_t capacity = f->input_capacity ? f->input_capacity * 2 : 16;
    MlirValue *inputs = tc__realloc(f->inputs, capacity * sizeof *inputs);
    if (inputs)
      f->inputs = inputs;
    MlirAffineMap *maps = tc__realloc(f->maps, capacity * sizeof *maps);
    if (maps)
      f->maps = maps;
    f->oom |= !inputs || !maps;
    if (f->oom)
      return (MlirValue){NULL};
    f->input_capacity = capacity;
  }
  f->inputs[f->n_inputs] = v;
  f->maps[f->n_inputs++] = map;
  if (!first)
    f->oom |= !tc__ptrmap_set(&f->known_inputs, v.ptr, (void *)(uintptr_t)f->n_inputs);
  MlirType t = mlirValueGetType(v);
  return mlirBlockInsertArgument(f->body, (intptr_t)f->n_inputs - 1, mlirTypeIsAShaped(t) ? mlirShapedTypeGetElementType(t) : t,
                                 f->loc);
}

static void count_source(fuser *f, MlirOperation op) {
  if (f->label.size < 400) {
    if (f->label.size)
      tc__str_append(&f->label, " ");
    tc__op_label(op, &f->label);
  }
  if (f->n_locs < TC_COUNTOF(f->locs))
    f->locs[f->n_locs++] = mlirOperationGetLocation(op);
  f->read += tc__gen_bytes_read(op);
  f->written += tc__gen_bytes_written(op);
  // What is computed in two kernels is counted in the first.
  mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_read"), tc__attr_i64(f->ctx, 0));
  mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_written"), tc__attr_i64(f->ctx, 0));
}

static const MlirValue *emit(fuser *f, MlirOperation op, MlirAffineMap map) {
  size_t first = (size_t)(uintptr_t)tc__ptrmap_get(&f->first_instance, op.ptr);
  for (size_t i = first ? first - 1 : f->n_instances; i < f->n_instances; i++)
    if (f->instances[i].op.ptr == op.ptr && mlirAffineMapEqual(f->instances[i].map, map))
      return f->instances[i].yields;
  intptr_t n = mlirOperationGetNumOperands(op), n_in = tc__gen_inputs(op);
  MlirBlock from = tc__gen_body(op);
  tc__ptrmap values = {0};
  MlirValue *yields = tc__alloc(((size_t)(n - n_in) + 1) * sizeof *yields);
  f->oom |= !yields;
  for (intptr_t i = 0; i < n && !f->oom; i++) {
    MlirValue v = mlirOperationGetOperand(op, i), arg = mlirBlockGetArgument(from, i);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(arg)))
      continue;
    if (i >= n_in && op.ptr == f->root.ptr) { // a reduction goes on from its out
      f->oom |= !tc__ptrmap_set(&values, arg.ptr, (void *)mlirBlockGetArgument(f->body, (intptr_t)f->n_inputs + i - n_in).ptr);
      continue;
    }
    MlirAffineMap m = tc__map_compose(tc__gen_map(op, i), map);
    MlirValue to = as_scalar(f, v);
    MlirOperation def = tc__def_op(v);
    if (mlirValueIsNull(to) && !mlirOperationIsNull(def) && i < n_in && f->inside(f->user, def, op)) {
      const MlirValue *given = emit(f, def, m);
      if (!given)
        break;
      to = given[mlirOpResultGetResultNumber(v)];
    }
    if (mlirValueIsNull(to))
      to = external_input(f, v, m);
    f->oom |= mlirValueIsNull(to) || !tc__ptrmap_set(&values, arg.ptr, (void *)to.ptr);
  }
  f->oom = f->oom || !clone_body(op, f->body, map, &values, yields);
  tc__ptrmap_free(&values);
  if (!f->oom && f->n_instances == f->instance_capacity) {
    size_t capacity = f->instance_capacity ? f->instance_capacity * 2 : 16;
    instance *more = tc__realloc(f->instances, capacity * sizeof *more);
    f->oom |= !more;
    if (more)
      f->instances = more, f->instance_capacity = capacity;
  }
  if (f->oom) {
    tc__free(yields);
    return NULL;
  }
  if (!first) {
    count_source(f, op);
    f->oom |= !tc__ptrmap_set(&f->first_instance, op.ptr, (void *)(uintptr_t)(f->n_instances + 1));
  }
  f->instances[f->n_instances++] = (instance){op, map, yields};
  return yields;
}

/// linalg takes the sizes of loops from operands. When none is left that shows one (all were computed away), an empty tensor
/// does.
static void bind_loops(fuser *f, tc__builder *b, MlirOperation root, const int64_t *sizes) {
  uint64_t seen = 0;
  intptr_t n_loops = tc__gen_loops(root), n_in = tc__gen_inputs(root), n = 0;
  for (size_t i = 0; i < f->n_inputs + (size_t)mlirOperationGetNumResults(root); i++) {
    MlirAffineMap map = i < f->n_inputs ? tc__map_fit(f->maps[i], mlirValueGetType(f->inputs[i]), sizes)
                                        : tc__gen_map(root, n_in + (intptr_t)(i - f->n_inputs));
    for (intptr_t r = 0, m = mlirAffineMapGetNumResults(map); r < m; r++)
      if (mlirAffineExprIsADim(mlirAffineMapGetResult(map, r)))
        seen |= UINT64_C(1) << mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, r));
  }
  MlirAffineExpr exprs[64];
  int64_t shape[64];
  for (intptr_t l = 0; l < n_loops && l < 64; l++)
    if (!(seen >> l & 1))
      exprs[n] = mlirAffineDimExprGet(f->ctx, l), shape[n++] = sizes[l];
  if (!n)
    return;
  MlirType t = mlirRankedTensorTypeGet(n, shape, mlirIntegerTypeGet(f->ctx, 8), mlirAttributeGetNull());
  external_input(f, tc__build1(b, "tensor.empty", NULL, 0, t, NULL, 0), mlirAffineMapGet(f->ctx, n_loops, 0, n, exprs));
}

MlirOperation tc__gen_fuse(MlirOperation before, const MlirValue *values, size_t n_values, tc__inside_fn inside, void *user) {
  MlirOperation last = tc__def_op(values[0]), op = {NULL};
  bool pointwise = tc__gen_is_pointwise(last);
  intptr_t n_loops = tc__gen_loops(last);
  tc__builder b = tc__builder_before(before);
  MlirAffineMap identity = mlirAffineMapMultiDimIdentityGet(b.ctx, n_loops);
  fuser f = {.ctx = b.ctx, .loc = b.loc, .body = mlirBlockCreate(0, NULL, NULL), .inside = inside, .user = user};
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, f.body);
  for (size_t i = 0; i < n_values; i++)
    mlirBlockAddArgument(f.body, mlirShapedTypeGetElementType(mlirValueGetType(values[i])), b.loc);
  if (!pointwise)
    f.root = last;
  MlirValue *yields = tc__alloc(n_values * sizeof *yields), *outs = tc__alloc(n_values * sizeof *outs);
  f.oom = !yields || !outs;
  for (size_t i = 0; i < n_values && !f.oom; i++) {
    const MlirValue *given = emit(&f, tc__def_op(values[i]), identity);
    if (given)
      yields[i] = given[mlirOpResultGetResultNumber(values[i])];
  }
  int64_t sizes[64];
  for (intptr_t l = 0; l < 64; l++)
    sizes[l] = l < n_loops ? tc__gen_loop_size(last, l) : -1;
  if (!pointwise && !f.oom)
    bind_loops(&f, &b, last, sizes);
  MlirAffineMap *maps = f.oom ? NULL : tc__realloc(f.maps, (f.n_inputs + n_values) * sizeof *maps);
  f.oom |= !maps;
  if (!f.oom) {
    f.maps = maps;
    b.loc = f.n_locs == 1 ? f.locs[0] : mlirLocationFusedGet(b.ctx, (intptr_t)f.n_locs, f.locs, mlirAttributeGetNull());
    for (size_t i = 0; i < n_values; i++) {
      MlirType t = mlirValueGetType(values[i]);
      MlirOperation def = tc__def_op(values[i]);
      intptr_t out = tc__gen_inputs(def) + mlirOpResultGetResultNumber(values[i]);
      maps[f.n_inputs + i] = pointwise ? identity : tc__gen_map(def, out);
      outs[i] = pointwise && mlirShapedTypeHasStaticShape(t) ? tc__build1(&b, "tensor.empty", NULL, 0, t, NULL, 0)
                                                             : mlirOperationGetOperand(def, out);
    }
    uint64_t reductions = 0;
    for (intptr_t l = 0; !pointwise && l < n_loops && l < 64; l++)
      reductions |= (uint64_t)!tc__gen_is_parallel(last, l) << l;
    tc__builder inner = tc__builder_at_end(f.body, b.loc);
    tc__build(&inner, "linalg.yield", yields, n_values, NULL, 0, NULL, 0, NULL, 0);
    tc__gen_spec spec = {f.inputs, outs, maps, f.n_inputs, n_values, n_loops, reductions, sizes};
    op = tc__gen_build(&b, &spec, region);
    if (!mlirOperationIsNull(op)) {
      if (!pointwise)
        tc__copy_discardable(last, op);
      mlirOperationSetAttributeByName(op, tc__sref("tc.op"),
                                      mlirStringAttrGet(b.ctx, mlirStringRefCreate(f.label.data, f.label.size)));
      mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_read"), tc__attr_i64(b.ctx, f.read));
      mlirOperationSetAttributeByName(op, tc__sref("tc.bytes_written"), tc__attr_i64(b.ctx, f.written));
    }
  } else {
    mlirRegionDestroy(region);
    tc__oom();
  }
  for (size_t i = 0; i < f.n_instances; i++)
    tc__free(f.instances[i].yields);
  tc__free(f.instances);
  tc__free(f.inputs);
  tc__free(f.maps);
  tc__free(yields);
  tc__free(outs);
  tc__str_free(&f.label);
  tc__ptrmap_free(&f.first_instance);
  tc__ptrmap_free(&f.known_inputs);
  return op;
}
