// RUN: tc-opt --plan-memory %s | FileCheck %s

// Each step's operand and result have bytes of their own; a buffer that is no longer read is used again; what is returned has no place.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: tc.arena = 512
// CHECK: call @k(%arg0) {tc.offsets = array<i64: 0>}
// CHECK: call @k(%{{.*}}) {tc.offsets = array<i64: 256>}
// CHECK: call @k(%{{.*}}) {tc.offsets = array<i64: 0>}
// CHECK: call @k(%{{.*}}) {tc.offsets = array<i64: -1>}
func.func @chain(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = call @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @k(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = call @k(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = call @k(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}

// A reshape keeps the buffer behind it alive, and returns it.
// CHECK-LABEL: func.func @reshape
// CHECK: call @k(%arg0) {tc.offsets = array<i64: 0>}
// CHECK: call @k(%arg0) {tc.offsets = array<i64: 256>}
// CHECK: call @k(%{{.*}}) {tc.offsets = array<i64: -1>}
// CHECK: call @two(%{{.*}}, %{{.*}}) {tc.offsets = array<i64: -1>}
func.func @reshape(%x: tensor<64xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = call @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.expand_shape %0 [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %1 = call @k(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = call @k(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %w = tensor.expand_shape %2 [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %3 = call @two(%v, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %w : tensor<8x8xf32>, tensor<8x8xf32>
}

// Ops that the interpreter runs are steps too; an unused result still has bytes to be written to.
// CHECK-LABEL: func.func @op_step
// CHECK: tc.sort
// CHECK-SAME: tc.offsets = array<i64: -1, 0>
func.func @op_step(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0:2 = "tc.sort"(%x) {dim = 0 : i64} : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi64>)
  return %0#0 : tensor<64xf32>
}

func.func private @k(tensor<64xf32>) -> tensor<64xf32>
func.func private @two(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
