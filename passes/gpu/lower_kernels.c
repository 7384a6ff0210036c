// lower-kernels-to-gpu: kernel functions become functions of one GPU thread, with the launch size as attributes.
//
//   func.func private @exp_0(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {tc.kernel = "pointwise"} { linalg.generic ... }
// becomes
//   func.func @exp_0(%x: !llvm.ptr<1> {llvm.noalias}, %y: !llvm.ptr<1> {llvm.noalias}) attributes {tc.gpu_kernel, tc.grid = array<i64: 1>, tc.block = array<i64: 256>}
//     scf.if thread < 256 { llvm.load : vector<4xf32> ... llvm.store }
#include "cpu/emit.h"
#include "pass.h"

tc_status tc__pass_lower_kernels_to_gpu(MlirOperation module, const tc__pass_options *options) {
  char name[16];
  tc__pass_option_str(options, "target", "nvptx", name, sizeof name);
  if (strcmp(name, "nvptx") != 0 && strcmp(name, "spirv") != 0)
    return tc__error_at(mlirOperationGetLocation(module), TC_ERR_INVALID_ARGUMENT, "lower-kernels-to-gpu: target '%s': expected nvptx or spirv", name);
  tc__kernel_target target = strcmp(name, "nvptx") == 0 ? TC__TARGET_NVPTX : TC__TARGET_SPIRV;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  // Host functions go first: their calls would no longer fit.
  for (int kernels = 0; kernels < 2; kernels++)
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);) {
      MlirOperation next = mlirOperationGetNextInBlock(op);
      MlirStringRef kind;
      bool func = tc__op_is(op, "func.func"), kernel = func && tc__get_str(op, "tc.kernel", &kind);
      bool done = !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, tc__sref("tc.gpu_kernel")));
      bool declaration = func && mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
      if (func && kernels && kernel)
        TC_TRY(tc__lower_loop_kernel(op, target));
      else if (func && !kernels && !kernel && !done && !declaration)
        mlirOperationDestroy(op);
      op = next;
    }
  return TC_OK;
}
