"""Tiny → IndexBook: the axes and access maps of every value, printed beside the function."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tinyc.analysis.graphs import is_graph
from tinyc.analysis.index_book.book import index_book
from tinyc.dialects.index_book.encode import encode_entry
from tinyc.dialects.index_book.verify import tables
from tinyc.dialects.tiny.verify import functions
from tinyc.passes import Pass
from tinyc.side_table import write_table


@dataclass(frozen=True)
class TinyToIndexBook(Pass):
    """Print the IndexBook of each Tiny function as a table behind it.

    Requires:
        1. Functions of Tiny ops in a single block; other functions are left alone.
    Ensures:
        1. Each function has one table with an entry for each of its values; the functions are as before.
        2. What is not a quasi-affine map is an `index_book.non_scop` with the reason.
    Before:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          %0 = "tiny.flip"(%x) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
    After:
        func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
          %0 = "tiny.flip"(%x) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
        "index_book.table"() ({
          "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""],
            symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [],
            guard_values = [], reduce_axes = array<i64>} : () -> ()
          "index_book.entry"() {value = "v0", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""],
            symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = ["x"], guards = [],
            guard_values = [], maps = [affine_map<(d0) -> (-d0 + 3)>], reduce_axes = array<i64>} : () -> ()
          omp.terminator
        }) {function = @main} : () -> ()
    Source: specification 000 §1.3, 002 §2.
    """

    name: ClassVar[str] = "tiny-to-index-book"
    consumes: ClassVar[tuple[str, ...]] = ("tiny",)
    produces: ClassVar[tuple[str, ...]] = ("index_book",)

    def run(self, module: Any) -> None:
        """Put a table behind every function of `module`, in place of one that is there."""
        for table in tables(module):
            table.operation.erase()
        for function in functions(module):
            if is_graph(function):
                write_table(function, "index_book.table", {}, map(encode_entry, index_book(function).entries))
