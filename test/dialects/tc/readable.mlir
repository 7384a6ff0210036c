// The readable listing: names of arguments, attributes that differ from the defaults, source lines, ops of other dialects.
// RUN: tc-translate --export-readable %s | FileCheck %s

// CHECK-LABEL: func @main(%x: f32[4,?], %fc.weight: f32[8,4] parameter, %steps: i64[] buffer) -> (out: f32[4,?], i64[] mutates %steps) {
// CHECK-NEXT: %0: f32[4,?] = cos(%x)  # model.py:65
// CHECK-NEXT: %1: f32[4,?] = softmax(%0, dim=1)  # model.py:66
// CHECK-NEXT: %2: f32[4,?] = softplus(%1, beta=2)  # layers.py:7
// CHECK-NEXT: %3: f32[4,?] = gelu(%2){{$}}
// CHECK-NEXT: %4: f32[4,?], %5: i64[4,?] = sort(%3, dim=1, descending=true)  # model.py:70
// CHECK-NEXT: %6: i64[2] = constant([1, 2])
// CHECK-NEXT: %7: i64[] = sum(%6)
// CHECK-NEXT: %8: i64[] = add(%steps, %7)
// CHECK-NEXT: return %4, %8
// CHECK-NEXT: }
func.func @main(%arg0: tensor<4x?xf32> {tc.name = "x"}, %arg1: tensor<8x4xf32> {tc.name = "fc.weight", tc.kind = "parameter"},
                %arg2: tensor<i64> {tc.name = "steps", tc.kind = "buffer"})
    -> (tensor<4x?xf32> {tc.name = "out"}, tensor<i64> {tc.mutates = "steps"}) {
  %0 = "tc.cos"(%arg0) : (tensor<4x?xf32>) -> tensor<4x?xf32> loc("/home/me/model.py":65:3)
  %1 = "tc.softmax"(%0) {dim = 1 : i64} : (tensor<4x?xf32>) -> tensor<4x?xf32> loc("net.layer1"("model.py":66:0))
  %2 = "tc.softplus"(%1) {beta = 2.0 : f64, threshold = 20.0 : f64} : (tensor<4x?xf32>) -> tensor<4x?xf32> loc(callsite("f"("layers.py":7:1) at "model.py":67:1))
  %3 = "tc.gelu"(%2) {approximate = "none"} : (tensor<4x?xf32>) -> tensor<4x?xf32> loc(unknown)
  %4:2 = "tc.sort"(%3) {dim = 1 : i64, descending = true} : (tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<4x?xi64>) loc(fused["model.py":70:1, "model.py":71:1])
  %5 = "tc.constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64> loc(unknown)
  %6 = "tc.sum"(%5) {dims = array<i64>, keepdim = false} : (tensor<2xi64>) -> tensor<i64> loc(unknown)
  %7 = "tc.add"(%arg2, %6) : (tensor<i64>, tensor<i64>) -> tensor<i64> loc(unknown)
  return %4#0, %7 : tensor<4x?xf32>, tensor<i64>
}

// More than four arguments stand one a line.
// CHECK-LABEL: func @many(
// CHECK-NEXT: %arg0: f32[1,4,8,8],
// CHECK-NEXT: %arg1: f32[6,4,3,3],
// CHECK-NEXT: %arg2: f32[6],
// CHECK-NEXT: %arg3: i1[],
// CHECK-NEXT: %arg4: ui8[0]) -> f32[1,6,6,6] {
// CHECK-NEXT: %0: f32[1,6,6,6] = convolution(%arg0, %arg1, %arg2, stride=[1,1], padding=[0,0])
func.func @many(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>, %c: tensor<i1>, %d: tensor<0xui8>) -> tensor<1x6x6x6xf32> {
  %0 = "tc.convolution"(%x, %w, %b) {stride = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, transposed = false, groups = 1 : i64}
    : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x6x6xf32>
  return %0 : tensor<1x6x6x6xf32>
}

// After fusion: kernels, and generics named by what they compute. Their tensor.empty is left out.
// CHECK-LABEL: func @host(%arg0: f32[4]) -> f32[4] {
// CHECK-NEXT: %0: f32[4] = call @k0(%arg0)  # model.py:65
// CHECK-NEXT: return %0
// CHECK-LABEL: func @k0(%arg0: f32[4]) -> f32[4] {  # pointwise kernel: sin cos
// CHECK-NEXT: %0: f32[4] = generic[cos sin](%arg0)
// CHECK-NEXT: return %0
func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @k0(%x) {tc.offsets = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":65:1)
  return %0 : tensor<4xf32>
}
func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tc.kernel = "pointwise", tc.summary = "sin cos"} {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.cos %a : f32
    %s = math.sin %c : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Regions and blocks.
// CHECK-LABEL: func @control(%arg0: index) {
// CHECK-NEXT: %0: index = arith.constant(3)
// CHECK-NEXT: scf.for(%arg0, %arg0, %0) {
// CHECK-NEXT: ^(%1: index):
// CHECK-NEXT: scf.yield()
// CHECK-NEXT: }
// CHECK-NEXT: cf.br() -> ^bb1
// CHECK-NEXT: ^bb1():
// CHECK-NEXT: return
func.func @control(%n: index) {
  %c3 = arith.constant 3 : index
  scf.for %i = %n to %n step %c3 {
  }
  cf.br ^bb1
^bb1:
  return
}

// CHECK-LABEL: func @declared(f32[?], index) -> i1[2]
func.func private @declared(tensor<?xf32>, index) -> tensor<2xi1>
