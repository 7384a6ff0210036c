// RUN: tc-opt --tc-to-kernels %s | FileCheck %s
// RUN: tc-run %s --print > %t.compiled && tc-run %s --backend=interp --print | diff %t.compiled -
// A window over a dim larger than its kernel keeps an operand that shows the loop's size when its loops of size 1 go: the plain dim
// that is left would stand for the whole dim.

// CHECK: affine_map<({{.*}}) -> ({{.*}}mod 5
// CHECK: affine_map<({{.*}}) -> ({{.*}}mod 4
func.func @main(%x: tensor<2x1x5xf32>, %y: tensor<5x6x4x1x1xf32>) -> (tensor<2x1x1xf32>, tensor<5x6x1x1xf32>) {
  %0 = "tc.avg_pool"(%x) {ceil_mode = false, count_include_pad = true, kernel = array<i64: 3>, padding = array<i64: 0>, stride = array<i64: 3>} : (tensor<2x1x5xf32>) -> tensor<2x1x1xf32>
  %1 = "tc.unfold"(%y) {dim = 2 : i64, size = 2 : i64, step = 3 : i64} : (tensor<5x6x4x1x1xf32>) -> tensor<5x6x1x1x1x2xf32>
  %2 = "tc.mean"(%1) {dims = array<i64: 3, 5>} : (tensor<5x6x1x1x1x2xf32>) -> tensor<5x6x1x1xf32>
  return %0, %2 : tensor<2x1x1xf32>, tensor<5x6x1x1xf32>
}
