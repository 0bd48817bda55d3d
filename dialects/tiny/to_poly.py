"""Tiny → Poly-View: the polyhedral statements and their dependences, printed beside the function."""

from dataclasses import dataclass
from typing import ClassVar

from tinyc.analysis.graphs import functions_of, is_graph
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.poly.encode import encode_edge, encode_item, encode_view
from tinyc.dialects.poly.ops import ViewOp
from tinyc.mlir import ir
from tinyc.mlir.side_table import tables_of, write_table
from tinyc.passes import Pass


@dataclass(frozen=True)
class TinyToPoly(Pass):
    """Print the Poly-View of each Tiny function behind it.

    Requires:
        1. Functions of Tiny ops in a single block; other functions are left alone.
    Ensures:
        1. Each function has one view: a block for each compute op that an output needs (one for a contraction), an
           edge for each pair of blocks of which one reads the other; the functions are as before.
        2. What is not quasi-affine is a `poly.non_scop` with the reason.
    Source: specification 000 §1.4 and §3, 002 §3.
    Before:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32> }
        "poly.view"() ({
          "poly.block"() {name = "v0", kind = "ewise", domain = "{ v0[i0] : 0 <= i0 < 4 }", attrs = {element = "f32",
            op = "relu"}, write = "{ v0[i0] -> v0[i0] }", accesses = ["{ v0[i0] -> x[i0] }"]} : () -> ()
          omp.terminator
        }) {elements = {x = "f32"}, function = @main, outputs = ["v0"]} : () -> ()
    """

    name: ClassVar[str] = "tiny-to-poly"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("poly",)

    def run(self, module: ir.Module) -> None:
        """Put a view behind every function of `module`, in place of one that is there."""
        for view in tables_of(module, ViewOp):
            view.erase()
        for function in functions_of(module):
            if is_graph(function):
                view = poly_view(function)
                rows = (*map(encode_item, view.items), *map(encode_edge, view.edges))
                write_table(function, encode_view(view), rows)
