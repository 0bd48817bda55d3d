"""Tiny IR: movements, element-wise ops, reduce and leaves on tensors; a pure dataflow graph in one function.

Here: every value is a `tensor` with static or symbolic extents, operands have equal types, accumulation types are
explicit. Gone: the high-level ops of the front end. Not yet: kernels, memory, loops.

    func.func @main(%x: tensor<4x3xf32> {tiny.name = "x"}) -> (tensor<4xf32> {tiny.name = "y"}) {
      %0 = "tiny.relu"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }

In reading order:

    ops, op_verifier        the ops, and the typing rule that each is verified by
    verify                  what holds of a Tiny function as a whole
    emit_steps              steps of `tinyc.formulas` as ops
    inline                  functions that call each other become one
    to_index_book, to_poly  out: the side tables
    to_region               out: a kernel for each group of ops, and the host function
"""
