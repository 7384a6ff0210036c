// One part for each kind of error that the verifier reports.
// RUN: tc-opt --tc-verify --split-input-file --verify-diagnostics %s

func.func @dtype(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @+1 {{'tc.add' op operand 1 (b): expected f32, found f64}}
  %0 = "tc.add"(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'tc.mul' op operand 1 (b): shape f32[3,4] does not broadcast with f32[2,4] at dim 0}}
  %0 = "tc.mul"(%a, %b) : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @class(%a: tensor<2xi32>) {
  // expected-error @+1 {{'tc.cos' op operand 0 (x): expected a float type, found i32}}
  %0 = "tc.cos"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// Every error is reported, not only the first.
func.func @several(%a: tensor<2xi32>) {
  // expected-error @+1 {{'tc.cos' op operand 0 (x): expected a float type, found i32}}
  %0 = "tc.cos"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  // expected-error @+1 {{'tc.sin' op operand 0 (x): expected a float type, found i32}}
  %1 = "tc.sin"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @result_shape(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'tc.permute' op result 0 (y): expected f32[3,2], found f32[2,3]}}
  %0 = "tc.permute"(%a) {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result_dtype(%a: tensor<2xi32>) {
  // expected-error @+1 {{'tc.sum' op result 0 (y): expected i64[], found i32[]}}
  %0 = "tc.sum"(%a) {dims = array<i64>} : (tensor<2xi32>) -> tensor<i32>
  return
}

// -----

func.func @second_result(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.sort' op result 1 (indices): expected i64[2], found i32[2]}}
  %0:2 = "tc.sort"(%a) {dim = 0 : i64} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// -----

func.func @missing_attribute(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.softmax' op attribute 'dim' (i64) is missing}}
  %0 = "tc.softmax"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @mistyped_attribute(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.leaky_relu' op has no attribute 'negative_slop', did you mean 'negative_slope'?}}
  %0 = "tc.leaky_relu"(%a) {negative_slop = 0.1 : f64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unknown_attribute(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.cos' op has no attribute 'colour'}}
  %0 = "tc.cos"(%a) {colour = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// A dotted name is some pass's own mark.
func.func @marked(%a: tensor<2xf32>) {
  %0 = "tc.cos"(%a) {some.mark = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_kind(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.softmax' op attribute 'dim': expected i64, found a string}}
  %0 = "tc.softmax"(%a) {dim = "last"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @attribute_foreign(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.softmax' op attribute 'dim': expected i64, found affine_map<(d0) -> (d0)>}}
  %0 = "tc.softmax"(%a) {dim = affine_map<(d0) -> (d0)>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @dim_range(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{'tc.softmax' op attribute 'dim': expected 0 <= dim < 2, found 5}}
  %0 = "tc.softmax"(%a) {dim = 5 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @list_length(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'tc.convolution' op attribute 'stride': expected 2 entries, found 1}}
  %0 = "tc.convolution"(%x, %w) {stride = array<i64: 1>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>, output_padding = array<i64>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

func.func @mode(%x: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'tc.resize' op attribute 'mode': expected nearest, nearest_exact, linear or bicubic, found "cubic"}}
  %0 = "tc.resize"(%x) {size = array<i64: 4>, mode = "cubic"} : (tensor<1x2x8xf32>) -> tensor<1x2x4xf32>
  return
}

// -----

func.func @inner_size(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{'tc.matmul' op operand 1 (b): expected size 3 at dim 0, found 4}}
  %0 = "tc.matmul"(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @rank(%a: tensor<3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{'tc.matmul' op operand 0 (a): expected rank >= 2, found 1}}
  %0 = "tc.matmul"(%a, %b) : (tensor<3xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @rank_limit(%a: tensor<1x1x1x1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @+1 {{'tc.unsqueeze' op the result would have rank 13: at most 12}}
  %0 = "tc.unsqueeze"(%a) {dim = 0 : i64} : (tensor<1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @no_tensor(%a: f32) {
  // expected-error @+1 {{'tc.cos' op operand 0 (x): expected a ranked tensor (rank <= 12) of f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or i1, found 'f32'}}
  %0 = "tc.cos"(%a) : (f32) -> f32
  return
}

// -----

func.func @element_type(%a: tensor<2xf80>) {
  // expected-error @+1 {{'tc.cos' op operand 0 (x): expected a ranked tensor (rank <= 12) of f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or i1, found 'tensor<2xf80>'}}
  %0 = "tc.cos"(%a) : (tensor<2xf80>) -> tensor<2xf80>
  return
}

// -----

func.func @dtype_attribute(%a: tensor<2xf32>) {
  // expected-error @+1 {{'tc.cast' op attribute 'dtype': expected f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or i1, found i3}}
  %0 = "tc.cast"(%a) {dtype = i3} : (tensor<2xf32>) -> tensor<2xi8>
  return
}

// -----

func.func @operand_count(%a: tensor<2xf32>) {
  // expected-error @+1 {{op expects exactly 2 operands, but got 1}}
  %0 = "tc.add"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_operands() {
  // expected-error @+1 {{'tc.concat' op expected at least 1 operand, found 0}}
  %0 = "tc.concat"() {dim = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @dynamic(%a: tensor<?x4xf32>) {
  // expected-error @+1 {{'tc.reshape' op attribute 'shape': expected 4 elements, found 5}}
  %0 = "tc.reshape"(%a) {shape = array<i64: -2, 5>} : (tensor<?x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @overflow() {
  // expected-error @+1 {{'tc.full' op the result would have more than 2^63 bytes}}
  %0 = "tc.full"() {shape = array<i64: 4294967296, 4294967296>, value = 1 : i64, dtype = f32} : () -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @misspelt(%a: tensor<2xf32>) {
  // expected-error @+1 {{unregistered operation 'tc.softmx' found in dialect ('tc') that does not allow unknown operations, did you mean 'tc.softmax'?}}
  %0 = "tc.softmx"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
