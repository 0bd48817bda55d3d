"""Poly-View: a side table of the polyhedral statements of a Tiny function, for analysis only.

Here: one `poly.view` beside each function. A `poly.block` is a compute op with the movements that it reads through
composed away; domain and accesses are isl text with named axes, and the names of tensors are those of the blocks that
write them. Each floor division in an access has its guard in the domain. A product and its sum are one
`contraction_pattern` block. A `poly.edge` has the dependences between two blocks, within their domains. Gone:
movements, dead ops, and, as `poly.non_scop`, what is not quasi-affine. The table is for reading: one found in a module
is verified against the recomputed one, and never consumed.

    "poly.view"() ({
      "poly.block"() {name = "Y", kind = "ewise", domain = "[M] -> { Y[m] : 0 <= m < M }",
        write = "[M] -> { Y[m] -> Y[m] }", accesses = ["[M] -> { Y[m] -> X[m] }"],
        attrs = {element = "f32", op = "relu"}} : () -> ()
      omp.terminator
    }) {elements = {X = "f32"}, function = @main, outputs = ["Y"]} : () -> ()

In reading order:

    ops, op_verifier  the ops, and what holds of each by itself
    encode, decode    statements and relations as attributes, and back
    verify            what holds of a view as a whole
"""
