"""Frontend IR: the graph as the user means it, layers of networks on tensors; a pure dataflow graph in one function.

Here: high-level ops with their attributes; operands broadcast, types are the user's. Tensor constants and relations
between extents are Tiny's (`tiny.const`, `tiny.assume`). Gone: the format of the file that the program comes from. Not
yet: what an op is made of.

    func.func @main(%x: tensor<4x8xf16> {tiny.name = "x"}, %w: tensor<8x3xf16> {tiny.name = "w"})
        -> (tensor<4x3xf16> {tiny.name = "y"}) {
      %0 = "frontend.matmul"(%x, %w) : (tensor<4x8xf16>, tensor<8x3xf16>) -> tensor<4x3xf16>
      %1 = "frontend.elementwise"(%0) {fn = "gelu"} : (tensor<4x3xf16>) -> tensor<4x3xf16>
      return %1 : tensor<4x3xf16>
    }

What the ops take and mean is in `tinyc.formulas`, a function each. In reading order:

    attributes   their attributes as plain data, and back
    ops          the ops, each verified by its formula
    verify       what holds of a Frontend function as a whole
    to_tiny      out: each op as the Tiny ops of its formula
"""
