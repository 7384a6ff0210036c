// RUN: tc-opt --tc-decompose --tc-fold --tc-hoist-constants --tc-dce %s | FileCheck %s
// Batch norm goes into the weights, once at load: a run has the convolution and the shift.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: tc.name = "x"
// CHECK-SAME: tc.kind = "prepared"
// CHECK: %[[Y:.*]] = "tc.convolution"(%arg0, %arg{{[0-9]}})
// CHECK-NEXT: %[[S:.*]] = "tc.reshape"(%arg{{[0-9]}})
// CHECK-NEXT: %[[Z:.*]] = "tc.add"(%[[Y]], %[[S]])
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: func.func @main.prepare(
// CHECK: "tc.sqrt"
// CHECK: "tc.mul"(%arg{{[0-9]}}, %{{.*}}) : (tensor<6x4x3x3xf32>
func.func @main(%x: tensor<1x4x8x8xf32> {tc.kind = "input", tc.name = "x"}, %w: tensor<6x4x3x3xf32> {tc.kind = "parameter", tc.name = "w"},
                %m: tensor<6xf32> {tc.kind = "buffer", tc.name = "m"}, %v: tensor<6xf32> {tc.kind = "buffer", tc.name = "v"}) -> tensor<1x6x8x8xf32> {
  %0 = "tc.convolution"(%x, %w) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x8x8xf32>
  %1 = "tc.batch_norm"(%0, %m, %v) : (tensor<1x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  return %1 : tensor<1x6x8x8xf32>
}
