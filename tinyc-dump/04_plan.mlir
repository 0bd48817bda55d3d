!t4096x1024_f16_memref = !region.memref<tensor<4096x1024xf16>, [1024, 1], 128 : i64, true>
!t4096_f32_memref = !region.memref<tensor<4096xf32>, [1], 128 : i64, true>
module {
  "region.kernel"() ({
  ^bb0(%x: !t4096x1024_f16_memref, %s: !t4096_f32_memref):
    %x_0 = "region.read"(%x) : (!t4096x1024_f16_memref) -> tensor<4096x1024xf16>
    %s_1 = "tiny.reduce"(%x_0) {axes = array<i64: 1>, op = "sum"} : (tensor<4096x1024xf16>) -> tensor<4096xf32>
    "region.yield"(%s_1, %s) {materialize = "gmem"} : (tensor<4096xf32>, !t4096_f32_memref) -> ()
    omp.terminator
  }) {plan = {arch = "sm_80", precision = "ieee", scheme = "row_reduce", vectorize = {axis = "n", width = 8 : i64}}, sym_name = "reduce_sum"} : () -> ()
  "region.kernel"() ({
  ^bb0(%s: !t4096_f32_memref, %y: !t4096_f32_memref):
    %s_0 = "region.read"(%s) : (!t4096_f32_memref) -> tensor<4096xf32>
    %y.const = "tiny.const"() {value = 5.000000e-01 : f32} : () -> tensor<4096xf32>
    %y_1 = "tiny.mul"(%s_0, %y.const) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    "region.yield"(%y_1, %y) {materialize = "gmem"} : (tensor<4096xf32>, !t4096_f32_memref) -> ()
    omp.terminator
  }) {plan = {arch = "sm_80", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}, sym_name = "elementwise_mul"} : () -> ()
  func.func @main(%x: tensor<4096x1024xf16> {tiny.name = "x"}) -> (tensor<4096xf32> {tiny.name = "y"}) {
    %0 = "region.launch"() {kernel = @reduce_sum} : () -> ((tensor<4096x1024xf16>) -> tensor<4096xf32>)
    %s = call_indirect %0(%x) : (tensor<4096x1024xf16>) -> tensor<4096xf32>
    %1 = "region.launch"() {kernel = @elementwise_mul} : () -> ((tensor<4096xf32>) -> tensor<4096xf32>)
    %y = call_indirect %1(%s) : (tensor<4096xf32>) -> tensor<4096xf32>
    return %y : tensor<4096xf32>
  }
}
