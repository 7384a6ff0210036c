#include "emit.h"

#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>

typedef MlirValue V;

// ---- integers and control flow --------------------------------------------------------------------------------------------------------------------

V tc__i64(tc__builder *b, int64_t v) { return tc__const_i(b, mlirIntegerTypeGet(b->ctx, 64), v); }

V tc__addi(tc__builder *b, V x, V y) {
  if (mlirValueIsNull(x))
    return y;
  return mlirValueIsNull(y) ? x : tc__binary(b, "arith.addi", x, y);
}

V tc__muli(tc__builder *b, V x, int64_t c) {
  if (c == 0)
    return (V){NULL};
  return c == 1 ? x : tc__binary(b, "arith.muli", x, tc__i64(b, c));
}

V tc__mini(tc__builder *b, V x, V y) { return tc__binary(b, "arith.minsi", x, y); }

tc__builder tc__for_begin(tc__builder *b, V low, V high, V step, V *carried, size_t n, V *iv, tc__for *f) {
  MlirType types[65];
  MlirLocation locs[65];
  types[0] = mlirValueGetType(low);
  locs[0] = b->loc;
  f->n = n;
  f->operands[0] = low;
  f->operands[1] = high;
  f->operands[2] = step;
  for (size_t i = 0; i < n; i++) {
    types[i + 1] = mlirValueGetType(carried[i]);
    locs[i + 1] = b->loc;
    f->operands[3 + i] = carried[i];
  }
  f->block = mlirBlockCreate((intptr_t)n + 1, types, locs);
  *iv = mlirBlockGetArgument(f->block, 0);
  for (size_t i = 0; i < n; i++)
    carried[i] = mlirBlockGetArgument(f->block, (intptr_t)i + 1);
  return tc__builder_at_end(f->block, b->loc);
}

MlirOperation tc__for_end(tc__builder *b, tc__builder *inside, tc__for *f, const V *next) {
  MlirType types[64];
  for (size_t i = 0; i < f->n; i++)
    types[i] = mlirValueGetType(f->operands[3 + i]);
  tc__build(inside, "scf.yield", next, f->n, NULL, 0, NULL, 0, NULL, 0);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, f->block);
  return tc__build(b, "scf.for", f->operands, 3 + f->n, types, f->n, NULL, 0, &region, 1);
}

tc__builder tc__if_begin(tc__builder *b, V cond) {
  MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(regions[0], block);
  tc__builder inside = tc__builder_at_end(block, b->loc);
  MlirOperation yield = tc__build(&inside, "scf.yield", NULL, 0, NULL, 0, NULL, 0, NULL, 0);
  tc__build(b, "scf.if", &cond, 1, NULL, 0, NULL, 0, regions, 2);
  inside.before = yield;
  return inside;
}

// ---- memory ---------------------------------------------------------------------------------------------------------------------------------------

MlirType tc__ptr_type(MlirContext ctx, unsigned space) { return mlirLLVMPointerTypeGet(ctx, space); }

static bool is_i1(MlirType t) { return mlirTypeIsAInteger(t) && mlirIntegerTypeGetWidth(t) == 1; }

MlirType tc__memory_element(MlirType element) { return is_i1(element) ? mlirIntegerTypeGet(mlirTypeGetContext(element), 8) : element; }

V tc__gep(tc__builder *b, V ptr, MlirType element, V offset) {
  if (mlirValueIsNull(offset))
    return ptr;
  int32_t dynamic = INT32_MIN;
  V operands[2] = {ptr, offset};
  MlirNamedAttribute attrs[2] = {tc__named(b->ctx, "elem_type", mlirTypeAttrGet(tc__memory_element(element))),
                                 tc__named(b->ctx, "rawConstantIndices", mlirDenseI32ArrayGet(b->ctx, 1, &dynamic))};
  return tc__build1(b, "llvm.getelementptr", operands, 2, mlirValueGetType(ptr), attrs, 2);
}

V tc__load(tc__builder *b, V ptr, MlirType type, int64_t alignment) {
  MlirNamedAttribute align = tc__named(b->ctx, "alignment", tc__attr_i64(b->ctx, alignment));
  MlirType memory = mlirTypeIsAVector(type) ? type : tc__memory_element(type);
  V v = tc__build1(b, "llvm.load", &ptr, 1, memory, &align, alignment > 0);
  return is_i1(type) ? tc__convert(b, "arith.trunci", v, type) : v;
}

void tc__store(tc__builder *b, V ptr, V value, int64_t alignment) {
  MlirNamedAttribute align = tc__named(b->ctx, "alignment", tc__attr_i64(b->ctx, alignment));
  MlirType t = mlirValueGetType(value);
  V operands[2] = {is_i1(t) ? tc__convert(b, "arith.extui", value, tc__memory_element(t)) : value, ptr};
  tc__build(b, "llvm.store", operands, 2, NULL, 0, &align, alignment > 0, NULL, 0);
}

// ---- tensors --------------------------------------------------------------------------------------------------------------------------------------

tc__access *tc__access_find(tc__accesses *all, V v) {
  for (size_t i = 0; i < all->n; i++)
    if (mlirValueEqual(all->items[i].value, v))
      return &all->items[i];
  return NULL;
}

tc__access *tc__access_add(tc__accesses *all, V v, V ptr) {
  if (all->n == TC_COUNTOF(all->items))
    return NULL;
  tc__access *a = &all->items[all->n++];
  *a = (tc__access){.place = TC__PLACE_MEMORY, .value = v, .ptr = ptr};
  if (!tc__type_from_mlir(mlirValueGetType(v), &a->type))
    return NULL;
  a->element = mlirShapedTypeGetElementType(mlirValueGetType(v));
  int64_t stride = 1;
  for (int d = a->type.rank - 1; d >= 0; d--) {
    a->strides[d] = stride;
    stride *= a->type.shape[d];
  }
  return a;
}

bool tc__access_add_internal(tc__accesses *all, tc__builder *b, MlirOperation op, tc__value_pairs *scalars) {
  if (tc__op_is(op, "arith.constant")) {
    MlirOperation copy = mlirOperationClone(op);
    mlirBlockAppendOwnedOperation(b->block, copy);
    tc__pairs_add(scalars, mlirOperationGetResult(op, 0), mlirOperationGetResult(copy, 0));
    return true;
  }
  bool fill = tc__op_is(op, "linalg.fill"), pad = tc__op_is(op, "tensor.pad"), expand = tc__op_is(op, "tensor.expand_shape");
  if (!fill && !pad && !expand && !tc__op_is(op, "tensor.empty"))
    return false;
  tc__access *a = tc__access_add(all, mlirOperationGetResult(op, 0), (V){NULL});
  if (!a)
    return false;
  a->op = op;
  a->place = fill ? TC__PLACE_FILL : pad ? TC__PLACE_PAD : expand ? TC__PLACE_EXPAND : TC__PLACE_EMPTY;
  if (fill)
    a->scalar = tc__pairs_get(scalars, mlirOperationGetOperand(op, 0));
  if (pad || expand)
    a->source = tc__access_find(all, mlirOperationGetOperand(op, 0));
  if ((pad || expand) && !a->source)
    return false;
  if (pad) {
    tc__get_ints(op, "static_low", a->low, TC_MAX_RANK);
    MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
    a->scalar = tc__pairs_get(scalars, mlirOperationGetOperand(yield, 0));
  }
  return true;
}

V tc__access_address(tc__builder *b, const tc__access *a, const V *index) {
  V offset = {NULL};
  for (int d = a->place == TC__PLACE_ROW ? a->first : 0; d < a->type.rank; d++)
    offset = tc__addi(b, offset, tc__muli(b, index[d], a->strides[d]));
  return tc__gep(b, a->ptr, a->element, offset);
}

V tc__access_load(tc__builder *b, const tc__access *a, const V *index) {
  V at[TC_MAX_RANK], inside = {NULL}, zero;
  switch (a->place) {
  case TC__PLACE_MEMORY:
  case TC__PLACE_ROW:
    return tc__load(b, tc__access_address(b, a, index), a->element, 0);
  case TC__PLACE_FILL:
    return a->scalar;
  case TC__PLACE_EMPTY:
    return mlirTypeIsAInteger(a->element) ? tc__const_i(b, a->element, 0) : tc__const_f(b, a->element, 0);
  case TC__PLACE_PAD:
    zero = tc__i64(b, 0);
    for (int d = 0; d < a->type.rank; d++) {
      at[d] = index[d];
      if (a->source->type.shape[d] == a->type.shape[d])
        continue;
      at[d] = tc__binary(b, "arith.subi", index[d], tc__i64(b, a->low[d]));
      V fits = tc__cmpi(b, TC__CMPI_ULT, at[d], tc__i64(b, a->source->type.shape[d])); // a negative index is huge
      at[d] = tc__select(b, fits, at[d], zero);
      inside = mlirValueIsNull(inside) ? fits : tc__binary(b, "arith.andi", inside, fits);
    }
    if (mlirValueIsNull(inside))
      return tc__access_load(b, a->source, at);
    return tc__select(b, inside, tc__access_load(b, a->source, at), a->scalar);
  case TC__PLACE_EXPAND: {
    MlirAttribute groups = mlirOperationGetAttributeByName(a->op, tc__sref("reassociation"));
    for (int g = 0; g < a->source->type.rank; g++) {
      MlirAttribute group = mlirArrayAttrGetElement(groups, g);
      V sum = {NULL};
      int64_t stride = 1;
      for (intptr_t i = mlirArrayAttrGetNumElements(group) - 1; i >= 0; i--) {
        int64_t d = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, i));
        sum = tc__addi(b, sum, tc__muli(b, index[d], stride));
        stride *= a->type.shape[d];
      }
      at[g] = mlirValueIsNull(sum) ? tc__i64(b, 0) : sum;
    }
    return tc__access_load(b, a->source, at);
  }
  }
  return (V){NULL};
}

bool tc__emit_body(tc__builder *b, const tc__generic_view *g, const V *args, const V *ivs, tc__accesses *all, const tc__value_pairs *scalars,
                   V *yields) {
  tc__value_pairs *pairs = tc__alloc(sizeof *pairs);
  if (!pairs)
    return false;
  pairs->n = 0;
  for (size_t i = 0; i < scalars->n; i++)
    tc__pairs_add(pairs, scalars->from[i], scalars->to[i]);
  for (size_t i = 0; i < g->n_ins + g->n_outs; i++)
    tc__pairs_add(pairs, mlirBlockGetArgument(g->body, (intptr_t)i), args[i]);
  MlirType index = mlirIndexTypeGet(b->ctx), i64 = mlirIntegerTypeGet(b->ctx, 64);
  bool ok = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(g->body); ok && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (tc__op_is(op, "linalg.yield")) {
      for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        yields[i] = tc__pairs_get(pairs, mlirOperationGetOperand(op, i));
      break;
    }
    ok = pairs->n + 2 < TC_COUNTOF(pairs->from);
    if (tc__op_is(op, "linalg.index")) {
      tc__pairs_add(pairs, mlirOperationGetResult(op, 0), tc__convert(b, "arith.index_cast", ivs[tc__get_int(op, "dim", 0)], index));
      continue;
    }
    if (tc__op_is(op, "tensor.extract")) {
      const tc__access *a = tc__access_find(all, mlirOperationGetOperand(op, 0));
      V at[TC_MAX_RANK];
      if (!a) {
        ok = false;
        break;
      }
      for (int d = 0; d < a->type.rank; d++)
        at[d] = tc__convert(b, "arith.index_cast", tc__pairs_get(pairs, mlirOperationGetOperand(op, d + 1)), i64);
      tc__pairs_add(pairs, mlirOperationGetResult(op, 0), tc__access_load(b, a, at));
      continue;
    }
    MlirOperation copy = mlirOperationClone(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(copy); i++)
      mlirOperationSetOperand(copy, i, tc__pairs_get(pairs, mlirOperationGetOperand(op, i)));
    if (mlirOperationIsNull(b->before))
      mlirBlockAppendOwnedOperation(b->block, copy);
    else
      mlirBlockInsertOwnedOperationBefore(b->block, b->before, copy);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
      tc__pairs_add(pairs, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
  tc__free(pairs);
  return ok;
}

// ---- kernel functions -------------------------------------------------------------------------------------------------------------------------------

static MlirOperation make_func(tc__builder *at, const char *name, size_t n_args, MlirType *types, MlirBlock block, const MlirNamedAttribute *more,
                               size_t n_more) {
  MlirNamedAttribute attrs[8] = {
      tc__named(at->ctx, "sym_name", tc__attr_str(at->ctx, name)),
      tc__named(at->ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(at->ctx, (intptr_t)n_args, types, 0, NULL))),
  };
  for (size_t i = 0; i < n_more; i++)
    attrs[2 + i] = more[i];
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  return tc__build(at, "func.func", NULL, 0, NULL, 0, attrs, 2 + n_more, &region, 1);
}

// @name(pointers..): the whole kernel is one function of a thread.
static void begin_gpu(tc__kernel *k, MlirOperation func, const char *symbol, size_t n) {
  MlirContext ctx = mlirOperationGetContext(func);
  MlirType types[128];
  MlirLocation locs[128];
  MlirAttribute dicts[128];
  MlirNamedAttribute facts[2] = {tc__named(ctx, "llvm.align", tc__attr_i64(ctx, 16)), tc__named(ctx, "llvm.noalias", mlirUnitAttrGet(ctx))};
  for (size_t i = 0; i < n; i++) {
    types[i] = tc__ptr_type(ctx, 1);
    locs[i] = mlirOperationGetLocation(func);
    dicts[i] = mlirDictionaryAttrGet(ctx, 2, facts);
  }
  k->block = mlirBlockCreate((intptr_t)n, types, locs);
  tc__builder at = tc__builder_before(func);
  MlirNamedAttribute more[2] = {tc__named(ctx, "arg_attrs", mlirArrayAttrGet(ctx, (intptr_t)n, dicts)),
                                tc__named(ctx, "tc.gpu_kernel", mlirUnitAttrGet(ctx))};
  k->dispatcher = make_func(&at, symbol, n, types, k->block, more, 2);
  k->b = tc__builder_at_end(k->block, mlirOperationGetLocation(func));
  for (size_t i = 0; i < n; i++)
    k->pointers[i] = mlirBlockGetArgument(k->block, (intptr_t)i);
}

static V special_register(tc__builder *b, const char *name) {
  int32_t none[2] = {0, 0};
  MlirNamedAttribute attrs[3] = {tc__named(b->ctx, "intrin", tc__attr_str(b->ctx, name)),
                                 tc__named(b->ctx, "op_bundle_sizes", mlirDenseI32ArrayGet(b->ctx, 0, NULL)),
                                 tc__named(b->ctx, "operandSegmentSizes", mlirDenseI32ArrayGet(b->ctx, 2, none))};
  MlirType i32 = mlirIntegerTypeGet(b->ctx, 32);
  V v = tc__build1(b, "llvm.call_intrinsic", NULL, 0, i32, attrs, 3);
  return tc__convert(b, "arith.extui", v, mlirIntegerTypeGet(b->ctx, 64));
}

V tc__thread_id(tc__kernel *k, tc__builder *b) {
  if (k->target == TC__TARGET_NVPTX) {
    V block = special_register(b, "llvm.nvvm.read.ptx.sreg.ctaid.x"), size = special_register(b, "llvm.nvvm.read.ptx.sreg.ntid.x");
    return tc__addi(b, tc__binary(b, "arith.muli", block, size), special_register(b, "llvm.nvvm.read.ptx.sreg.tid.x"));
  }
  // OpenCL's get_global_id(0), which the SPIR-V code generator knows by its mangled name.
  static const char symbol[] = "_Z13get_global_idj";
  MlirType i32 = mlirIntegerTypeGet(b->ctx, 32), i64 = mlirIntegerTypeGet(b->ctx, 64);
  MlirOperation module = mlirOperationGetParentOperation(k->dispatcher);
  if (mlirOperationIsNull(tc__find_func(module, symbol))) {
    tc__builder at = tc__builder_before(k->dispatcher);
    MlirNamedAttribute attrs[3] = {tc__named(b->ctx, "sym_name", tc__attr_str(b->ctx, symbol)),
                                   tc__named(b->ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(b->ctx, 1, &i32, 1, &i64))),
                                   tc__named(b->ctx, "sym_visibility", tc__attr_str(b->ctx, "private"))};
    MlirRegion region = mlirRegionCreate();
    tc__build(&at, "func.func", NULL, 0, NULL, 0, attrs, 3, &region, 1);
  }
  V zero = tc__const_i(b, i32, 0);
  MlirNamedAttribute callee = tc__named(b->ctx, "callee", mlirFlatSymbolRefAttrGet(b->ctx, tc__sref(symbol)));
  return tc__build1(b, "func.call", &zero, 1, i64, &callee, 1);
}

tc_status tc__kernel_begin(MlirOperation func, tc__kernel_target target, tc__kernel *k) {
  MlirContext ctx = mlirOperationGetContext(func);
  *k = (tc__kernel){.target = target,
                    .old = func, .old_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0))};
  k->n_ins = (size_t)mlirBlockGetNumArguments(k->old_block);
  MlirOperation ret = mlirBlockGetTerminator(k->old_block);
  k->n_outs = (size_t)mlirOperationGetNumOperands(ret);
  size_t n = k->n_ins + k->n_outs;
  if (n > TC_COUNTOF(k->pointers))
    return tc__error_at(mlirOperationGetLocation(func), TC_ERR_UNSUPPORTED, "a kernel with %zu operands", n);
  MlirStringRef name = {NULL, 0};
  tc__get_str(func, "sym_name", &name);
  char symbol[160], body_symbol[170];
  snprintf(symbol, sizeof symbol, "%.*s", (int)name.length, name.data);
  snprintf(body_symbol, sizeof body_symbol, "%s.body", symbol);
  MlirType ptr = tc__ptr_type(ctx, 0), i64 = mlirIntegerTypeGet(ctx, 64), types[132];
  MlirLocation locs[132], loc = mlirOperationGetLocation(func);
  for (size_t i = 0; i < n + 4; i++) {
    types[i] = i == n + 1 || i == n + 2 ? i64 : ptr;
    locs[i] = loc;
  }
  if (target != TC__TARGET_CPU) {
    char old_name[180];
    snprintf(old_name, sizeof old_name, "%s.linalg", symbol);
    mlirOperationSetAttributeByName(func, tc__sref("sym_name"), tc__attr_str(ctx, old_name));
    begin_gpu(k, func, symbol, n);
    return TC_OK;
  }
  tc__builder at = tc__builder_before(func);

  // The dispatcher loads the pointers: as arguments of the body they can be declared not to alias.
  MlirType outer_types[5] = {ptr, ptr, i64, i64, ptr};
  MlirBlock outer = mlirBlockCreate(5, outer_types, locs);
  tc__builder ob = tc__builder_at_end(outer, loc);
  V operands[132];
  for (size_t i = 0; i < n; i++)
    operands[i] = tc__load(&ob, tc__gep(&ob, mlirBlockGetArgument(outer, 0), ptr, tc__i64(&ob, (int64_t)i)), ptr, 8);
  for (intptr_t i = 1; i < 5; i++)
    operands[n + (size_t)i - 1] = mlirBlockGetArgument(outer, i);
  MlirNamedAttribute callee = tc__named(ctx, "callee", mlirFlatSymbolRefAttrGet(ctx, tc__sref(body_symbol)));
  tc__build(&ob, "func.call", operands, n + 4, NULL, 0, &callee, 1, NULL, 0);
  tc__build(&ob, "func.return", NULL, 0, NULL, 0, NULL, 0, NULL, 0);
  // The old function gives up its name.
  char old_symbol[180];
  snprintf(old_symbol, sizeof old_symbol, "%s.linalg", symbol);
  mlirOperationSetAttributeByName(func, tc__sref("sym_name"), tc__attr_str(ctx, old_symbol));
  k->dispatcher = make_func(&at, symbol, 5, outer_types, outer, NULL, 0);

  k->block = mlirBlockCreate((intptr_t)n + 4, types, locs);
  MlirAttribute dicts[132];
  MlirNamedAttribute noalias = tc__named(ctx, "llvm.noalias", mlirUnitAttrGet(ctx));
  for (size_t i = 0; i < n + 4; i++)
    dicts[i] = mlirDictionaryAttrGet(ctx, i < n || i == n + 3 ? 1 : 0, &noalias);
  MlirAttribute inlined = tc__attr_str(ctx, "alwaysinline");
  MlirNamedAttribute more[3] = {tc__named(ctx, "arg_attrs", mlirArrayAttrGet(ctx, (intptr_t)n + 4, dicts)),
                                tc__named(ctx, "passthrough", mlirArrayAttrGet(ctx, 1, &inlined)),
                                tc__named(ctx, "sym_visibility", tc__attr_str(ctx, "private"))};
  make_func(&at, body_symbol, n + 4, types, k->block, more, 3);
  k->b = tc__builder_at_end(k->block, loc);
  for (size_t i = 0; i < n; i++)
    k->pointers[i] = mlirBlockGetArgument(k->block, (intptr_t)i);
  k->dims = mlirBlockGetArgument(k->block, (intptr_t)n);
  k->begin = mlirBlockGetArgument(k->block, (intptr_t)n + 1);
  k->end = mlirBlockGetArgument(k->block, (intptr_t)n + 2);
  k->scratch = mlirBlockGetArgument(k->block, (intptr_t)n + 3);
  return TC_OK;
}

void tc__kernel_finish(tc__kernel *k, int64_t tasks, int64_t cost, int64_t scratch) {
  MlirContext ctx = k->b.ctx;
  tc__build(&k->b, "func.return", NULL, 0, NULL, 0, NULL, 0, NULL, 0);
  mlirOperationSetAttributeByName(k->dispatcher, tc__sref("tc.tasks"), tc__attr_i64(ctx, tasks));
  mlirOperationSetAttributeByName(k->dispatcher, tc__sref("tc.task_cost"), tc__attr_i64(ctx, cost));
  mlirOperationSetAttributeByName(k->dispatcher, tc__sref("tc.scratch"), tc__attr_i64(ctx, scratch));
  mlirOperationDestroy(k->old);
}
