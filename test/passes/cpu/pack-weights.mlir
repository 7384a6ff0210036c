// RUN: tc-opt --tc-decompose --convert-tc-to-linalg --fuse-pointwise --tc-pack-weights %s | FileCheck %s
// A linear layer's weight is laid out in blocks of 64 columns, once at load.
// CHECK: affine_map<(d0, d1, d2) -> (d1 floordiv 64, d2, d1 mod 64)>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<2x32x64xf32> {tc.index = 0 : i64, tc.kind = "prepared"}
// CHECK-LABEL: func.func @main.prepare(
// CHECK: tc.op = "pack"
// CHECK: tensor.extract
func.func @main(%x: tensor<4x32xf32> {tc.kind = "input", tc.name = "x"}, %w: tensor<100x32xf32> {tc.kind = "parameter", tc.name = "w"}) -> tensor<4x100xf32> {
  %0 = "tc.linear"(%x, %w) : (tensor<4x32xf32>, tensor<100x32xf32>) -> tensor<4x100xf32>
  return %0 : tensor<4x100xf32>
}
