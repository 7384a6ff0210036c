// tc-fold: identities, and batch norm folded into the convolution before it.
//
//   %y = "tc.convolution"(%x, %w)   %z = "tc.mul"(%y, %s)        %s: one value a channel, from parameters only
// becomes
//   %v = "tc.mul"(%w, reshape(%s))  %z = "tc.convolution"(%x, %v)      where %v is computed once at load (tc-hoist-constants)
//
// Identities: a cast to the same type, a permute or reshape that changes nothing, a reshape of a reshape.
#include "pass.h"

typedef MlirValue V;

static bool single_use(V v) {
  MlirOpOperand use = mlirValueGetFirstUse(v);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

static bool is_parameter(MlirOperation func, V arg) {
  MlirAttribute array = mlirOperationGetAttributeByName(func, tc__sref("arg_attrs"));
  intptr_t i = mlirBlockArgumentGetArgNumber(arg);
  if (mlirAttributeIsNull(array) || i >= mlirArrayAttrGetNumElements(array))
    return false;
  MlirAttribute kind = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(array, i), tc__sref("tc.kind"));
  if (mlirAttributeIsNull(kind) || !mlirAttributeIsAString(kind))
    return false;
  MlirStringRef s = mlirStringAttrGetValue(kind);
  return s.length != 5 || memcmp(s.data, "input", 5) != 0;
}

// Whether v comes from parameters and literals only. The chains in question are short.
static bool is_constant(MlirOperation func, V v, int depth) {
  if (mlirValueIsABlockArgument(v))
    return is_parameter(func, v);
  MlirOperation op = tc__def_op(v);
  if (depth > 12 || tc__op_kind(op) == TC_OP_COUNT)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!is_constant(func, mlirOperationGetOperand(op, i), depth + 1))
      return false;
  return true;
}

static V reshape(tc__builder *b, V x, const int64_t *shape, size_t n) {
  MlirNamedAttribute attr = tc__named(b->ctx, "shape", tc__attr_ints(b->ctx, shape, n));
  return tc__build_tc1(b, TC_OP_reshape, &x, 1, &attr, 1);
}

static V mul(tc__builder *b, V x, V y) {
  V operands[2] = {x, y};
  return tc__build_tc1(b, TC_OP_mul, operands, 2, NULL, 0);
}

// One value a channel of a [N, C, ...] tensor: every other dim is 1.
static bool per_channel(const tc__type *s, const tc__type *y) {
  if (s->rank < y->rank - 1 || s->rank > y->rank)
    return false;
  int channel = s->rank - (y->rank - 1);
  for (int d = 0; d < s->rank; d++)
    if (s->shape[d] != (d == channel ? y->shape[1] : 1))
      return false;
  return true;
}

static bool fold_scale(MlirOperation op, MlirOperation func) {
  for (int side = 0; side < 2; side++) {
    V y = mlirOperationGetOperand(op, side), s = mlirOperationGetOperand(op, 1 - side);
    MlirOperation conv = tc__def_op(y);
    tc__type ty, ts, tw;
    if (mlirOperationIsNull(conv) || tc__op_kind(conv) != TC_OP_convolution || !single_use(y) || tc__get_bool(conv, "transposed", false))
      continue;
    V w = mlirOperationGetOperand(conv, 1);
    if (!tc__type_from_mlir(mlirValueGetType(y), &ty) || !tc__type_from_mlir(mlirValueGetType(s), &ts) ||
        !tc__type_from_mlir(mlirValueGetType(w), &tw) || !per_channel(&ts, &ty) || !is_constant(func, s, 0) || !is_constant(func, w, 0))
      continue;
    if (mlirOperationGetNumOperands(conv) > 2 && !is_constant(func, mlirOperationGetOperand(conv, 2), 0))
      continue;
    tc__builder b = tc__builder_before(op);
    int64_t shape[5] = {tw.shape[0], 1, 1, 1, 1};
    V scaled = mul(&b, w, reshape(&b, s, shape, (size_t)tw.rank));
    V operands[3] = {mlirOperationGetOperand(conv, 0), scaled};
    size_t n = 2;
    if (mlirOperationGetNumOperands(conv) > 2)
      operands[n++] = mul(&b, mlirOperationGetOperand(conv, 2), reshape(&b, s, shape, 1));
    MlirNamedAttribute attrs[16];
    size_t n_attrs = (size_t)mlirOperationGetNumAttributes(conv);
    for (size_t i = 0; i < n_attrs && i < 16; i++)
      attrs[i] = mlirOperationGetAttribute(conv, (intptr_t)i);
    b.loc = mlirOperationGetLocation(conv);
    V folded = tc__build_tc1(&b, TC_OP_convolution, operands, n, attrs, n_attrs);
    if (mlirValueIsNull(folded))
      return false;
    tc__replace_op(op, &folded);
    mlirOperationDestroy(conv);
    return true;
  }
  return false;
}

static bool same_type(V a, V b) { return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)); }

static V identity_of(MlirOperation op) {
  V none = {NULL}, x, y;
  int64_t dims[TC_MAX_RANK];
  size_t n;
  switch (tc__op_kind(op)) {
  case TC_OP_cast:
  case TC_OP_reshape:
  case TC_OP_broadcast:
  case TC_OP_squeeze:
    x = mlirOperationGetOperand(op, 0);
    y = mlirOperationGetResult(op, 0);
    return same_type(x, y) && mlirShapedTypeHasStaticShape(mlirValueGetType(x)) ? x : none;
  case TC_OP_permute:
    n = tc__get_ints(op, "dims", dims, TC_MAX_RANK);
    for (size_t i = 0; i < n; i++)
      if (dims[i] != (int64_t)i)
        return none;
    return mlirOperationGetOperand(op, 0);
  default:
    return none;
  }
}

typedef struct folder {
  MlirOperation func;
} folder;

static tc_status fold_op(MlirOperation op, void *user) {
  const folder *f = user;
  V same = identity_of(op);
  if (!mlirValueIsNull(same)) {
    tc__replace_op(op, &same);
    return TC_OK;
  }
  tc_op_kind kind = tc__op_kind(op);
  if (kind == TC_OP_mul)
    fold_scale(op, f->func);
  if (kind == TC_OP_reshape) { // of a reshape: of its operand
    MlirOperation inner = tc__def_op(mlirOperationGetOperand(op, 0));
    if (!mlirOperationIsNull(inner) && tc__op_kind(inner) == TC_OP_reshape && mlirShapedTypeHasStaticShape(mlirValueGetType(mlirOperationGetResult(op, 0)))) {
      tc__builder b = tc__builder_before(op);
      tc__type t;
      tc__type_from_mlir(mlirValueGetType(mlirOperationGetResult(op, 0)), &t);
      V direct = reshape(&b, mlirOperationGetOperand(inner, 0), t.shape, (size_t)t.rank);
      if (!mlirValueIsNull(direct))
        tc__replace_op(op, &direct);
    }
  }
  return TC_OK;
}

tc_status tc__pass_fold(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tc__op_is(op, "func.func"))
      continue;
    folder f = {op};
    TC_TRY(tc__walk(op, fold_op, &f));
  }
  return TC_OK;
}
