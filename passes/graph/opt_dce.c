// tc-dce: erases tc ops whose results are not used. IRDL ops have no traits, so upstream's passes cannot know that they are pure.
#include "pass.h"

// Ops of the block, last first: an erased op frees its operands' ops, which come before.
static tc_status run_on_block(MlirBlock block) {
  size_t n = 0, capacity = 0;
  MlirOperation *ops = NULL;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (n == capacity) {
      capacity = capacity ? capacity * 2 : 256;
      MlirOperation *more = tc__realloc(ops, capacity * sizeof *ops);
      if (!more) {
        tc__free(ops);
        return tc__oom();
      }
      ops = more;
    }
    ops[n++] = op;
  }
  while (n-- > 0) {
    bool removable = tc__op_kind(ops[n]) != TC_OP_COUNT || tc__op_is(ops[n], "tensor.cast");
    for (intptr_t r = 0; removable && r < mlirOperationGetNumResults(ops[n]); r++)
      removable = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(ops[n], r)));
    if (removable)
      mlirOperationDestroy(ops[n]);
  }
  tc__free(ops);
  return TC_OK;
}

tc_status tc__pass_dce(MlirOperation module, const tc__pass_options *options) {
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
