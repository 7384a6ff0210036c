module {
  func.func @main(%arg0: tensor<3x64xf16> {tc.kind = "buffer", tc.name = "a0"}, %arg1: tensor<3x3xi32> {tc.kind = "input", tc.name = "a1"}, %arg2: tensor<64x5x1xf32> {tc.kind = "input", tc.name = "a2"}, %arg3: tensor<1x4x5x5xf32> {tc.kind = "input", tc.name = "a3"}) -> (tensor<3x3x64xf16>, tensor<3x3x64xf16>, tensor<64x5x1xf32>, tensor<1x4x2x1xf32>) {
    %0 = "tc.embedding"(%arg0, %arg1) : (tensor<3x64xf16>, tensor<3x3xi32>) -> tensor<3x3x64xf16>
    %1 = "tc.mish"(%0) : (tensor<3x3x64xf16>) -> tensor<3x3x64xf16>
    %2 = "tc.sub"(%1, %arg0) : (tensor<3x3x64xf16>, tensor<3x64xf16>) -> tensor<3x3x64xf16>
    %3 = "tc.atanh"(%arg2) : (tensor<64x5x1xf32>) -> tensor<64x5x1xf32>
    %4 = "tc.avg_pool"(%arg3) {ceil_mode = false, count_include_pad = true, kernel = array<i64: 1, 3>, padding = array<i64: 0, 0>, stride = array<i64: 3, 3>} : (tensor<1x4x5x5xf32>) -> tensor<1x4x2x1xf32>
    return %1, %2, %3, %4 : tensor<3x3x64xf16>, tensor<3x3x64xf16>, tensor<64x5x1xf32>, tensor<1x4x2x1xf32>
  }
}
