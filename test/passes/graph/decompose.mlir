// RUN: tc-opt --tc-decompose %s | FileCheck %s
// RUN: tc-opt --tc-decompose="keep=softmax" %s | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @softmax
// CHECK: %[[M:.*]] = "tc.amax"(%arg0) {dims = array<i64: 1>, keepdim = true}
// CHECK: %[[D:.*]] = "tc.sub"(%arg0, %[[M]])
// CHECK: %[[E:.*]] = "tc.exp"(%[[D]])
// CHECK: %[[S:.*]] = "tc.sum"(%[[E]])
// CHECK: "tc.div"(%[[E]], %[[S]])
// KEEP: "tc.softmax"
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "tc.softmax"(%x) {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Statistics of 16-bit floats are computed in f32.
// CHECK-LABEL: func.func @norm
// CHECK: "tc.cast"(%arg0) {dtype = f32}
// CHECK: "tc.rsqrt"{{.*}}f32
// CHECK: "tc.cast"{{.*}} {dtype = bf16}
func.func @norm(%x: tensor<4x8xbf16>, %w: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %0 = "tc.rms_norm"(%x, %w) : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @attention
// CHECK: "tc.matmul"(%arg0, %arg1) {transpose_b = true}
// CHECK: "tc.where"
// CHECK: "tc.matmul"
// CHECK-NOT: "tc.attention"
func.func @attention(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %0 = "tc.attention"(%q, %k, %v) {is_causal = true} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}
