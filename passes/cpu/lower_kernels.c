// lower-kernels-to-cpu: kernel functions become loops over pointers.
//
//   func.func private @exp_0(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tc.kernel = "pointwise"} { linalg.generic ... }
// becomes
//   func.func @exp_0(%args: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) attributes {tc.tasks, tc.task_cost, tc.scratch}
//     loads the pointers and calls
//   func.func private @exp_0.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, ...) { scf.for ... llvm.load ... llvm.store }
//
// Host functions are erased: the plan is made from them before (lib/compiler), and their calls would no longer fit.
#include "emit.h"
#include "pass.h"

tc_status tc__pass_lower_kernels_to_cpu(MlirOperation module, const tc__pass_options *options) {
  int vector_bits = (int)tc__pass_option_int(options, "vector-bits", 256);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    MlirStringRef kind;
    if (tc__op_is(op, "func.func") && !tc__get_str(op, "tc.kernel", &kind) &&
        mlirAttributeIsNull(mlirOperationGetAttributeByName(op, tc__sref("tc.tasks"))))
      mlirOperationDestroy(op);
    op = next;
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    MlirStringRef kind;
    if (tc__op_is(op, "func.func") && tc__get_str(op, "tc.kernel", &kind)) {
      bool done = false;
      if (kind.length == strlen("contraction") && memcmp(kind.data, "contraction", kind.length) == 0)
        TC_TRY(tc__lower_contraction_kernel(op, vector_bits, &done));
      if (!done)
        TC_TRY(tc__lower_loop_kernel(op, TC__TARGET_CPU));
    }
    op = next;
  }
  return TC_OK;
}
