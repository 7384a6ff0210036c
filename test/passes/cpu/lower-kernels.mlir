// RUN: tc-opt --tc-to-kernels --lower-kernels-to-cpu --canonicalize %s | FileCheck %s
// RUN: tc-opt --tc-to-kernels --lower-kernels-to-cpu --tc-expand-math %s | FileCheck %s --check-prefix=MATH
// RUN: tc-translate --to-asm --mcpu=x86-64-v3 %s | FileCheck %s --check-prefix=ASM

// A kernel takes pointers and a range of tasks; its body's pointers do not alias.
// CHECK-LABEL: func.func @sub_exp_0(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: !llvm.ptr) attributes {tc.scratch = 0 : i64, tc.task_cost = {{[0-9]+}} : i64, tc.tasks = {{[0-9]+}} : i64}
// CHECK: call @sub_exp_0.body
// CHECK: func.func private @sub_exp_0.body(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.load
// CHECK: math.exp
// CHECK: llvm.store

// No library call is left in the loop, and it is vectorised.
// MATH-NOT: math.exp
// MATH: math.fma
// ASM-NOT: call{{.*}}exp
// ASM: vfmadd{{.*}}%ymm
func.func @main(%x: tensor<64x1000xf32>, %y: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %0 = "tc.sub"(%x, %y) : (tensor<64x1000xf32>, tensor<64x1000xf32>) -> tensor<64x1000xf32>
  %1 = "tc.exp"(%0) : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %1 : tensor<64x1000xf32>
}
