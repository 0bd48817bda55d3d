"""The limits of a piecewise access: a program that stays at each, one that goes over it, and what is then said."""

import pytest

from analysis_programs.contraction_programs import shape_of
from analysis_programs.tiny_programs import Program
from tinyc.analysis import limits
from tinyc.analysis.access import Access, NonScop, trace
from tinyc.analysis.index_book.book import NonScopEntry, index_book
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.registry import context
from tinyc.expr import axes, index_map


def padded(count: int, high: int) -> Program:
    """Pad ``[M]`` `count` times below, each time with another value, and by `high` above."""
    p = Program(x="f64 M")
    value = p["x"]
    for number in range(count):
        value = p.pad(value, lo=(1,), hi=(high,), value=float(number), name=f"p{number}")
        if not high:
            value = p.shrink(value, lo=(0,), hi=(shape_of(value)[0] - 1,), step=(1,), name=f"s{number}")
    return p.result(p.neg(value, name="y"))


def viewed(p: Program, value, rows, name: str):
    return p.view(
        value, shape=shape_of(value), map=tuple(index_map.parse_row(row, len(rows)) for row in rows), name=name
    )


def divided(count: int) -> Program:
    """Divide `count` axes, the last of them in a second movement."""
    p = Program(x="f64" + " 9" * count)
    rows = [f"i{position} floordiv 2" for position in range(count)]
    one = viewed(p, p["x"], [*rows[:-1], f"i{count - 1}"], "v0")
    other = viewed(p, one, [*(f"i{position}" for position in range(count - 1)), rows[-1]], "v1")
    return p.result(p.neg(other, name="y"))


def nested(count: int) -> Program:
    """Divide ``2 * i + 1`` `count` times, by another number each."""
    p = Program(x="f64 999")
    value = p["x"]
    for divisor in (3, 5, 7, 11)[:count]:
        value = viewed(p, value, [f"(2 * i0 + 1) floordiv {divisor}"], f"v{divisor}")
    return p.result(p.neg(value, name="y"))


def strided(count: int) -> Program:
    """Take each ``2**31``-th element, `count` times."""
    p = Program(x="f64 M")
    value = p["x"]
    for number in range(count):
        value = p.shrink(value, lo=(0,), hi=shape_of(value), step=(2**31,), name=f"s{number}")
    return p.result(p.neg(value, name="y"))


#: A program at the limit, one over it, where the chain is cut, and the counts.
OVER = {
    "guards": (
        padded(16, 0),
        padded(17, 0),
        "p0",
        "pad guards 17 of 16, pieces 18 of 32, floor divisions 0 of 8, their nesting 0 of 3",
    ),
    "pieces": (
        padded(15, 1),
        padded(16, 1),
        "p0",
        "pad guards 16 of 16, pieces 33 of 32, floor divisions 0 of 8, their nesting 0 of 3",
    ),
    "divisions": (
        divided(8),
        divided(9),
        "v0",
        "pad guards 0 of 16, pieces 1 of 32, floor divisions 9 of 8, their nesting 1 of 3",
    ),
    "nesting": (
        nested(3),
        nested(4),
        "v3",
        "pad guards 0 of 16, pieces 1 of 32, floor divisions 4 of 8, their nesting 4 of 3",
    ),
    "numbers": (strided(1), strided(2), "s0", f"greatest number {2**62} of {2**62 - 1}"),
}


@pytest.mark.parametrize("program", [each[0] for each in OVER.values()], ids=OVER)
def test_a_chain_at_the_limit_is_one_access(program):
    with context():
        (block,) = poly_view(program.function).blocks
    assert [access.tensor for access in block.accesses] == ["x"]


@pytest.mark.parametrize(("program", "cut", "counts"), [each[1:] for each in OVER.values()], ids=OVER)
def test_a_chain_over_it_is_cut_at_a_value_which_the_reason_names_with_the_counts(program, cut, counts):
    with context():
        first, second = poly_view(program.function).blocks
    reason = f"ExcessivePiecewise: the access through '{cut}' is over a limit: {counts}"
    assert (first.name, first.attributes["materialized"]) == (cut, reason)
    assert [access.tensor for access in second.accesses] == [cut]


@pytest.mark.parametrize(("program", "cut", "counts"), [each[1:] for each in OVER.values()], ids=OVER)
def test_without_names_the_reason_says_at_which_op(program, cut, counts):
    with context():
        (neg,) = (op for op in program.block.operations if op.operation.name == "tiny.neg")
        found = trace(neg.operation.operands[0])
    assert isinstance(found, NonScop)
    assert found.op.location.name_str == cut
    assert found.reason == f"ExcessivePiecewise: the access through '{found.op.name}' is over a limit: {counts}"


@pytest.mark.parametrize(
    ("low", "high", "pieces"), [((1, 1), (0, 0), 3), ((0, 0), (2, 1), 3), ((1, 0), (1, 1), 4), ((1, 1), (1, 1), 5)]
)
def test_a_pad_makes_a_piece_of_each_side(low, high, pieces):
    p = Program(x="f64 M 4")
    value = p.pad(p["x"], lo=low, hi=high, value=0.0)
    with context():
        access = trace(value)
    assert isinstance(access, Access)
    assert limits.pieces(access.guards, shape_of(value)) == pieces


def test_a_number_inside_a_division_counts():
    (i,) = axes.identity((2**40,))
    row = axes.floordiv_within(i * (2**62 + 1), 2**40, (2**40,))
    for index, guards in (((row,), ()), ((i,), (Guard(row, 4, 0.0),))):
        found = limits.excess(index, guards, (2**40,))
        assert found is not None
        assert found.of("it") == f"ExcessivePiecewise: it is over a limit: greatest number {2**62 + 1} of {2**62 - 1}"


@pytest.mark.parametrize(("count", "affine"), [(8, True), (9, False)])
def test_a_dimension_is_split_into_so_many_axes(count, affine):
    symbols = [f"N{number}" for number in range(count)]
    p = Program(x=f"f64 {' '.join(symbols)}")
    p.result(p.reshape(p["x"], shape="*".join(symbols), name="y"))
    with context():
        entry = index_book(p.function).entries[-1]
    assert isinstance(entry, NonScopEntry) != affine
    assert limits.MAX_AXES == 8
