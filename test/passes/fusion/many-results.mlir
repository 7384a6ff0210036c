// RUN: tc-opt --tc-to-kernels %s | FileCheck %s
// RUN: tc-run %s --print > %t.compiled && tc-run %s --backend=interp --print | diff %t.compiled -
// A chain of which every value is returned: kernels of at most 16 results.

// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: call @
// CHECK-NOT: call @
func.func @main(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
    tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = "tc.add"(%x, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %1 = "tc.add"(%0, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %2 = "tc.add"(%1, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %3 = "tc.add"(%2, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %4 = "tc.add"(%3, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %5 = "tc.add"(%4, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %6 = "tc.add"(%5, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %7 = "tc.add"(%6, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %8 = "tc.add"(%7, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %9 = "tc.add"(%8, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %10 = "tc.add"(%9, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %11 = "tc.add"(%10, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %12 = "tc.add"(%11, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %13 = "tc.add"(%12, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %14 = "tc.add"(%13, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %15 = "tc.add"(%14, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %16 = "tc.add"(%15, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %17 = "tc.add"(%16, %x) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>,
    tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}
