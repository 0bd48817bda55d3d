"""The text of an IndexBook reads back as the data that it was made of."""

import json

import pytest
from hypothesis import given, settings

from example_bindings import BIND, CONV, EXAMPLES
from strategies import programs
from tinyc import passes, pipeline, text
from tinyc.analysis.graphs import main_function
from tinyc.analysis.index_book import index_book
from tinyc.dialects.index_book.verify import read_table, tables
from tinyc.importers import tiny_json
from tinyc.sources import load

#: What a program needs to be read; all other sizes stay symbols.
NEEDED = {"conv2d": CONV, "cumulative_sum": {"K": 7}}
#: Padded with what only an unsigned 64-bit integer holds.
LARGE = """
func.func @main(%x: tensor<3xui64> {tiny.name = "x"}) -> tensor<4xui64> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 1>, hi = array<i64: 0>, value = 18446744073709551615 : ui64} : (tensor<3xui64>) -> tensor<4xui64>
  return %0 : tensor<4xui64>
}
"""  # noqa: E501


def read_back(module):
    """Return the book of the module's function and what its text says, parsed and verified."""
    with module.context:
        book = index_book(main_function(module))
        pipeline.parse("tiny-to-index-book").run(module)
        again = text.parse(module.operation.get_asm(assume_verified=True))
        passes.verify_layers(again)
        (op,) = tables(again)
        return book, read_table(op)


@pytest.mark.parametrize("name", BIND)
def test_the_books_of_the_examples(name):
    book, again = read_back(load(EXAMPLES / f"{name}.json", NEEDED.get(name)))
    assert again == book


def test_the_value_of_a_pad_that_is_no_signed_integer():
    book, again = read_back(load(LARGE))
    assert again == book


@settings(max_examples=60)
@given(programs())
def test_the_books_of_random_programs(program):
    book, again = read_back(tiny_json.load(json.dumps(program.document)))
    assert again == book
