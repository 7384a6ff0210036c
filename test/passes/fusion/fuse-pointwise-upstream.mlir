// RUN: tc-opt --fuse-pointwise %s | FileCheck %s

// Upstream's named ops: elementwise ones become generics and fuse, a matmul is a contraction that reads the transposed operand in place.
// CHECK-DAG: #[[S:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @named
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[A]],
// CHECK-SAME: ins(%arg0, %arg1 :
// CHECK-SAME: tc.contraction = "matmul"
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[M]] : tensor<4x4xf32>)
// CHECK-SAME: tc.op = "exp add"
func.func @named(%x: tensor<8x4xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) permutation = [1, 0]
  %c = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%t, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.exp ins(%m : tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.add ins(%0, %m : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Slices with steps are maps too, and linalg.index follows.
// CHECK-LABEL: func.func @slice
// CHECK: linalg.generic {indexing_maps = [#[[S]], #{{.*}}]
// CHECK: linalg.index 0
// CHECK: arith.muli
// CHECK-NOT: linalg.generic
func.func @slice(%x: tensor<100xi64>) -> tensor<40xi64> {
  %e = tensor.empty() : tensor<100xi64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<100xi64>) outs(%e : tensor<100xi64>) {
  ^bb0(%a: i64, %o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %s = arith.addi %a, %j : i64
    linalg.yield %s : i64
  } -> tensor<100xi64>
  %1 = tensor.extract_slice %0[1] [40] [2] : tensor<100xi64> to tensor<40xi64>
  %e2 = tensor.empty() : tensor<40xi64>
  %2 = linalg.mul ins(%1, %1 : tensor<40xi64>, tensor<40xi64>) outs(%e2 : tensor<40xi64>) -> tensor<40xi64>
  return %2 : tensor<40xi64>
}
