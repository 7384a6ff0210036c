// RUN: tc-opt --fuse-pointwise --form-kernels %s | FileCheck %s

// A softmax is one kernel whose rows are tasks: only its input is read and only its result written.
// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %[[Y:.*]] = call @[[SOFTMAX:.*]](%arg0) : (tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %m = "tc.amax"(%x) {dims = array<i64: 1>, keepdim = true} : (tensor<6x8xf32>) -> tensor<6x1xf32>
  %d = "tc.sub"(%x, %m) : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  %e = "tc.exp"(%d) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %s = "tc.sum"(%e) {dims = array<i64: 1>, keepdim = true} : (tensor<6x8xf32>) -> tensor<6x1xf32>
  %y = "tc.div"(%e, %s) : (tensor<6x8xf32>, tensor<6x1xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}

// So is a layer norm with a leading dim of 1, with the residual sum before it, which is also a result.
// CHECK-LABEL: func.func @add_layer_norm(
// CHECK-NEXT: %[[N:.*]]:2 = call @[[NORM:[a-z_0-9]*]](
// CHECK-NOT: call
// CHECK: return
func.func @add_layer_norm(%x: tensor<1x6x8xf32>, %r: tensor<1x6x8xf32>, %w: tensor<8xf32>) -> (tensor<1x6x8xf32>, tensor<1x6x8xf32>) {
  %c = "tc.constant"() {value = dense<0.125> : tensor<f32>} : () -> tensor<f32>
  %a = "tc.add"(%x, %r) : (tensor<1x6x8xf32>, tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  %s = "tc.sum"(%a) {dims = array<i64: 2>, keepdim = true} : (tensor<1x6x8xf32>) -> tensor<1x6x1xf32>
  %m = "tc.mul"(%s, %c) : (tensor<1x6x1xf32>, tensor<f32>) -> tensor<1x6x1xf32>
  %d = "tc.sub"(%a, %m) : (tensor<1x6x8xf32>, tensor<1x6x1xf32>) -> tensor<1x6x8xf32>
  %q = "tc.mul"(%d, %d) : (tensor<1x6x8xf32>, tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  %v = "tc.sum"(%q) {dims = array<i64: 2>, keepdim = true} : (tensor<1x6x8xf32>) -> tensor<1x6x1xf32>
  %i = "tc.rsqrt"(%v) : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
  %n = "tc.mul"(%d, %i) : (tensor<1x6x8xf32>, tensor<1x6x1xf32>) -> tensor<1x6x8xf32>
  %y = "tc.mul"(%n, %w) : (tensor<1x6x8xf32>, tensor<8xf32>) -> tensor<1x6x8xf32>
  return %y, %a : tensor<1x6x8xf32>, tensor<1x6x8xf32>
}

// A convolution takes the bias, the residual and the activation; the same layer twice is one kernel called twice.
// CHECK-LABEL: func.func @two_layers(
// CHECK-NEXT: %[[A:.*]] = call @[[CONV:[a-z_0-9]*]](%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[B:.*]] = call @[[CONV]](%[[A]], %arg3, %arg4)
// CHECK-NEXT: return %[[B]]
func.func @two_layers(%x: tensor<1x4x6x6xf32>, %w: tensor<4x4x3x3xf32>, %b: tensor<4xf32>, %w2: tensor<4x4x3x3xf32>, %b2: tensor<4xf32>)
    -> tensor<1x4x6x6xf32> {
  %z = "tc.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tc.convolution"(%x, %w, %b) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %1 = "tc.add"(%0, %x) : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = "tc.maximum"(%1, %z) : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %3 = "tc.convolution"(%2, %w2, %b2) {stride = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, output_padding = array<i64: 0, 0>}
      : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>, tensor<4xf32>) -> tensor<1x4x6x6xf32>
  %4 = "tc.add"(%3, %2) : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %5 = "tc.maximum"(%4, %z) : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  return %5 : tensor<1x4x6x6xf32>
}

// A sort can't be fused: the call says so.
// CHECK-LABEL: func.func @why(
// CHECK: call @exp_{{.*}} {tc.not_fused = "sort: it is no linalg op"}
// CHECK: tc.sort
func.func @why(%x: tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xi64>) {
  %0 = "tc.exp"(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %1:2 = "tc.sort"(%0) {dim = 1 : i64} : (tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xi64>)
  return %1#0, %1#1 : tensor<6x8xf32>, tensor<6x8xi64>
}

// CHECK: func.func private @[[SOFTMAX]]
// CHECK-SAME: tc.kernel = "reduction", tc.outer = 1 : i64, tc.summary = "amax sub exp sum div"
// CHECK: func.func private @[[NORM]]
// CHECK-SAME: tc.kernel = "reduction", tc.outer = 1
// CHECK: func.func private @[[CONV]]
// CHECK-SAME: tc.kernel = "contraction"
// CHECK: tensor.pad
// CHECK: tc.contraction = "convolution"
// CHECK: arith.maximumf

// The same as remarks.
// RUN: tc-opt --fuse-pointwise --form-kernels='explain=true' %s 2>&1 >/dev/null | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: remark: exp_{{[0-9]+}}: not fused: sort: it is no linalg op
