// One valid use of every op. The types are static, so the verifier compares each written result with the shape rule's, dim by dim.
// RUN: tc-opt --tc-verify %s | tc-opt --tc-verify | FileCheck %s

// CHECK-LABEL: func.func @unary(
// CHECK: "tc.abs"
// CHECK: "tc.neg"
// CHECK: "tc.sign"
// CHECK: "tc.ceil"
// CHECK: "tc.floor"
// CHECK: "tc.round"
// CHECK: "tc.trunc"
// CHECK: "tc.frac"
// CHECK: "tc.sqrt"
// CHECK: "tc.rsqrt"
// CHECK: "tc.reciprocal"
// CHECK: "tc.square"
// CHECK: "tc.exp"
// CHECK: "tc.exp2"
// CHECK: "tc.expm1"
// CHECK: "tc.log"
// CHECK: "tc.log2"
// CHECK: "tc.log10"
// CHECK: "tc.log1p"
// CHECK: "tc.sin"
// CHECK: "tc.cos"
// CHECK: "tc.tan"
// CHECK: "tc.asin"
// CHECK: "tc.acos"
// CHECK: "tc.atan"
// CHECK: "tc.sinh"
// CHECK: "tc.cosh"
// CHECK: "tc.tanh"
// CHECK: "tc.asinh"
// CHECK: "tc.acosh"
// CHECK: "tc.atanh"
// CHECK: "tc.erf"
// CHECK: "tc.erfc"
// CHECK: "tc.relu"
// CHECK: "tc.sigmoid"
// CHECK: "tc.log_sigmoid"
// CHECK: "tc.silu"
// CHECK: "tc.gelu"
// CHECK: "tc.mish"
// CHECK: "tc.hardsigmoid"
// CHECK: "tc.hardswish"
// CHECK: "tc.leaky_relu"
// CHECK: "tc.elu"
// CHECK: "tc.softplus"
// CHECK: "tc.clamp"
func.func @unary(%a0: tensor<2x3xf32>) {
  %0 = "tc.abs"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tc.neg"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tc.sign"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tc.ceil"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = "tc.floor"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = "tc.round"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = "tc.trunc"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = "tc.frac"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = "tc.sqrt"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = "tc.rsqrt"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = "tc.reciprocal"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = "tc.square"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = "tc.exp"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = "tc.exp2"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = "tc.expm1"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = "tc.log"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = "tc.log2"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = "tc.log10"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %18 = "tc.log1p"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = "tc.sin"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = "tc.cos"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = "tc.tan"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = "tc.asin"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = "tc.acos"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %24 = "tc.atan"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %25 = "tc.sinh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %26 = "tc.cosh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %27 = "tc.tanh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %28 = "tc.asinh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %29 = "tc.acosh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %30 = "tc.atanh"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %31 = "tc.erf"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %32 = "tc.erfc"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %33 = "tc.relu"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %34 = "tc.sigmoid"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %35 = "tc.log_sigmoid"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %36 = "tc.silu"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %37 = "tc.gelu"(%a0) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %38 = "tc.mish"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %39 = "tc.hardsigmoid"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %40 = "tc.hardswish"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %41 = "tc.leaky_relu"(%a0) {negative_slope = 0.2 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %42 = "tc.elu"(%a0) {alpha = 1.5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %43 = "tc.softplus"(%a0) {beta = 2.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %44 = "tc.clamp"(%a0) {min = 0 : i64, max = 6.5 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @unary_types(
// CHECK: "tc.neg"
// CHECK: "tc.exp"
// CHECK: "tc.relu"
// CHECK: "tc.abs"
// CHECK: "tc.clamp"
// CHECK: "tc.isnan"
func.func @unary_types(%a0: tensor<4xi8>, %a1: tensor<4xbf16>, %a2: tensor<i32>, %a3: tensor<0xf16>, %a4: tensor<?x4xui8>, %a5: tensor<4xi64>) {
  %0 = "tc.neg"(%a0) : (tensor<4xi8>) -> tensor<4xi8>
  %1 = "tc.exp"(%a1) : (tensor<4xbf16>) -> tensor<4xbf16>
  %2 = "tc.relu"(%a2) : (tensor<i32>) -> tensor<i32>
  %3 = "tc.abs"(%a3) : (tensor<0xf16>) -> tensor<0xf16>
  %4 = "tc.clamp"(%a4) {max = 200 : i64} : (tensor<?x4xui8>) -> tensor<?x4xui8>
  %5 = "tc.isnan"(%a5) : (tensor<4xi64>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @tests_and_casts(
// CHECK: "tc.logical_not"
// CHECK: "tc.isnan"
// CHECK: "tc.isinf"
// CHECK: "tc.isfinite"
// CHECK: "tc.bitwise_not"
// CHECK: "tc.bitwise_not"
// CHECK: "tc.cast"
// CHECK: "tc.cast"
// CHECK: "tc.cast"
func.func @tests_and_casts(%a0: tensor<2x3xf32>, %a1: tensor<5xui8>, %a2: tensor<5xi1>) {
  %0 = "tc.logical_not"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = "tc.isnan"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = "tc.isinf"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %3 = "tc.isfinite"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %4 = "tc.bitwise_not"(%a1) : (tensor<5xui8>) -> tensor<5xui8>
  %5 = "tc.bitwise_not"(%a2) : (tensor<5xi1>) -> tensor<5xi1>
  %6 = "tc.cast"(%a0) {dtype = i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  %7 = "tc.cast"(%a1) {dtype = bf16} : (tensor<5xui8>) -> tensor<5xbf16>
  %8 = "tc.cast"(%a0) {dtype = i1} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @binary(
// CHECK: "tc.add"
// CHECK: "tc.sub"
// CHECK: "tc.mul"
// CHECK: "tc.div"
// CHECK: "tc.div_floor"
// CHECK: "tc.div_trunc"
// CHECK: "tc.remainder"
// CHECK: "tc.fmod"
// CHECK: "tc.pow"
// CHECK: "tc.maximum"
// CHECK: "tc.minimum"
// CHECK: "tc.fmax"
// CHECK: "tc.fmin"
// CHECK: "tc.atan2"
// CHECK: "tc.copysign"
func.func @binary(%a0: tensor<2x1x4xf32>, %a1: tensor<3x1xf32>) {
  %0 = "tc.add"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %1 = "tc.sub"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %2 = "tc.mul"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %3 = "tc.div"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %4 = "tc.div_floor"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %5 = "tc.div_trunc"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %6 = "tc.remainder"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %7 = "tc.fmod"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %8 = "tc.pow"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %9 = "tc.maximum"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %10 = "tc.minimum"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %11 = "tc.fmax"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %12 = "tc.fmin"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %13 = "tc.atan2"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %14 = "tc.copysign"(%a0, %a1) : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK: "tc.eq"
// CHECK: "tc.ne"
// CHECK: "tc.lt"
// CHECK: "tc.le"
// CHECK: "tc.gt"
// CHECK: "tc.ge"
func.func @compare(%a0: tensor<2x1xf64>, %a1: tensor<3xf64>) {
  %0 = "tc.eq"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  %1 = "tc.ne"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  %2 = "tc.lt"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  %3 = "tc.le"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  %4 = "tc.gt"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  %5 = "tc.ge"(%a0, %a1) : (tensor<2x1xf64>, tensor<3xf64>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @logical(
// CHECK: "tc.logical_and"
// CHECK: "tc.logical_or"
// CHECK: "tc.logical_xor"
func.func @logical(%a0: tensor<2x3xi32>, %a1: tensor<i32>) {
  %0 = "tc.logical_and"(%a0, %a1) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi1>
  %1 = "tc.logical_or"(%a0, %a1) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi1>
  %2 = "tc.logical_xor"(%a0, %a1) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func.func @bitwise(
// CHECK: "tc.bitwise_and"
// CHECK: "tc.bitwise_or"
// CHECK: "tc.bitwise_xor"
// CHECK: "tc.shift_left"
// CHECK: "tc.shift_right"
func.func @bitwise(%a0: tensor<2x3xi32>, %a1: tensor<3xi32>) {
  %0 = "tc.bitwise_and"(%a0, %a1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %1 = "tc.bitwise_or"(%a0, %a1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %2 = "tc.bitwise_xor"(%a0, %a1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %3 = "tc.shift_left"(%a0, %a1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %4 = "tc.shift_right"(%a0, %a1) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return
}

// CHECK-LABEL: func.func @select(
// CHECK: "tc.where"
func.func @select(%a0: tensor<2x1xi1>, %a1: tensor<1x3xf16>, %a2: tensor<f16>) {
  %0 = "tc.where"(%a0, %a1, %a2) : (tensor<2x1xi1>, tensor<1x3xf16>, tensor<f16>) -> tensor<2x3xf16>
  return
}

// CHECK-LABEL: func.func @reduction(
// CHECK: "tc.sum"
// CHECK: "tc.prod"
// CHECK: "tc.amax"
// CHECK: "tc.amin"
// CHECK: "tc.mean"
// CHECK: "tc.norm"
// CHECK: "tc.logsumexp"
// CHECK: "tc.var"
// CHECK: "tc.sum"
// CHECK: "tc.prod"
// CHECK: "tc.amax"
// CHECK: "tc.var"
// CHECK: "tc.norm"
// CHECK: "tc.any"
// CHECK: "tc.all"
// CHECK: "tc.argmax"
// CHECK: "tc.argmin"
func.func @reduction(%a0: tensor<2x3x4xf32>, %a1: tensor<2x3xi1>, %a2: tensor<2x3xi32>) {
  %0 = "tc.sum"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %1 = "tc.prod"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %2 = "tc.amax"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %3 = "tc.amin"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %4 = "tc.mean"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %5 = "tc.norm"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %6 = "tc.logsumexp"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %7 = "tc.var"(%a0) {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %8 = "tc.sum"(%a1) {dims = array<i64>} : (tensor<2x3xi1>) -> tensor<i64>
  %9 = "tc.prod"(%a2) {dims = array<i64: 1>, keepdim = true} : (tensor<2x3xi32>) -> tensor<2x1xi64>
  %10 = "tc.amax"(%a0) {dims = array<i64>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
  %11 = "tc.var"(%a0) {dims = array<i64: 0, 2>, correction = 0.0 : f64} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %12 = "tc.norm"(%a0) {p = 0x7FF0000000000000 : f64, dims = array<i64>} : (tensor<2x3x4xf32>) -> tensor<f32>
  %13 = "tc.any"(%a0) {dims = array<i64: 2>} : (tensor<2x3x4xf32>) -> tensor<2x3xi1>
  %14 = "tc.all"(%a0) {dims = array<i64>} : (tensor<2x3x4xf32>) -> tensor<i1>
  %15 = "tc.argmax"(%a0) {dim = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
  %16 = "tc.argmin"(%a0) {dim = 2 : i64, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<2x3x1xi64>
  return
}

// CHECK-LABEL: func.func @scan(
// CHECK: "tc.cumsum"
// CHECK: "tc.cumprod"
// CHECK: "tc.cummax"
// CHECK: "tc.cummin"
func.func @scan(%a0: tensor<2x3xi32>, %a1: tensor<2x3xf32>) {
  %0 = "tc.cumsum"(%a0) {dim = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi64>
  %1 = "tc.cumprod"(%a1) {dim = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2:2 = "tc.cummax"(%a1) {dim = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %3:2 = "tc.cummin"(%a1) {dim = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return
}

// CHECK-LABEL: func.func @shape(
// CHECK: "tc.reshape"
// CHECK: "tc.reshape"
// CHECK: "tc.unsqueeze"
// CHECK: "tc.squeeze"
// CHECK: "tc.permute"
// CHECK: "tc.broadcast"
// CHECK: "tc.slice"
// CHECK: "tc.slice"
// CHECK: "tc.slice"
// CHECK: "tc.select"
// CHECK: "tc.pad"
// CHECK: "tc.pad"
// CHECK: "tc.concat"
// CHECK: "tc.flip"
// CHECK: "tc.roll"
// CHECK: "tc.repeat"
// CHECK: "tc.unfold"
// CHECK: "tc.diagonal"
// CHECK: "tc.diagonal"
// CHECK: "tc.tril"
// CHECK: "tc.triu"
func.func @shape(%a0: tensor<2x3x4xf32>, %a1: tensor<1x3x1xf32>, %a2: tensor<3x1xf32>, %a3: tensor<2x3xf32>, %a4: tensor<2x3x4xf32>, %a5: tensor<2x9xf32>) {
  %0 = "tc.reshape"(%a0) {shape = array<i64: -1, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = "tc.reshape"(%a0) {shape = array<i64: -2, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
  %2 = "tc.unsqueeze"(%a0) {dim = 3 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4x1xf32>
  %3 = "tc.squeeze"(%a1) {dims = array<i64: 0, 1>} : (tensor<1x3x1xf32>) -> tensor<3x1xf32>
  %4 = "tc.permute"(%a0) {dims = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %5 = "tc.broadcast"(%a2) {shape = array<i64: 2, -1, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %6 = "tc.slice"(%a0) {dim = 2 : i64, start = 1 : i64, step = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x2xf32>
  %7 = "tc.slice"(%a0) {dim = 1 : i64, start = -2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  %8 = "tc.slice"(%a0) {dim = 0 : i64, start = 5 : i64, end = 9 : i64} : (tensor<2x3x4xf32>) -> tensor<0x3x4xf32>
  %9 = "tc.select"(%a0) {dim = 1 : i64, index = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %10 = "tc.pad"(%a3) {low = array<i64: 1, -1>, high = array<i64: 0, 2>, value = 1.5 : f64} : (tensor<2x3xf32>) -> tensor<3x4xf32>
  %11 = "tc.pad"(%a3) {low = array<i64: 0, 2>, high = array<i64: 0, 2>, mode = "reflect"} : (tensor<2x3xf32>) -> tensor<2x7xf32>
  %12 = "tc.concat"(%a0, %a4) {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  %13 = "tc.flip"(%a0) {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %14 = "tc.roll"(%a0) {shifts = array<i64: 1, -2>, dims = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %15 = "tc.repeat"(%a3) {repeats = array<i64: 2, 1, 3>} : (tensor<2x3xf32>) -> tensor<2x2x9xf32>
  %16 = "tc.unfold"(%a5) {dim = 1 : i64, size = 3 : i64, step = 2 : i64} : (tensor<2x9xf32>) -> tensor<2x4x3xf32>
  %17 = "tc.diagonal"(%a0) {offset = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
  %18 = "tc.diagonal"(%a0) {offset = -1 : i64, dim1 = 0 : i64, dim2 = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<3x1xf32>
  %19 = "tc.tril"(%a0) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %20 = "tc.triu"(%a0) {diagonal = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @creation(
// CHECK: "tc.constant"
// CHECK: "tc.full"
// CHECK: "tc.full"
// CHECK: "tc.iota"
func.func @creation() {
  %0 = "tc.constant"() {value = dense<[1, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %1 = "tc.full"() {shape = array<i64: 2, 3>, value = 0.5 : f64, dtype = f16} : () -> tensor<2x3xf16>
  %2 = "tc.full"() {shape = array<i64>, value = 1 : i64, dtype = i1} : () -> tensor<i1>
  %3 = "tc.iota"() {shape = array<i64: 2, 3>, dim = 1 : i64, start = -1 : i64, step = 2 : i64, dtype = i32} : () -> tensor<2x3xi32>
  return
}

// CHECK-LABEL: func.func @indexing(
// CHECK: "tc.one_hot"
// CHECK: "tc.embedding"
// CHECK: "tc.gather"
// CHECK: "tc.index_select"
// CHECK: "tc.index"
// CHECK: "tc.index"
// CHECK: "tc.index_put"
// CHECK: "tc.scatter"
// CHECK: "tc.scatter"
// CHECK: "tc.index_add"
// CHECK: "tc.masked_scatter"
// CHECK: "tc.searchsorted"
// CHECK: "tc.searchsorted"
// CHECK: "tc.histc"
func.func @indexing(%a0: tensor<2x3xi64>, %a1: tensor<10x4xf32>, %a2: tensor<2x3xi32>, %a3: tensor<2x3x4xf32>, %a4: tensor<1x9x4xi64>, %a5: tensor<5xi32>, %a6: tensor<5x6x7x8xf32>, %a7: tensor<2x3xi64>, %a8: tensor<2x3xi64>, %a9: tensor<5x6xf32>, %a10: tensor<6xf32>, %a11: tensor<2xi64>, %a12: tensor<3x4xf32>, %a13: tensor<2x4xi64>, %a14: tensor<2x4xf32>, %a15: tensor<f32>, %a16: tensor<2xi32>, %a17: tensor<4xi1>, %a18: tensor<9xf32>, %a19: tensor<9xf32>, %a20: tensor<2x3xf32>, %a21: tensor<2x9xf32>, %a22: tensor<2x4xf32>) {
  %0 = "tc.one_hot"(%a0) {classes = 7 : i64} : (tensor<2x3xi64>) -> tensor<2x3x7xi64>
  %1 = "tc.embedding"(%a1, %a2) : (tensor<10x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  %2 = "tc.gather"(%a3, %a4) {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<1x9x4xi64>) -> tensor<1x9x4xf32>
  %3 = "tc.index_select"(%a3, %a5) {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<5xi32>) -> tensor<2x5x4xf32>
  %4 = "tc.index"(%a6, %a7, %a8) {dims = array<i64: 1, 2>} : (tensor<5x6x7x8xf32>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<5x2x3x8xf32>
  %5 = "tc.index"(%a6, %a7, %a8) {dims = array<i64: 0, 3>} : (tensor<5x6x7x8xf32>, tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3x6x7xf32>
  %6 = "tc.index_put"(%a9, %a10, %a11) {dims = array<i64: 0>, accumulate = true} : (tensor<5x6xf32>, tensor<6xf32>, tensor<2xi64>) -> tensor<5x6xf32>
  %7 = "tc.scatter"(%a12, %a13, %a14) {dim = 0 : i64, reduce = "amax", include_self = false} : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %8 = "tc.scatter"(%a12, %a13, %a15) {dim = 0 : i64} : (tensor<3x4xf32>, tensor<2x4xi64>, tensor<f32>) -> tensor<3x4xf32>
  %9 = "tc.index_add"(%a12, %a16, %a14) {dim = 0 : i64, alpha = 2.0 : f64} : (tensor<3x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %10 = "tc.masked_scatter"(%a12, %a17, %a18) : (tensor<3x4xf32>, tensor<4xi1>, tensor<9xf32>) -> tensor<3x4xf32>
  %11 = "tc.searchsorted"(%a19, %a20) {right = true} : (tensor<9xf32>, tensor<2x3xf32>) -> tensor<2x3xi64>
  %12 = "tc.searchsorted"(%a21, %a22) : (tensor<2x9xf32>, tensor<2x4xf32>) -> tensor<2x4xi64>
  %13 = "tc.histc"(%a19) {bins = 8 : i64, max = 1.0 : f64} : (tensor<9xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @contraction(
// CHECK: "tc.matmul"
// CHECK: "tc.matmul"
// CHECK: "tc.linear"
// CHECK: "tc.linear"
// CHECK: "tc.convolution"
// CHECK: "tc.convolution"
// CHECK: "tc.convolution"
// CHECK: "tc.convolution"
func.func @contraction(%a0: tensor<5x2x3xf32>, %a1: tensor<3x4xf32>, %a2: tensor<3x2xf32>, %a3: tensor<4x3xf32>, %a4: tensor<5x3xf32>, %a5: tensor<3xf32>, %a6: tensor<4xf32>, %a7: tensor<1x4x9x8xf32>, %a8: tensor<6x4x3x3xf32>, %a9: tensor<6xf32>, %a10: tensor<1x4x9xf32>, %a11: tensor<6x2x3xf32>, %a12: tensor<1x4x5x5xf32>, %a13: tensor<4x3x3x3xf32>, %a14: tensor<1x1x5x5x5xf32>, %a15: tensor<2x1x3x3x3xf32>) {
  %0 = "tc.matmul"(%a0, %a1) : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  %1 = "tc.matmul"(%a2, %a3) {transpose_a = true, transpose_b = true} : (tensor<3x2xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %2 = "tc.linear"(%a4, %a3) : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<5x4xf32>
  %3 = "tc.linear"(%a5, %a3, %a6) : (tensor<3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = "tc.convolution"(%a7, %a8, %a9) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x9x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x5x4xf32>
  %5 = "tc.convolution"(%a10, %a11) {stride = array<i64: 1>, padding = array<i64: 2, 0>, dilation = array<i64: 1>, output_padding = array<i64>, groups = 2 : i64} : (tensor<1x4x9xf32>, tensor<6x2x3xf32>) -> tensor<1x6x9xf32>
  %6 = "tc.convolution"(%a12, %a13) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, transposed = true, output_padding = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x10x10xf32>
  %7 = "tc.convolution"(%a14, %a15) {stride = array<i64: 1, 1, 1>, padding = array<i64: 0, 0, 0>, dilation = array<i64: 2, 2, 2>, output_padding = array<i64: 0, 0, 0>} : (tensor<1x1x5x5x5xf32>, tensor<2x1x3x3x3xf32>) -> tensor<1x2x1x1x1xf32>
  return
}

// CHECK-LABEL: func.func @pooling(
// CHECK: "tc.max_pool"
// CHECK: "tc.max_pool"
// CHECK: "tc.max_pool_with_indices"
// CHECK: "tc.avg_pool"
// CHECK: "tc.adaptive_avg_pool"
// CHECK: "tc.adaptive_max_pool"
// CHECK: "tc.resize"
// CHECK: "tc.resize"
// CHECK: "tc.im2col"
// CHECK: "tc.col2im"
func.func @pooling(%a0: tensor<1x2x8x7xf32>, %a1: tensor<2x7xf32>, %a2: tensor<1x18x16xf32>) {
  %0 = "tc.max_pool"(%a0) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x2x8x7xf32>) -> tensor<1x2x4x4xf32>
  %1 = "tc.max_pool"(%a0) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x2x8x7xf32>) -> tensor<1x2x5x4xf32>
  %2:2 = "tc.max_pool_with_indices"(%a1) {kernel = array<i64: 2>, stride = array<i64: 2>, padding = array<i64: 0>, dilation = array<i64: 1>} : (tensor<2x7xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %3 = "tc.avg_pool"(%a0) {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, count_include_pad = false} : (tensor<1x2x8x7xf32>) -> tensor<1x2x4x3xf32>
  %4 = "tc.adaptive_avg_pool"(%a0) {output_size = array<i64: 3, 1>} : (tensor<1x2x8x7xf32>) -> tensor<1x2x3x1xf32>
  %5:2 = "tc.adaptive_max_pool"(%a0) {output_size = array<i64: 3, 1>} : (tensor<1x2x8x7xf32>) -> (tensor<1x2x3x1xf32>, tensor<1x2x3x1xi64>)
  %6 = "tc.resize"(%a0) {size = array<i64: 16, 21>, mode = "linear", align_corners = true} : (tensor<1x2x8x7xf32>) -> tensor<1x2x16x21xf32>
  %7 = "tc.resize"(%a0) {size = array<i64: 4, 14>, mode = "nearest", scales = array<f64: 0.5, 2.0>} : (tensor<1x2x8x7xf32>) -> tensor<1x2x4x14xf32>
  %8 = "tc.im2col"(%a0) {kernel = array<i64: 3, 3>, dilation = array<i64: 1, 1>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x2x8x7xf32>) -> tensor<1x18x16xf32>
  %9 = "tc.col2im"(%a2) {output_size = array<i64: 8, 7>, kernel = array<i64: 3, 3>, dilation = array<i64: 1, 1>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<1x18x16xf32>) -> tensor<1x2x8x7xf32>
  return
}

// CHECK-LABEL: func.func @norm(
// CHECK: "tc.batch_norm"
// CHECK: "tc.batch_norm"
// CHECK: "tc.layer_norm"
// CHECK: "tc.layer_norm"
// CHECK: "tc.group_norm"
// CHECK: "tc.rms_norm"
// CHECK: "tc.softmax"
// CHECK: "tc.log_softmax"
func.func @norm(%a0: tensor<2x6x5xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>, %a5: tensor<2x6xf16>, %a6: tensor<6x5xf32>, %a7: tensor<6x5xf32>, %a8: tensor<5xf32>) {
  %0 = "tc.batch_norm"(%a0, %a1, %a2, %a3, %a4) : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  %1 = "tc.batch_norm"(%a5, %a1, %a2) {eps = 0.001 : f64} : (tensor<2x6xf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6xf16>
  %2 = "tc.layer_norm"(%a0) : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %3 = "tc.layer_norm"(%a0, %a6, %a7) {axes = 2 : i64} : (tensor<2x6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<2x6x5xf32>
  %4 = "tc.group_norm"(%a0, %a1, %a2) {groups = 3 : i64} : (tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x5xf32>
  %5 = "tc.rms_norm"(%a0, %a8) : (tensor<2x6x5xf32>, tensor<5xf32>) -> tensor<2x6x5xf32>
  %6 = "tc.softmax"(%a0) {dim = 1 : i64} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %7 = "tc.log_softmax"(%a0) {dim = 2 : i64} : (tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  return
}

// CHECK-LABEL: func.func @attention(
// CHECK: "tc.attention"
// CHECK: "tc.attention"
func.func @attention(%a0: tensor<1x2x5x8xf32>, %a1: tensor<1x2x7x8xf32>, %a2: tensor<1x2x7x3xf32>, %a3: tensor<2x8x5x4xf32>, %a4: tensor<2x2x7x4xf32>, %a5: tensor<2x2x7x4xf32>, %a6: tensor<5x7xi1>) {
  %0 = "tc.attention"(%a0, %a1, %a2) {is_causal = true} : (tensor<1x2x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x3xf32>) -> tensor<1x2x5x3xf32>
  %1 = "tc.attention"(%a3, %a4, %a5, %a6) {scale = 0.5 : f64, enable_gqa = true} : (tensor<2x8x5x4xf32>, tensor<2x2x7x4xf32>, tensor<2x2x7x4xf32>, tensor<5x7xi1>) -> tensor<2x8x5x4xf32>
  return
}

// CHECK-LABEL: func.func @sorting(
// CHECK: "tc.sort"
// CHECK: "tc.topk"
func.func @sorting(%a0: tensor<2x6xf32>) {
  %0:2 = "tc.sort"(%a0) {dim = 1 : i64, descending = true} : (tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xi64>)
  %1:2 = "tc.topk"(%a0) {k = 3 : i64, dim = 1 : i64, largest = false} : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return
}

// CHECK-LABEL: func.func @dynamic(
// CHECK: "tc.add"
// CHECK: "tc.reshape"
// CHECK: "tc.reshape"
// CHECK: "tc.broadcast"
// CHECK: "tc.concat"
// CHECK: "tc.matmul"
// CHECK: "tc.convolution"
// CHECK: "tc.softmax"
// CHECK: "tc.sum"
// CHECK: "tc.slice"
func.func @dynamic(%a0: tensor<?x3x?xf32>, %a1: tensor<2x1x4xf32>, %a2: tensor<?x4x8xf32>, %a3: tensor<?x1xf32>, %a4: tensor<?x4xf32>, %a5: tensor<?x4xf32>, %a6: tensor<?x2x3xf32>, %a7: tensor<3x?xf32>, %a8: tensor<?x4x?x8xf32>, %a9: tensor<6x4x3x3xf32>) {
  %0 = "tc.add"(%a0, %a1) : (tensor<?x3x?xf32>, tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %1 = "tc.reshape"(%a0) {shape = array<i64: -2, -1>} : (tensor<?x3x?xf32>) -> tensor<?x?xf32>
  %2 = "tc.reshape"(%a2) {shape = array<i64: -2, -1>} : (tensor<?x4x8xf32>) -> tensor<?x32xf32>
  %3 = "tc.broadcast"(%a3) {shape = array<i64: -1, 7>} : (tensor<?x1xf32>) -> tensor<?x7xf32>
  %4 = "tc.concat"(%a4, %a5) {dim = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = "tc.matmul"(%a6, %a7) : (tensor<?x2x3xf32>, tensor<3x?xf32>) -> tensor<?x2x?xf32>
  %6 = "tc.convolution"(%a8, %a9) {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<?x4x?x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x6x?x4xf32>
  %7 = "tc.softmax"(%a0) {dim = 2 : i64} : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %8 = "tc.sum"(%a0) {dims = array<i64: 0, 2>} : (tensor<?x3x?xf32>) -> tensor<3xf32>
  %9 = "tc.slice"(%a0) {dim = 0 : i64, end = 5 : i64} : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return
}
