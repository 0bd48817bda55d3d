"""Tiny → IndexBook: the axes and access maps of every value, printed beside the function."""

from dataclasses import dataclass
from typing import ClassVar

from tinyc.analysis.graphs import functions_of, is_graph
from tinyc.analysis.index_book.book import index_book
from tinyc.dialects.index_book.encode import encode_entry
from tinyc.dialects.index_book.ops import TableOp
from tinyc.mlir import ir
from tinyc.mlir.side_table import tables_of, write_table
from tinyc.passes import Pass


@dataclass(frozen=True)
class TinyToIndexBook(Pass):
    """Print the IndexBook of each Tiny function as a table behind it.

    Requires:
        1. Functions of Tiny ops in a single block; other functions are left alone.
    Ensures:
        1. Each function has one table with an entry for each of its values; the functions are as before.
        2. What is not a quasi-affine map is an `index_book.non_scop` with the reason.
    Source: specification 000 §1.3, 002 §2.
    Before:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          return %x : tensor<4xf32>
        }
    After:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          return %x : tensor<4xf32> }
        "index_book.table"() ({
          "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""],
            symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [],
            guard_values = [], reduce_axes = array<i64>} : () -> ()
          omp.terminator
        }) {function = @main} : () -> ()
    """

    name: ClassVar[str] = "tiny-to-index-book"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("index_book",)

    def run(self, module: ir.Module) -> None:
        """Put a table behind every function of `module`, in place of one that is there."""
        for table in tables_of(module, TableOp):
            table.erase()
        for function in functions_of(module):
            if is_graph(function):
                write_table(function, (TableOp, {}), map(encode_entry, index_book(function).entries))
