"""The IndexBook of a function: axes, maps, kinds, and its text."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_programs.movement_chains import random_chain
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.graphs import functions_of, value_names
from tinyc.analysis.index_book.book import Entry, IndexBook, NonScopEntry, index_book
from tinyc.analysis.index_book.invariants import broken_invariants
from tinyc.dialects.index_book.ops import TableOp
from tinyc.dialects.index_book.verify import read_book
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.to_index_book import TinyToIndexBook
from tinyc.expr import extents
from tinyc.mlir import ir
from tinyc.mlir.side_table import number_attribute, tables_of
from tinyc.vocabulary.types import TensorType


def book_of(program: Program) -> IndexBook:
    with context():
        return index_book(program.function)


def found_of(program: Program, value: str) -> Entry | NonScopEntry:
    (entry,) = (each for each in book_of(program).entries if each.value == value)
    return entry


def entry_of(program: Program, value: str) -> Entry:
    entry = found_of(program, value)
    assert isinstance(entry, Entry)
    return entry


def maps(entry: Entry) -> list[tuple[str, list[str]]]:
    return [(each.value, [str(row) for row in each.map]) for each in entry.inputs]


# The values that specification 002 §2 lists; its maps with one entry too many are mended (spec/README.md, 7).
RUNNING_EXAMPLE = {
    "X1": [("X", ["i0", "i2"])],
    "W2": [("W1", ["0", "i2", "i1"])],
    "P": [("v0", ["i0", "i1", "i2"]), ("v1", ["i0", "i1", "i2"])],
    "Y_fp32": [("P", ["i0", "i1", "i2"])],
    "b1": [("bias", ["i1"])],
}


@pytest.mark.parametrize("value", RUNNING_EXAMPLE)
def test_maps_of_the_running_example(value):
    assert maps(entry_of(gemm_bias_relu(), value)) == RUNNING_EXAMPLE[value]


PADDED = [("f64", (0.0, -0.0)), ("i64", (1, 0)), ("i1", (True, False))]


@pytest.mark.parametrize(("element", "values"), PADDED)
def test_the_value_of_a_pad_is_that_of_its_own_type_and_bits(element, values):
    """Books that are alike but for values that are equal as numbers: 0.0 and -0.0, 1 and True."""
    for value in values:
        p = Program(x=f"{element} M")
        p.result(p.pad(p["x"], lo=(1,), hi=(0,), value=value, name="y"))
        (guard,) = entry_of(p, "y").guards
        assert (type(guard.value), str(guard.value)) == (type(value), str(value))


def test_a_size_of_one_is_a_broadcast_axis():
    axes = entry_of(gemm_bias_relu(), "X1").axes
    assert [(axis.label, axis.kind) for axis in axes] == [("m", "iter"), ("", "broadcast"), ("k", "iter")]


def test_an_axis_that_an_expand_brings_in_is_a_broadcast_axis():
    p = Program(x="f32 K")
    p.expand(p["x"], shape="M K", broadcast_dimensions=(1,), name="y")
    assert [axis.kind for axis in entry_of(p, "y").axes] == ["broadcast", "iter"]


def test_a_reduce_renumbers_the_kept_axes_and_lists_the_reduced_ones_last():
    p = Program(x="f32 A B C")
    p.sum(p["x"], 1, name="y")
    entry = entry_of(p, "y")
    assert [(axis.label, axis.kind) for axis in entry.axes] == [("a", "iter"), ("c", "iter"), ("b", "reduce")]
    assert maps(entry) == [("x", ["i0", "i2", "i1"])]
    assert entry.reduce_axes == (1,)


def test_a_pad_has_a_guard_for_each_padded_axis():
    p = Program(x="f32 4 M")
    p.pad(p["x"], lo=(0, 2), hi=(0, 0), value=1.5, name="y")
    assert [str(guard) for guard in entry_of(p, "y").guards] == ["0 <= i1 - 2 < M else 1.5"]


def test_an_extent_that_is_no_single_symbol_has_no_label():
    p = Program(x="f32 2*M M*N 3")
    assert [axis.label for axis in entry_of(p, "x").axes] == ["", "", ""]


def test_data_dependent_ops_are_non_scop():
    p = Program(x="f32 M", i="i64 N")
    p.gather(p["x"], p["i"], axis=0, name="y")
    reason = "'tiny.gather' reads where its data says"
    assert found_of(p, "y") == NonScopEntry("y", (extents.symbol("N"),), (1,), ("x", "i"), reason)


def test_a_reshape_with_a_symbolic_stride_is_non_scop():
    p = Program(x="f32 M N")
    p.reshape(p["x"], shape="N M", name="y")
    assert "symbolic stride" in found_of(p, "y").reason


def test_values_without_a_name_are_numbered_and_equal_names_told_apart():
    p = Program(x="f32 M")
    for name in (None, "n", "n", None, "v1"):
        p.relu(p["x"], name=name)
    with context():
        assert list(value_names(p.function).values()) == ["x", "v0", "n", "n_1", "v1", "v1_1"]


def round_trip(program: Program) -> tuple[IndexBook, IndexBook]:
    """Return the book, and what is read back from its text."""
    with context():
        book = index_book(program.function)
        TinyToIndexBook().run(program.module)
        module = ir.Module.parse(str(program.module))
        assert module.operation.verify()
        return book, read_book(*tables_of(module, TableOp))


def test_the_running_example_reads_back_from_its_text():
    written, read = round_trip(gemm_bias_relu())
    assert read == written


SHAPES = [("M", 4), (6, "M"), (3, 4, 2), ("2*M", 6), ("(H - 1) floordiv 2 + 1", 3)]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 2**32))
def test_books_of_random_movements_read_back_from_their_text(shape, seed):
    chain = random_chain(random.Random(seed), [extents.parse_extent(str(extent)) for extent in shape], 5)
    p = Program(x=TensorType("i64", chain.shape))
    written, read = round_trip(p.result(chain.on(p, p["x"])))
    assert read == written
    assert list(broken_invariants(written, chain.assumptions)) == []


def test_a_second_run_replaces_the_table():
    p = gemm_bias_relu()
    with context():
        TinyToIndexBook().run(p.module)
        TinyToIndexBook().run(p.module)
        assert len(tables_of(p.module, TableOp)) == len(functions_of(p.module)) == 1


def test_a_guard_value_needs_no_location():
    with context():
        assert number_attribute(0.5).value == 0.5
