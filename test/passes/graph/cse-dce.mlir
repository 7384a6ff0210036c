// RUN: tc-opt --tc-cse --tc-dce %s | FileCheck %s
// RUN: tc-opt --tc-dce %s | FileCheck %s --check-prefix=DCE

// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = "tc.cos"(%arg0)
// CHECK-NOT: tc.cos
// CHECK: "tc.add"(%[[C]], %[[C]])
// CHECK-NOT: tc.exp
// DCE-COUNT-2: tc.cos
// DCE-NOT: tc.exp
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "tc.cos"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "tc.cos"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "tc.exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = "tc.exp"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = "tc.add"(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
