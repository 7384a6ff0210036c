// tc-pack-weights: constant matmul operands are laid out for the kernels once, in @<entry>.prepare.
//
//   %y = linalg.generic {tc.contraction = "matmul", maps (m, k), (n, k), (m, n)} ins(%x, %w)         %w: a parameter [n, k]
// becomes
//   %y = linalg.generic {..., maps (m, k), (n floordiv 64, k, n mod 64), (m, n)} ins(%x, %p)         %p: prepared, [n / 64, k, 64]
//
// and in @main.prepare a generic that fills %p (zeros past n). The form is a valid linalg.generic, so that every lowering understands it; the CPU's streams its
// blocks. Weights that one run reads once are bound by that stream: 16 KB blocks of full lines instead of a walk down columns.
#include "pass.h"
#include "support/generic.h"

#include <stdio.h>

typedef MlirValue V;

enum { BLOCK = 64 };

typedef struct packer {
  MlirOperation entry, prepare; // prepare may be null until it is needed
  MlirBlock entry_block, prepare_block;
  MlirContext ctx;
} packer;

static MlirAttribute arg_dict(MlirOperation func, intptr_t i) {
  MlirAttribute list = mlirOperationGetAttributeByName(func, tc__sref("arg_attrs"));
  return mlirAttributeIsNull(list) || i >= mlirArrayAttrGetNumElements(list) ? mlirAttributeGetNull() : mlirArrayAttrGetElement(list, i);
}

static bool dict_str(MlirAttribute dict, const char *name, MlirStringRef *out) {
  MlirAttribute a = mlirAttributeIsNull(dict) ? dict : mlirDictionaryAttrGetElementByName(dict, tc__sref(name));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return false;
  *out = mlirStringAttrGetValue(a);
  return true;
}

static bool is(MlirStringRef s, const char *text) { return s.length == strlen(text) && memcmp(s.data, text, s.length) == 0; }

static bool is_mutated(const packer *p, MlirStringRef name) {
  MlirAttribute list = mlirOperationGetAttributeByName(p->entry, tc__sref("res_attrs"));
  for (intptr_t i = 0; !mlirAttributeIsNull(list) && i < mlirArrayAttrGetNumElements(list); i++) {
    MlirStringRef target;
    if (dict_str(mlirArrayAttrGetElement(list, i), "tc.mutates", &target) && mlirStringRefEqual(target, name))
      return true;
  }
  return false;
}

// Rewrites a function's type and argument attributes to its block's arguments, with one more attribute dictionary at the end.
static tc_status extend_signature(MlirOperation func, MlirBlock block, MlirAttribute last_dict, MlirType *extra_result) {
  MlirContext ctx = mlirOperationGetContext(func);
  intptr_t n = mlirBlockGetNumArguments(block);
  MlirType old = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(func, tc__sref("function_type")));
  intptr_t n_results = mlirFunctionTypeGetNumResults(old);
  MlirType *types = tc__calloc((size_t)(n + n_results + 2), sizeof *types);
  MlirAttribute *dicts = tc__calloc((size_t)n + 1, sizeof *dicts);
  if (!types || !dicts) {
    tc__free(types);
    tc__free(dicts);
    return tc__oom();
  }
  for (intptr_t i = 0; i < n; i++) {
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
    dicts[i] = arg_dict(func, i);
    if (mlirAttributeIsNull(dicts[i]))
      dicts[i] = i == n - 1 && !mlirAttributeIsNull(last_dict) ? last_dict : mlirDictionaryAttrGet(ctx, 0, NULL);
  }
  for (intptr_t i = 0; i < n_results; i++)
    types[n + i] = mlirFunctionTypeGetResult(old, i);
  if (extra_result)
    types[n + n_results++] = *extra_result;
  mlirOperationSetAttributeByName(func, tc__sref("function_type"), mlirTypeAttrGet(mlirFunctionTypeGet(ctx, n, types, n_results, types + n)));
  mlirOperationSetAttributeByName(func, tc__sref("arg_attrs"), mlirArrayAttrGet(ctx, n, dicts));
  tc__free(types);
  tc__free(dicts);
  return TC_OK;
}

static void make_prepare(packer *p) {
  MlirStringRef name = tc__sref("main");
  tc__get_str(p->entry, "sym_name", &name);
  char symbol[512];
  snprintf(symbol, sizeof symbol, "%.*s.prepare", (int)name.length, name.data);
  p->prepare = tc__find_func(mlirOperationGetParentOperation(p->entry), symbol);
  if (mlirOperationIsNull(p->prepare)) {
    MlirLocation loc = mlirOperationGetLocation(p->entry);
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    tc__builder end = tc__builder_at_end(block, loc);
    tc__build(&end, "func.return", NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    MlirRegion region = mlirRegionCreate();
    mlirRegionAppendOwnedBlock(region, block);
    MlirNamedAttribute attrs[2] = {tc__named(p->ctx, "sym_name", tc__attr_str(p->ctx, symbol)),
                                   tc__named(p->ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(p->ctx, 0, NULL, 0, NULL)))};
    tc__builder b = tc__builder_before(p->entry);
    p->prepare = tc__build(&b, "func.func", NULL, 0, NULL, 0, attrs, 2, &region, 1);
    mlirOperationMoveAfter(p->prepare, p->entry);
  }
  p->prepare_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->prepare, 0));
}

// The value in @prepare behind an argument of the entry function; null when it is no constant.
static V constant_source(packer *p, V arg, tc_status *status) {
  V none = {NULL};
  if (!mlirValueIsABlockArgument(arg) || !mlirBlockEqual(mlirBlockArgumentGetOwner(arg), p->entry_block))
    return none;
  MlirAttribute dict = arg_dict(p->entry, mlirBlockArgumentGetArgNumber(arg));
  MlirStringRef kind, name, other;
  if (!dict_str(dict, "tc.kind", &kind) || is(kind, "input"))
    return none;
  if (is(kind, "prepared")) {
    make_prepare(p);
    MlirAttribute index = mlirDictionaryAttrGetElementByName(dict, tc__sref("tc.index"));
    MlirOperation ret = mlirBlockGetTerminator(p->prepare_block);
    int64_t i = mlirAttributeIsNull(index) ? -1 : mlirIntegerAttrGetValueInt(index);
    return i < 0 || i >= mlirOperationGetNumOperands(ret) ? none : mlirOperationGetOperand(ret, (intptr_t)i);
  }
  if (!dict_str(dict, "tc.name", &name) || is_mutated(p, name))
    return none;
  make_prepare(p);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(p->prepare_block); i++)
    if (dict_str(arg_dict(p->prepare, i), "tc.name", &other) && mlirStringRefEqual(other, name))
      return mlirBlockGetArgument(p->prepare_block, i);
  V fresh = mlirBlockAddArgument(p->prepare_block, mlirValueGetType(arg), mlirOperationGetLocation(p->entry));
  *status = extend_signature(p->prepare, p->prepare_block, dict, NULL);
  return fresh;
}

// [n, k] -> [ceil(n / BLOCK), k, BLOCK], zeros past n.
static V emit_pack(packer *p, V w) {
  MlirOperation ret = mlirBlockGetTerminator(p->prepare_block);
  tc__builder b = tc__builder_before(ret);
  tc__type t;
  tc__type_from_mlir(mlirValueGetType(w), &t);
  tc__type packed = {.dtype = t.dtype, .rank = 3, .shape = {(t.shape[0] + BLOCK - 1) / BLOCK, t.shape[1], BLOCK}};
  tc__generic g = {.n_outs = 1, .n_loops = 3};
  g.outs[0] = tc__empty(&b, tc__type_to_mlir(p->ctx, &packed), NULL, 0);
  g.out_maps[0] = tc__identity_map(p->ctx, 3);
  tc__builder *body = tc__generic_begin(&b, &g);
  MlirType index = mlirIndexTypeGet(p->ctx);
  V at[3];
  for (int i = 0; i < 3; i++) {
    MlirNamedAttribute attr = tc__named(p->ctx, "dim", tc__attr_i64(p->ctx, i));
    at[i] = tc__build1(body, "linalg.index", NULL, 0, index, &attr, 1);
  }
  V n = tc__binary(body, "arith.addi", tc__binary(body, "arith.muli", at[0], tc__const_i(body, index, BLOCK)), at[2]);
  V last = tc__const_i(body, index, t.shape[0] - 1);
  V operands[3] = {w, tc__binary(body, "arith.minsi", n, last), at[1]};
  MlirType element = tc__dtype_to_mlir(p->ctx, t.dtype);
  V value = tc__build1(body, "tensor.extract", operands, 3, element, NULL, 0);
  if (t.shape[0] % BLOCK)
    value = tc__select(body, tc__cmpi(body, TC__CMPI_SLE, n, last), value, tc__const_f(body, element, 0));
  MlirNamedAttribute label = tc__named(p->ctx, "tc.op", tc__attr_str(p->ctx, "pack"));
  V result = mlirOperationGetResult(tc__generic_end(&b, &g, &value, 1, &label, 1), 0);
  // Returned as one more value.
  intptr_t n_old = mlirOperationGetNumOperands(ret);
  V *values = tc__calloc((size_t)n_old + 1, sizeof *values);
  if (!values)
    return (V){NULL};
  for (intptr_t i = 0; i < n_old; i++)
    values[i] = mlirOperationGetOperand(ret, i);
  values[n_old] = result;
  tc__build(&b, "func.return", values, (size_t)n_old + 1, NULL, 0, NULL, 0, NULL, 0);
  mlirOperationDestroy(ret);
  tc__free(values);
  return result;
}

// Whether operand 1 is read as (n, k), n the last loop of the result and k the one reduction loop.
static bool wants_packing(const tc__generic_view *g) {
  MlirStringRef kind;
  if (!tc__get_str(g->op, "tc.contraction", &kind) || !is(kind, "matmul") || g->n_ins != 2 || g->n_outs != 1)
    return false;
  MlirAffineMap map = g->maps[1], out = g->maps[2];
  intptr_t rank = mlirAffineMapGetNumResults(out);
  if (rank < 2 || mlirAffineMapGetNumResults(map) != 2 || (intptr_t)g->n_loops != rank + 1)
    return false;
  MlirAffineExpr n = mlirAffineMapGetResult(map, 0), k = mlirAffineMapGetResult(map, 1);
  MlirType t = mlirValueGetType(tc__generic_in(g, 1));
  return mlirAffineExprIsADim(n) && mlirAffineDimExprGetPosition(n) == rank - 1 && mlirAffineExprIsADim(k) && mlirAffineDimExprGetPosition(k) == rank &&
         mlirTypeIsAF32(mlirShapedTypeGetElementType(t)) && mlirShapedTypeHasStaticShape(t) && mlirShapedTypeGetDimSize(t, 0) >= BLOCK;
}

static tc_status pack(packer *p, tc__generic_view *g) {
  V w = tc__generic_in(g, 1);
  tc_status status = TC_OK;
  V source = constant_source(p, w, &status);
  TC_TRY(status);
  if (mlirValueIsNull(source))
    return TC_OK;
  V packed = emit_pack(p, source);
  if (mlirValueIsNull(packed))
    return tc__oom();
  MlirType type = mlirValueGetType(packed);
  TC_TRY(extend_signature(p->prepare, p->prepare_block, mlirAttributeGetNull(), &type));
  intptr_t index = mlirOperationGetNumOperands(mlirBlockGetTerminator(p->prepare_block)) - 1;
  MlirNamedAttribute attrs[2] = {tc__named(p->ctx, "tc.index", tc__attr_i64(p->ctx, index)),
                                 tc__named(p->ctx, "tc.kind", tc__attr_str(p->ctx, "prepared"))};
  V arg = mlirBlockAddArgument(p->entry_block, type, mlirOperationGetLocation(p->entry));
  TC_TRY(extend_signature(p->entry, p->entry_block, mlirDictionaryAttrGet(p->ctx, 2, attrs), NULL));
  // The new operand and its map.
  mlirOperationSetOperand(g->op, 1, arg);
  intptr_t n_dim = mlirAffineMapGetNumResults(g->maps[2]) - 1;
  MlirAffineExpr n = mlirAffineDimExprGet(p->ctx, n_dim), block = mlirAffineConstantExprGet(p->ctx, BLOCK);
  MlirAffineExpr results[3] = {mlirAffineFloorDivExprGet(n, block), mlirAffineDimExprGet(p->ctx, n_dim + 1), mlirAffineModExprGet(n, block)};
  MlirAttribute maps[3] = {mlirAffineMapAttrGet(g->maps[0]), mlirAffineMapAttrGet(mlirAffineMapGet(p->ctx, n_dim + 2, 0, 3, results)),
                           mlirAffineMapAttrGet(g->maps[2])};
  mlirOperationSetAttributeByName(g->op, tc__sref("indexing_maps"), mlirArrayAttrGet(p->ctx, 3, maps));
  return TC_OK;
}

tc_status tc__pass_pack_weights(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  packer p = {.ctx = mlirOperationGetContext(module)};
  p.entry = tc__find_func(module, "main");
  if (mlirOperationIsNull(p.entry))
    p.entry = tc__find_func(module, NULL);
  if (mlirOperationIsNull(p.entry) || !tc__op_is(p.entry, "func.func"))
    return TC_OK;
  p.entry_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(p.entry, 0));
  if (mlirBlockIsNull(p.entry_block))
    return TC_OK;
  for (MlirOperation op = mlirBlockGetFirstOperation(p.entry_block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    tc__generic_view g;
    if (tc__generic_read(op, &g) && wants_packing(&g))
      TC_TRY(pack(&p, &g));
  }
  return TC_OK;
}
