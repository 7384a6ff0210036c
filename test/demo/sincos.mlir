// RUN: tc-opt --fuse-pointwise %s | FileCheck %s
// Two pointwise ops become one linalg.generic.
// CHECK-LABEL: func.func @wave
// CHECK: linalg.generic
// CHECK: math.cos
// CHECK: math.sin
// CHECK-NOT: linalg.generic
func.func @wave(%x: tensor<10000xf32>) -> tensor<10000xf32> {
  %0 = "tc.cos"(%x) : (tensor<10000xf32>) -> tensor<10000xf32>
  %1 = "tc.sin"(%0) : (tensor<10000xf32>) -> tensor<10000xf32>
  return %1 : tensor<10000xf32>
}
