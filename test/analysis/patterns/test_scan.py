"""Cumulative reductions: which are scans, along what, and their numbers; and why others are none."""

import itertools

import numpy as np
import pytest

from analysis_programs.scan_programs import FORMS, cumulative
from analysis_programs.tiny_programs import Program
from tinyc.analysis.patterns.rejection import Reason, Rejected
from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.dialects.registry import context
from tinyc.executors import reference
from tinyc.expr import extents
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.vocabulary.attributes import tensor_type

SYMBOLS = {"B": 3, "M": 4}


def detect(program: Program) -> Scan | Rejected:
    with context():
        return detect_scan(program.last_reduce)


def by_scan(scan: Scan, source, shape):
    """Return what the scan says, element by element."""
    function = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[scan.op]
    neutral = {"sum": 0, "max": -np.inf, "min": np.inf, "prod": 1}[scan.op]
    result = np.empty(shape)
    for at in itertools.product(*map(range, shape)):
        i, length = at[scan.axis], shape[scan.axis]
        first, last = (i, length - 1) if scan.reverse else (0, i)
        first, last = first + (scan.reverse and scan.exclusive), last - (not scan.reverse and scan.exclusive)
        read = []
        for j in range(first, last + 1):
            place = [*at[: scan.axis], j, *at[scan.axis + 1 :]]
            read.append(source[tuple(int(evaluate_at(row, place, SYMBOLS)) for row in scan.element.map)])
        result[at] = function([neutral, *read])
    return result


def check(p: Program, total, axis: int, reverse: bool, exclusive: bool) -> Scan:
    with context():
        found = detect(p.result(total))
        shape = tuple(extents.evaluate(extent, SYMBOLS) for extent in tensor_type(total.type).shape)
        read = tuple(extents.evaluate(extent, SYMBOLS) for extent in tensor_type(p["x"].type).shape)
    assert isinstance(found, Scan), found
    assert (found.axis, found.reverse, found.exclusive) == (axis, reverse, exclusive)
    source = np.random.default_rng(0).integers(-5, 5, read).astype(np.float64)
    (result,) = reference.evaluate_module(p.module, {"x": source}).values()
    np.testing.assert_array_equal(by_scan(found, source, shape), result)
    return found


NEUTRAL = [("sum", 0.0), ("prod", 1.0), ("max", -np.inf), ("min", np.inf)]


@pytest.mark.parametrize("lead", ["3", "B"])
@pytest.mark.parametrize(("op", "value"), NEUTRAL)
@pytest.mark.parametrize(("before", "after", "reverse", "exclusive"), FORMS)
def test_scans(before, after, reverse, exclusive, op, value, lead):
    p = Program(x=f"f64 {lead} 5")
    with context():
        total = cumulative(p, p["x"], before, after, value, op)
    check(p, total, 1, reverse, exclusive)


def test_a_scan_of_a_transposed_source():
    p = Program(x="f64 5 B")
    with context():
        total = cumulative(p, p.permute(p["x"], perm=(1, 0)), 4, 0)
    found = check(p, total, 1, False, False)
    assert [str(row) for row in found.element.map] == ["i1", "i0"]


def test_a_scan_of_a_flipped_source_runs_over_its_mirror():
    p = Program(x="f64 B 5")
    with context():
        total = cumulative(p, p.flip(p["x"], axes=(1,)), 4, 0)
    found = check(p, total, 1, False, False)
    assert [str(row) for row in found.element.map] == ["i0", "-i1 + 4"]


def test_windows_longer_than_the_axis_reach_no_more():
    p = Program(x="f64 3 5")
    with context():
        total = cumulative(p, p["x"], 6, 0, kernel=7)
    check(p, total, 1, False, False)


def test_a_mask_on_another_axis_stays_with_the_element():
    p = Program(x="f64 3 5")
    with context():
        total = cumulative(p, p.pad(p["x"], lo=(1, 0), hi=(0, 0), value=0.0), 4, 0)
    found = detect(p.result(total))
    assert isinstance(found, Scan)
    assert [str(guard) for guard in found.element.guards] == ["0 <= i0 - 1 < 3 else 0.0"]


def windows_of_symbolic_length(p: Program, length: str, before: int):
    """Sum, for each i of x ``[M, 5]``, `length` elements from ``i - before`` on, as far as they are inside."""
    x = p.pad(p["x"], lo=(0, before), hi=(0, 20), value=0.0)
    windows = p.pool(x, kernel=(16,), stride=(1,), dilation=(1,))
    windows = p.shrink(windows, lo=(0, 0, 0), hi=(extents.symbol("M"), 5, extents.parse_extent(length)), step=(1, 1, 1))
    return p.sum(windows, 2, element="f64")


def test_windows_that_reach_the_end_at_any_size_are_a_scan_from_there_on():
    p = Program(x="f64 M 5")
    check(p, windows_of_symbolic_length(p, "M + 5", 0), 1, True, False)


@pytest.mark.parametrize(
    ("length", "before", "positions"), [("M", 4, "i1 - 4 to i1 + M - 5"), ("M + 4", 0, "i1 to i1 + M + 3")]
)
def test_windows_of_which_no_size_says_that_they_reach_the_end_are_none(length, before, positions):
    """Of ``M + 4`` elements the first may take all from it on, but not where M may be 0."""
    p = Program(x="f64 M 5")
    windows_of_symbolic_length(p, length, before)
    found = detect(p)
    assert isinstance(found, Rejected)
    assert found.code == Reason.NOT_ALL_ELEMENTS
    assert found.reason == f"element i1 takes the positions {positions} of 5, not all up to it or from it on"


def _sliding(p):
    cumulative(p, p["x"], 2, 2)


def _short(p):
    cumulative(p, p["x"], 3, 0, kernel=4)


def _not_neutral(p):
    cumulative(p, p["x"], 4, 0, 0.0, "max")


def _plain(p):
    p.sum(p["x"], 1, element="f64")


def _two_axes(p):
    p.sum(p.pool(p["x"], kernel=(2,), stride=(1,), dilation=(1,)), 0, 2, element="f64")


def _masked_by_another_value(p):
    """Rows of ones are put beside the windows: outside of both, the first to fail says 1."""
    x = p.pad(p["x"], lo=(0, 4), hi=(0, 0), value=0.0)
    windows = p.pool(x, kernel=(5,), stride=(1,), dilation=(1,))
    p.sum(p.pad(windows, lo=(1, 0, 0), hi=(0, 0, 0), value=1.0), 2, element="f64")


REJECTED = [
    (_sliding, Reason.NOT_ALL_ELEMENTS, (1, 2)),
    (_short, Reason.NOT_ALL_ELEMENTS, (1, 2)),
    (_not_neutral, Reason.PAD_VALUE, (1, 2)),
    (_masked_by_another_value, Reason.PAD_VALUE, (1, 2)),
    (_plain, Reason.NO_BOUND, (1,)),
    (_two_axes, Reason.SUMMED_AXES, (0, 2)),
]


@pytest.mark.parametrize(("make", "code", "axes"), REJECTED, ids=[make.__name__[1:] for make, *_ in REJECTED])
def test_rejected(make, code, axes):
    p = Program(x="f64 3 5")
    with context():
        make(p)
    found = detect(p)
    assert isinstance(found, Rejected)
    assert (found.code, found.axes) == (code, axes)
    assert found.reason
