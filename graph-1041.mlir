module {
  func.func @main(%arg0: tensor<2x17xf32> {tc.kind = "input", tc.name = "a0"}, %arg1: tensor<33x1x2x1xf16> {tc.kind = "input", tc.name = "a1"}, %arg2: tensor<3x3x33xf64> {tc.kind = "input", tc.name = "a2"}, %arg3: tensor<2x1x8x10xf32> {tc.kind = "input", tc.name = "a3"}, %arg4: tensor<2x1x2x10xf32> {tc.kind = "input", tc.name = "a4"}, %arg5: tensor<2x1x2x5xf32> {tc.kind = "input", tc.name = "a5"}, %arg6: tensor<7x8x9x1x1xbf16> {tc.kind = "parameter", tc.name = "a6"}, %arg7: tensor<3x7xf64> {tc.kind = "input", tc.name = "a7"}) -> (tensor<2x17xi1>, tensor<33x1x2x1xf16>, tensor<33x1x2x1xf16>, tensor<3x3x33xf64>, tensor<2x1x8x5xf32>, tensor<7x8x1x1x1xbf16>, tensor<3x3x33xf64>, tensor<2x1x2x10xf32>, tensor<3x33x7xf64>, tensor<3x3x33xf64>) {
    %0 = "tc.ge"(%arg0, %arg0) : (tensor<2x17xf32>, tensor<2x17xf32>) -> tensor<2x17xi1>
    %1 = "tc.squeeze"(%0) {dims = array<i64>} : (tensor<2x17xi1>) -> tensor<2x17xi1>
    %2 = "tc.sigmoid"(%arg1) : (tensor<33x1x2x1xf16>) -> tensor<33x1x2x1xf16>
    %3 = "tc.erfc"(%arg1) : (tensor<33x1x2x1xf16>) -> tensor<33x1x2x1xf16>
    %4 = "tc.floor"(%arg2) : (tensor<3x3x33xf64>) -> tensor<3x3x33xf64>
    %5 = "tc.attention"(%arg3, %arg4, %arg5) {enable_gqa = false, is_causal = false} : (tensor<2x1x8x10xf32>, tensor<2x1x2x10xf32>, tensor<2x1x2x5xf32>) -> tensor<2x1x8x5xf32>
    %6 = "tc.gelu"(%arg4) : (tensor<2x1x2x10xf32>) -> tensor<2x1x2x10xf32>
    %7 = "tc.acosh"(%arg2) : (tensor<3x3x33xf64>) -> tensor<3x3x33xf64>
    %8 = "tc.amax"(%arg6) {dims = array<i64: 2, 4>, keepdim = true} : (tensor<7x8x9x1x1xbf16>) -> tensor<7x8x1x1x1xbf16>
    %9 = "tc.flip"(%7) {dims = array<i64: 2>} : (tensor<3x3x33xf64>) -> tensor<3x3x33xf64>
    %10 = "tc.sqrt"(%6) : (tensor<2x1x2x10xf32>) -> tensor<2x1x2x10xf32>
    %11 = "tc.matmul"(%7, %arg7) {transpose_a = true, transpose_b = false} : (tensor<3x3x33xf64>, tensor<3x7xf64>) -> tensor<3x33x7xf64>
    %12 = "tc.roll"(%7) {dims = array<i64: 0, 1>, shifts = array<i64: -5, 7>} : (tensor<3x3x33xf64>) -> tensor<3x3x33xf64>
    return %1, %2, %3, %4, %5, %8, %9, %10, %11, %12 : tensor<2x17xi1>, tensor<33x1x2x1xf16>, tensor<33x1x2x1xf16>, tensor<3x3x33xf64>, tensor<2x1x8x5xf32>, tensor<7x8x1x1x1xbf16>, tensor<3x3x33xf64>, tensor<2x1x2x10xf32>, tensor<3x33x7xf64>, tensor<3x3x33xf64>
  }
}
