module {
  func.func @main(%arg0: tensor<f32> {tc.kind = "input", tc.name = "a0"}, %arg1: tensor<9x2x8x9xf32> {tc.kind = "parameter", tc.name = "a1"}, %arg2: tensor<64x2xf64> {tc.kind = "input", tc.name = "a2"}, %arg3: tensor<33x1x16xf64> {tc.kind = "input", tc.name = "a3"}, %arg4: tensor<1x17x1xi64> {tc.kind = "parameter", tc.name = "a4"}, %arg5: tensor<1x16x9xbf16> {tc.kind = "input", tc.name = "a5"}, %arg6: tensor<16x1x3xbf16> {tc.kind = "input", tc.name = "a6"}, %arg7: tensor<16xbf16> {tc.kind = "input", tc.name = "a7"}) -> (tensor<i1>, tensor<9x2x8x9xf32>, tensor<9x2x8x9xf32>, tensor<9x8x9xf32>, tensor<9x2x8x9xf32>, tensor<64x2xf64>, tensor<33x1x16xf64>, tensor<1x17x1xi64>, tensor<1x1xi64>, tensor<1x16x11xbf16>) {
    %0 = "tc.logical_and"(%arg0, %arg0) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = "tc.gelu"(%arg1) {approximate = "tanh"} : (tensor<9x2x8x9xf32>) -> tensor<9x2x8x9xf32>
    %2 = "tc.div"(%arg1, %1) : (tensor<9x2x8x9xf32>, tensor<9x2x8x9xf32>) -> tensor<9x2x8x9xf32>
    %3 = "tc.hardsigmoid"(%1) : (tensor<9x2x8x9xf32>) -> tensor<9x2x8x9xf32>
    %4 = "tc.acos"(%1) : (tensor<9x2x8x9xf32>) -> tensor<9x2x8x9xf32>
    %5 = "tc.select"(%4) {dim = 1 : i64, index = 1 : i64} : (tensor<9x2x8x9xf32>) -> tensor<9x8x9xf32>
    %6 = "tc.flip"(%4) {dims = array<i64: 0>} : (tensor<9x2x8x9xf32>) -> tensor<9x2x8x9xf32>
    %7 = "tc.div_trunc"(%arg2, %arg2) : (tensor<64x2xf64>, tensor<64x2xf64>) -> tensor<64x2xf64>
    %8 = "tc.elu"(%arg3) {alpha = 1.1670379551553043 : f64, input_scale = 1.5252914690225574 : f64, scale = 1.3215173060434566 : f64} : (tensor<33x1x16xf64>) -> tensor<33x1x16xf64>
    %9 = "tc.shift_right"(%arg4, %arg4) : (tensor<1x17x1xi64>, tensor<1x17x1xi64>) -> tensor<1x17x1xi64>
    %10 = "tc.select"(%arg4) {dim = 1 : i64, index = -12 : i64} : (tensor<1x17x1xi64>) -> tensor<1x1xi64>
    %11 = "tc.convolution"(%arg5, %arg6, %arg7) {dilation = array<i64: 2>, groups = 16 : i64, output_padding = array<i64: 0>, padding = array<i64: 1>, stride = array<i64: 1>, transposed = true} : (tensor<1x16x9xbf16>, tensor<16x1x3xbf16>, tensor<16xbf16>) -> tensor<1x16x11xbf16>
    return %0, %2, %3, %5, %6, %7, %8, %9, %10, %11 : tensor<i1>, tensor<9x2x8x9xf32>, tensor<9x2x8x9xf32>, tensor<9x8x9xf32>, tensor<9x2x8x9xf32>, tensor<64x2xf64>, tensor<33x1x16xf64>, tensor<1x17x1xi64>, tensor<1x1xi64>, tensor<1x16x11xbf16>
  }
}
