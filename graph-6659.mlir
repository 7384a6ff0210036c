module {
  func.func @main(%arg0: tensor<1x64x7xf64> {tc.kind = "input", tc.name = "a0"}, %arg1: tensor<64xf64> {tc.kind = "input", tc.name = "a1"}, %arg2: tensor<64xf64> {tc.kind = "input", tc.name = "a2"}, %arg3: tensor<64xf64> {tc.kind = "input", tc.name = "a3"}, %arg4: tensor<64xf64> {tc.kind = "buffer", tc.name = "a4"}, %arg5: tensor<1x7xf32> {tc.kind = "parameter", tc.name = "a5"}, %arg6: tensor<9x2x16x3xf16> {tc.kind = "input", tc.name = "a6"}, %arg7: tensor<9xf32> {tc.kind = "parameter", tc.name = "a7"}, %arg8: tensor<1x2x12xf16> {tc.kind = "parameter", tc.name = "a8"}) -> (tensor<1x64x7xi1>, tensor<1x64x7xf64>, tensor<64xf64>, tensor<1x64x7xf64>, tensor<1x64x7xi1>, tensor<9xf32>, tensor<1x2x5xf16>, tensor<1x7xf32>, tensor<9xf32>, tensor<9xf32>) {
    %0 = "tc.gt"(%arg0, %arg0) : (tensor<1x64x7xf64>, tensor<1x64x7xf64>) -> tensor<1x64x7xi1>
    %1 = "tc.bitwise_and"(%0, %0) : (tensor<1x64x7xi1>, tensor<1x64x7xi1>) -> tensor<1x64x7xi1>
    %2 = "tc.maximum"(%0, %0) : (tensor<1x64x7xi1>, tensor<1x64x7xi1>) -> tensor<1x64x7xi1>
    %3 = "tc.batch_norm"(%arg0, %arg1, %arg2, %arg3, %arg4) {eps = 1.000000e-03 : f64} : (tensor<1x64x7xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>, tensor<64xf64>) -> tensor<1x64x7xf64>
    %4 = "tc.minimum"(%3, %arg0) : (tensor<1x64x7xf64>, tensor<1x64x7xf64>) -> tensor<1x64x7xf64>
    %5 = "tc.tanh"(%arg2) : (tensor<64xf64>) -> tensor<64xf64>
    %6 = "tc.logsumexp"(%arg5) {dims = array<i64>} : (tensor<1x7xf32>) -> tensor<f32>
    %7 = "tc.acosh"(%3) : (tensor<1x64x7xf64>) -> tensor<1x64x7xf64>
    %8 = "tc.isnan"(%2) : (tensor<1x64x7xi1>) -> tensor<1x64x7xi1>
    %9 = "tc.fmin"(%arg7, %6) : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
    %10 = "tc.avg_pool"(%arg8) {ceil_mode = false, count_include_pad = false, kernel = array<i64: 2>, padding = array<i64: 1>, stride = array<i64: 3>} : (tensor<1x2x12xf16>) -> tensor<1x2x5xf16>
    %11 = "tc.silu"(%arg5) : (tensor<1x7xf32>) -> tensor<1x7xf32>
    %12 = "tc.softmax"(%arg7) {dim = 0 : i64} : (tensor<9xf32>) -> tensor<9xf32>
    %13 = "tc.hardswish"(%arg7) : (tensor<9xf32>) -> tensor<9xf32>
    return %1, %4, %5, %7, %8, %9, %10, %11, %12, %13 : tensor<1x64x7xi1>, tensor<1x64x7xf64>, tensor<64xf64>, tensor<1x64x7xf64>, tensor<1x64x7xi1>, tensor<9xf32>, tensor<1x2x5xf16>, tensor<1x7xf32>, tensor<9xf32>, tensor<9xf32>
  }
}
