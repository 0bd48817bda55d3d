"""The order inside of tiles: closed forms against isl, and both against looking at every instance."""

import itertools
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_programs.poly_blocks import axes_of, block, read
from tinyc.analysis.poly_core import can_compute_at
from tinyc.analysis.poly_core.legality import legality_at
from tinyc.analysis.poly_core.tile import tile_of
from tinyc.expr import axes
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.expr.isl import functions


def instances(each):
    return itertools.product(*map(range, each.statement.shape))


def values(index, instance):
    return tuple(evaluate_at(row, instance, {}) for row in index)


def needed(producer, consumer):
    """Yield (producer's instance, consumer's instance) of each true dependence."""
    for target in instances(consumer):
        for access in consumer.accesses:
            if access.tensor == producer.name:
                element = values(access.index, target)
                yield from ((s, target) for s in instances(producer) if values(producer.write, s) == element)


def holds_parts(producer, consumer, sizes, row):
    """Say whether each tile reads, along `row` of the tensor both read, all parts of the results that it reads."""
    tile = tile_of(consumer, sizes)
    (mine,), other = producer.accesses, next(read for read in consumer.accesses if read.tensor == "x")
    held = {}
    for target in instances(consumer):
        held.setdefault(values(tile.number(consumer.statement.shape), target), set()).add(
            values(other.index, target)[row]
        )
    return all(
        values(mine.index, source)[row] in held[values(tile.number(consumer.statement.shape), target)]
        for source, target in needed(producer, consumer)
    )


def is_needed(producer, consumer, witness):
    return (witness.producer, witness.consumer) in set(needed(producer, consumer))


def same_verdict(producer, consumer, sizes, expected):
    """Check that isl's verdict is the expected one, that its witness is a dependence, and that a closed form agrees."""
    reads = [access for access in consumer.accesses if access.tensor == producer.name]
    found = legality_at(producer, consumer, reads, sizes)
    assert found.verdict == ("ok" if expected else "illegal")
    assert expected or is_needed(producer, consumer, found.witness)
    quick = legality_at(producer, consumer, reads, sizes, quick=True).verdict
    assert quick in (found.verdict, "unproved")
    return quick


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(1, 7))
def test_a_reduction_over_rows_is_legal_where_rows_are_whole(rows, columns, tile_m, tile_n):
    shape = (rows, columns)
    m, n = axes_of(shape)
    most = block("most", "m n", shape, read("x", m, n), reduced="n")
    y = block("y", "m n", shape, read("x", m, n), read("most", m))
    sizes = {"m": tile_m, "n": tile_n}
    quick = same_verdict(most, y, sizes, holds_parts(most, y, sizes, 1))
    assert quick != "unproved"


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 10))
def test_a_reduction_over_digits_is_legal_where_tiles_hold_whole_groups(groups, members, size):
    g, c = axes_of((groups, members))
    channels = (groups * members,)
    (channel,) = axes_of(channels)
    mean = block("mean", "g c", (groups, members), read("x", g * members + c), reduced="c")
    y = block("y", "i", channels, read("x", channel), read("mean", axes.floordiv_within(channel, members, channels)))
    same_verdict(mean, y, {"i": size}, holds_parts(mean, y, {"i": size}, 0))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 7))
def test_a_sum_is_legal_where_no_tile_cuts_it(rows, depth, size):
    m, k = axes_of((rows, depth))
    total = block("total", "m k", (rows, depth), read("x", m, k), reduced="k")
    (i,) = axes_of((rows,))
    y = block("y", "m", (rows,), read("total", i))
    quick = same_verdict(total, y, {"k": size}, size >= depth)
    assert quick != "unproved"


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(2, 6), st.integers(1, 7), st.booleans(), st.integers(0, 1))
def test_a_scan_is_legal_where_its_axis_is_whole(length, size, reverse, offset):
    i, k = axes_of((length, length))
    first = 0 if reverse else 1 - length
    running = block(
        "running",
        "i k",
        (length, length),
        read("x", i + k + first, within=((0, length),)),
        reduced="k",
        kind="scan",
        axis=0,
        reverse=reverse,
    )
    (j,) = axes_of((length,))
    y = block("y", "j", (length - offset,), read("running", j + offset))
    whole = size >= length - offset
    reads = y.accesses
    assert legality_at(running, y, reads, {"j": size}).verdict == ("ok" if whole else "illegal")
    x = block("x", "i", (length,), read("input", j))
    found = legality_at(x, running, running.accesses, {"i": size})
    assert found.verdict == ("ok" if size >= length else "illegal")
    assert size >= length or is_needed(x, running, found.witness)


def through(tensor, below, *index, within=()):
    """Return a read of a tensor that a block makes."""
    return replace(read(tensor, *index, within=within), producer=below)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 7), st.booleans(), st.booleans())
def test_element_wise_blocks_between_a_tensor_and_its_readers_are_looked_through(rows, columns, size, left, right):
    shape = (rows, columns)
    m, n = axes_of(shape)
    first = block("first", "m n", shape, read("x", m, n))
    second = block("second", "m n", shape, through("first", first, m, n))
    mine = through("second", second, m, n) if left else read("x", m, n)
    other = through("first", first, m, n) if right else read("x", m, n)
    most = block("most", "m n", shape, mine, reduced="n")
    y = block("y", "m n", shape, other, read("most", m))
    expected = size >= columns
    assert same_verdict(most, y, {"n": size}, expected) != "unproved"


def test_what_some_read_of_a_tile_holds_need_not_be_held_by_all():
    shape = (4, 8, 8)
    m, n, k = axes_of(shape)
    most = block("most", "m n", shape[:2], read("x", *axes_of(shape[:2])), reduced="n")
    y = block("y", "m n k", shape, read("x", m, n), read("x", m, k), read("most", m), reduced="k")
    assert can_compute_at(most, y, {"m": 2, "n": 2}).ok
    assert not can_compute_at(most, y, {"m": 2, "n": 2, "k": 2}).ok


def test_a_tile_need_not_hold_what_the_guards_of_a_reduction_leave_out():
    shape = (4, 8)
    m, n = axes_of(shape)
    most = block("most", "m n", shape, read("x", m, n, within=((1, 4),)), reduced="n")
    y = block("y", "m n", shape, read("x", m, n - axes.floordiv_within(n, 4, shape) * 4), read("most", m))
    assert can_compute_at(most, y, {"n": 4}).ok
    assert can_compute_at(most, y, {"n": 2}).verdict == "illegal"
    every = block("every", "m n", shape, read("x", m, n), reduced="n")
    y = block("y", "m n", shape, *y.accesses[:1], read("every", m))
    assert can_compute_at(every, y, {"n": 4}).verdict == "illegal"


def test_each_read_of_a_reduction_must_find_its_parts():
    shape = (6, 6)
    m, n = axes_of(shape)
    most = block("most", "m n", shape, read("x", m, n), reduced="n")
    y = block("y", "m n", shape, read("x", m, n), read("most", m), read("most", n))
    found = can_compute_at(most, y, {"n": 2})
    assert found.verdict == "illegal"
    assert is_needed(most, y, found.witness)


def test_a_scan_that_one_read_takes_whole_is_held():
    (i,) = axes_of((4,))
    steps = axes_of((4, 4))
    running = block(
        "running",
        "i k",
        (4, 4),
        read("x", steps[0] + steps[1] - 3, within=((0, 4),)),
        reduced="k",
        kind="scan",
        axis=0,
        reverse=False,
    )
    m, n = steps
    y = block("y", "m n", (4, 4), read("running", m), read("running", n))
    assert can_compute_at(running, y, {"m": 2}).ok
    assert can_compute_at(running, y, {"n": 2}).ok
    assert can_compute_at(running, y, {"m": 2, "n": 2}).verdict == "illegal"
    assert can_compute_at(running, block("y", "i", (4,), read("running", i)), {"i": 2}).verdict == "illegal"


def test_wherever_isl_stops_nothing_is_ok_that_is_not(monkeypatch):
    shape = (4, 8)
    m, n = axes_of(shape)
    most = block("most", "m n", shape, read("x", m, n), reduced="n")
    quarter = axes.floordiv_within(n, 4, shape)
    y = block("y", "m n", shape, read("x", m, n - quarter * 4), read("most", m))
    verdicts = set()
    for operations in range(1, 1500, 3):
        monkeypatch.setattr(functions, "MAX_OPERATIONS", operations)
        verdicts.add(can_compute_at(most, y, {"n": 4}).verdict)
    assert verdicts == {"unproved", "illegal"}


def test_too_many_reads_through_element_wise_blocks_are_unproved():
    shape = (4, 70)
    m, n = axes_of(shape)
    wide = block("wide", "m n", shape, *(read(f"x{k}", m, n) for k in range(70)))
    most = block("most", "m n", shape, through("wide", wide, m, n), reduced="n")
    y = block("y", "m n", shape, read("wide", m, n), read("most", m))
    found = can_compute_at(most, y, {"n": 2})
    assert (found.ok, found.verdict) == (False, "unproved")
    assert "more than 64" in found.reason
    assert can_compute_at(most, y, {"m": 2}).ok, "no reduction is cut"


def test_the_witness_of_a_scan_continues_what_another_tile_made():
    i, k = axes_of((8, 8))
    running = block(
        "running",
        "i k",
        (8, 8),
        read("x", i + k - 7, within=((0, 8),)),
        reduced="k",
        kind="scan",
        axis=0,
        reverse=False,
    )
    (j,) = axes_of((8,))
    found = can_compute_at(running, block("y", "j", (8,), read("running", j)), {"j": 4})
    assert (found.witness.producer[0], found.witness.consumer) == (3, (4,))
