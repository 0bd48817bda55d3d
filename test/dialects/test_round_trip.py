"""The texts of an IndexBook and of a Poly-View read back as the data that they were made of."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings

from programs.example_bindings import BIND, CONV, EXAMPLES
from programs.strategies import programs
from tinyc import pipeline, text
from tinyc.analysis.graphs import main_function
from tinyc.analysis.index_book.book import index_book
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.index_book.ops import TableOp
from tinyc.dialects.index_book.verify import read_book
from tinyc.dialects.poly.ops import ViewOp
from tinyc.dialects.poly.verify import read_view
from tinyc.driver.sources import read_module
from tinyc.importers import tiny_json
from tinyc.mlir.side_table import tables_of
from tinyc.passes.runner import verify_layers

#: What a program needs to be read; all other sizes stay symbols.
NEEDED = {"conv2d": CONV, "cumulative_sum": {"K": 7}}
#: Padded with what only an unsigned 64-bit integer holds.
LARGE = """
func.func @main(%x: tensor<3xui64> {tiny.name = "x"}) -> tensor<4xui64> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 1>, hi = array<i64: 0>, value = 18446744073709551615 : ui64} : (tensor<3xui64>) -> tensor<4xui64>
  return %0 : tensor<4xui64>
}
"""  # noqa: E501


def padded(count: int) -> str:
    """Return a function that pads `count` times, each time by another value."""
    pads = [
        f'%p{k + 1} = "tiny.pad"(%p{k}) {{lo = array<i64: 1>, hi = array<i64: 0>, value = {k}.0 : f32}}'
        f' : (tensor<{k + 4}xf32>) -> tensor<{k + 5}xf32> loc("p{k + 1}")'
        for k in range(count)
    ]
    result = f"tensor<{count + 4}xf32>"
    head = f"func.func @main(%p0: tensor<4xf32>) -> {result} {{"
    return "\n".join((head, *pads, f"return %p{count} : {result}", "}"))


@dataclass(frozen=True)
class Listing:
    """An analysis of a function, the pass that prints what it finds, and what finds and reads that in a module."""

    analysis: Callable[[Any], Any]
    printer: str
    ops_of: Callable[[Any], list[Any]]
    read: Callable[[Any], Any]


LISTINGS = [
    Listing(index_book, "tiny-to-index-book", lambda module: tables_of(module, TableOp), read_book),
    Listing(poly_view, "tiny-to-poly", lambda module: tables_of(module, ViewOp), read_view),
]
each_listing = pytest.mark.parametrize("listing", LISTINGS, ids=[each.printer for each in LISTINGS])


def check(listing: Listing, module) -> Any:
    """Check that what is found of the function is what its text says, parsed and verified; return what was read."""
    with module.context:
        found = listing.analysis(main_function(module))
        pipeline.parse(listing.printer).run(module)
        again = text.parse(text.print_ir(module, stock=True))
        verify_layers(again)
        (op,) = listing.ops_of(again)
        again = listing.read(op)
    assert again == found
    return again


@each_listing
@pytest.mark.parametrize("name", BIND)
def test_examples(listing, name):
    check(listing, read_module(EXAMPLES / f"{name}.json", NEEDED.get(name)))


def test_blocks_that_are_read_back_have_the_producers_of_what_they_read():
    view = check(LISTINGS[1], read_module(EXAMPLES / "softmax.json"))
    producers = {(block.name, read.tensor): read.producer for block in view.blocks for read in block.accesses}
    assert producers["d", "X"] is None
    assert producers["d", "m"] is view.blocks[0]


@each_listing
def test_the_value_of_a_pad_that_is_no_signed_integer(listing):
    check(listing, read_module(LARGE))


def test_a_reason_that_names_a_value():
    """The chain is cut at p1. Names are no part of the text of values: the name in the reason is that of the block."""
    view = check(LISTINGS[1], read_module(padded(17)))
    reasons = [block.attributes.get("materialized", "") for block in view.blocks]
    assert [block.name for block in view.blocks] == ["p1", "p17"]
    assert ["through 'p1'" in reason for reason in reasons] == [True, False]


@each_listing
@settings(max_examples=60)
@given(programs())
def test_random_programs(listing, program):
    check(listing, tiny_json.import_program(json.dumps(program.document)))
