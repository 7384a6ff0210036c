// RUN: tc-opt --fuse-pointwise %s | FileCheck %s

// CHECK-DAG: #[[HEAD:.*]] = affine_map<(d0, d1) -> (d0 mod 10, d1)>
// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1) -> (d1)>

// A chain is one op with one pass over memory.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK-SAME: tc.op = "cos sin"
// CHECK: %[[C:.*]] = math.cos
// CHECK-NEXT: %[[S:.*]] = math.sin %[[C]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = "tc.cos"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %1 = "tc.sin"(%0) : (tensor<100xf32>) -> tensor<100xf32>
  return %1 : tensor<100xf32>
}

// A value that is also used outside is one more result; nothing is computed twice.
// CHECK-LABEL: func.func @two_results
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: math.exp
// CHECK-NEXT: math.sin
// CHECK-NEXT: linalg.yield
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_results(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %0 = "tc.exp"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %1 = "tc.sin"(%0) : (tensor<100xf32>) -> tensor<100xf32>
  return %0, %1 : tensor<100xf32>, tensor<100xf32>
}

// Broadcasts, permutes and constants are maps and scalars.
// CHECK-LABEL: func.func @maps
// CHECK: linalg.generic {indexing_maps = [#[[T]], #[[B]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<8xf32>)
// CHECK-NOT: linalg.generic
func.func @maps(%x: tensor<8x4xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %c = "tc.constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tc.exp"(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = "tc.permute"(%0) {dims = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = "tc.add"(%1, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = "tc.mul"(%2, %c) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// The sum needs all of exp before div can start: merging the two would wait for itself.
// CHECK-LABEL: func.func @no_cycle
// CHECK: tc.op = "exp"
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: arith.addf
// CHECK: tc.op = "div"
func.func @no_cycle(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "tc.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "tc.sum"(%0) {dims = array<i64: 1>, keepdim = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = "tc.div"(%0, %1) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// What follows a contraction keeps its space: the reshape moves behind it.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[M:.*]] = linalg.generic {{.*}}tc.contraction = "matmul"
// CHECK: %[[E:.*]] = linalg.generic
// CHECK-SAME: ins(%[[M]], %arg2, %{{.*}} : tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>)
// CHECK-SAME: tc.op = "add add"
// CHECK: tensor.expand_shape %[[E]]
func.func @epilogue(%x: tensor<6x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>, %r: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "tc.matmul"(%x, %w) : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  %1 = "tc.reshape"(%0) {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = "tc.add"(%1, %b) : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %3 = "tc.add"(%2, %r) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// Two readers of one tensor over one space read it once.
// CHECK-LABEL: func.func @siblings
// CHECK: linalg.generic
// CHECK-SAME: ins(%arg0 : tensor<100xf32>) outs(%{{.*}}, %{{.*}} :
// CHECK-NOT: linalg.generic
func.func @siblings(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %0 = "tc.exp"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %1 = "tc.sin"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  return %0, %1 : tensor<100xf32>, tensor<100xf32>
}

// A dear producer of a broadcast is not computed again for every element; a cheap one is.
// CHECK-LABEL: func.func @broadcast
// CHECK: tc.op = "exp"
// CHECK: tc.op = "neg mul add"
func.func @broadcast(%x: tensor<4xf32>, %z: tensor<4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "tc.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tc.neg"(%z) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "tc.mul"(%1, %y) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = "tc.add"(%2, %0) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// A reduction over one element still combines it with the init (true here), also when its space is reshaped.
// CHECK-LABEL: func.func @one_element
// CHECK: tc.op = "logical_and all"
// CHECK: %[[A:.*]] = arith.andi
// CHECK: arith.andi %[[A]], %true
func.func @one_element(%x: tensor<7x8xi1>, %y: tensor<7x8xi1>) -> tensor<1x56xi1> {
  %0 = "tc.logical_and"(%x, %y) : (tensor<7x8xi1>, tensor<7x8xi1>) -> tensor<7x8xi1>
  %1 = "tc.reshape"(%0) {shape = array<i64: 1, 56>} : (tensor<7x8xi1>) -> tensor<1x56xi1>
  %2 = "tc.all"(%1) {dims = array<i64: 0>, keepdim = true} : (tensor<1x56xi1>) -> tensor<1x56xi1>
  return %2 : tensor<1x56xi1>
}

// The head of a larger dim: a plain dim would stand for all of it.
// CHECK-LABEL: func.func @head
// CHECK: linalg.generic {indexing_maps = [#[[HEAD]], #{{.*}}]
// CHECK-SAME: ins(%arg0 : tensor<10x4xf32>)
// CHECK-NOT: linalg.generic
func.func @head(%x: tensor<10x4xf32>) -> tensor<3x4xf32> {
  %0 = "tc.exp"(%x) : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %1 = "tc.slice"(%0) {dim = 0 : i64, start = 0 : i64, end = 3 : i64} : (tensor<10x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// The square is computed where it is summed and never written; the difference, cheap as it is, is computed by both of its readers.
// CHECK-LABEL: func.func @variance
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 :
// CHECK-SAME: tc.op = "sub mul sum"
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %{{.*}} :
// CHECK-SAME: tc.op = "sub mul"
// CHECK-NOT: linalg.generic
func.func @variance(%x: tensor<4x8xf32>, %m: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = "tc.sub"(%x, %m) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %1 = "tc.mul"(%0, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "tc.sum"(%1) {dims = array<i64: 1>, keepdim = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %3 = "tc.mul"(%0, %2) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}
