"""Region Buffer SSA: kernels with buffers at their boundary and pure values inside, and a host function that launches.

Here: one `region.kernel` is one kernel; its inputs are read whole by `region.read`, movements are access maps, each
yielded value has a buffer of its own. The host function applies each kernel once, through `region.launch` and
`func.call_indirect`, and holds `tiny.assume` and `tiny.reshape`s that only rename a buffer. Gone: the program as one
graph. Not yet: loops, threads, offsets.

    !buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
    "region.kernel"() ({
    ^bb0(%x: !buffer, %y: !buffer):
      %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
      %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
      omp.terminator
    }) {sym_name = "relu"} : () -> ()
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %k = "region.launch"() {kernel = @relu} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
      %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }

In reading order:

    ops            the dialect, its type and its ops, each with its rule
    kernel         the view of one kernel: buffers, body, yields, symbols, how it is launched
    kernel_body    a kernel that is written of parts of another one
    launches       the launches of kernels: found, written, replaced
    verify         what holds of the host function that launches kernels
    bind           sizes in the place of symbols
    size_sets      the sizes that runs are expected to have, as an option says them
    specialize     in-layer pass: alternatives of kernels, for sizes that are known
    dot_products   in-layer pass: what multiplies words of neighbours on a CPU
    winograd       in-layer pass: convolutions on a CPU by several kernels, where a plan asks for it
    pack_weights   in-layer pass: weights of products on a CPU in the order in which they are multiplied
    plan           in-layer pass: the decisions that a GPU kernel is built by
    to_gpu         out: a function on a GPU for each kernel
    to_loops       out: a function of loops for each kernel
    to_exec        out: the host function as buffers and launches, whatever layer its kernels are in
"""
