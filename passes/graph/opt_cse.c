// tc-cse: merges tc ops that compute the same value: same op, operands, attributes and result types.
//
//   %0 = "tc.cos"(%x)  %1 = "tc.cos"(%x)  %2 = "tc.add"(%0, %1)      becomes      %0 = "tc.cos"(%x)  %2 = "tc.add"(%0, %0)
#include "pass.h"

static uint64_t mix(uint64_t h, const void *p) { return (h ^ (uint64_t)(uintptr_t)p) * 0x9e3779b97f4a7c15u + 0x7f4a7c15u; }

// Attributes are uniqued, so a pointer identifies one; dotted ones are only notes of passes.
static uint64_t hash_op(MlirOperation op) {
  uint64_t h = mix(0, mlirOperationGetName(op).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    h = mix(h, mlirOperationGetOperand(op, i).ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
    h = mix(h, mlirOperationGetAttribute(op, i).attribute.ptr);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    h = mix(h, mlirValueGetType(mlirOperationGetResult(op, i)).ptr);
  return h;
}

static bool equal_ops(MlirOperation a, MlirOperation b) {
  if (mlirOperationGetName(a).ptr != mlirOperationGetName(b).ptr || mlirOperationGetNumOperands(a) != mlirOperationGetNumOperands(b) ||
      mlirOperationGetNumResults(a) != mlirOperationGetNumResults(b))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(a); i++)
    if (!mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(a); i++)
    if (!mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(a, i)), mlirValueGetType(mlirOperationGetResult(b, i))))
      return false;
  intptr_t n = mlirOperationGetNumAttributes(a);
  if (n != mlirOperationGetNumAttributes(b))
    return false;
  for (intptr_t i = 0; i < n; i++) // sorted by name
    if (!mlirAttributeEqual(mlirOperationGetAttribute(a, i).attribute, mlirOperationGetAttribute(b, i).attribute) ||
        !mlirIdentifierEqual(mlirOperationGetAttribute(a, i).name, mlirOperationGetAttribute(b, i).name))
      return false;
  return true;
}

static tc_status run_on_block(MlirBlock block) {
  size_t count = 0, capacity = 256;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    count++;
  while (capacity < count * 2)
    capacity *= 2;
  MlirOperation *table = tc__calloc(capacity, sizeof *table);
  if (!table)
    return tc__oom();
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    if (tc__op_kind(op) != TC_OP_COUNT) {
      size_t at = (size_t)hash_op(op) & (capacity - 1);
      while (!mlirOperationIsNull(table[at]) && !equal_ops(table[at], op))
        at = (at + 1) & (capacity - 1);
      if (mlirOperationIsNull(table[at])) {
        table[at] = op;
      } else {
        MlirValue values[2];
        for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
          values[i] = mlirOperationGetResult(table[at], i);
        tc__replace_op(op, values);
      }
    }
    op = next;
  }
  tc__free(table);
  return TC_OK;
}

tc_status tc__pass_cse(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!tc__op_is(op, "func.func"))
      continue;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    if (!mlirBlockIsNull(block))
      TC_TRY(run_on_block(block));
  }
  return TC_OK;
}
