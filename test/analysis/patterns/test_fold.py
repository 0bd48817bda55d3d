"""Folds (col2im) in the two ways in which Tiny spells them, their numbers, and what is no fold."""

import numpy as np
import pytest

from analysis_programs.fold_programs import diagonal, skewed
from analysis_programs.tiny_programs import Program, tensor
from tinyc.analysis.patterns.fold import Fold, FoldAxis, detect_fold
from tinyc.analysis.patterns.rejection import Reason, Rejected
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.registry import context
from tinyc.executors import reference
from tinyc.expr.axes.evaluation import evaluate_at


def detect(program: Program) -> Fold | Rejected:
    with context():
        return detect_fold(program.last_reduce)


def by_axes(fold: Fold, source, shape):
    """Return what the fold says: each tap of each window added where it belongs."""
    result = np.zeros(shape)
    for at in np.ndindex(*source.shape):
        position, inside = [0] * len(shape), True
        for each in fold.axes:
            position[each.position] = each.stride * at[each.window] + each.dilation * at[each.tap] - each.pad
            inside &= 0 <= position[each.position] < shape[each.position]
        for axis in set(range(len(shape))) - {each.position for each in fold.axes}:
            (row,) = (row for row, index in fold.rows if index.terms and index.terms[0][0].position == axis)
            position[axis] = at[row]
        assert all(evaluate_at(index, position, {}) == at[row] for row, index in fold.rows)
        if inside:
            result[tuple(position)] += source[at]
    return result


def check(p: Program, total, expected: tuple[FoldAxis, ...], shape) -> None:
    found = detect(p.result(total))
    assert isinstance(found, Fold), found
    assert found.axes == expected
    source = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float64)
    (result,) = reference.evaluate_module(p.module, {"x": source}).values()
    np.testing.assert_array_equal(by_axes(found, source, result.shape), result)


STEPS = [(1, 1), (2, 1), (1, 2), (3, 2), (2, 3)]


@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize(("stride", "dilation"), STEPS)
@pytest.mark.parametrize("lead", ["2", "C"])
def test_skewed_rows(stride, dilation, pad, lead):
    p = Program(x=f"f64 {lead} 3 5")
    total = p.sum(skewed(p, p["x"], stride, dilation, pad), 2, element="f64")
    check(p, total, (FoldAxis(1, window=2, tap=1, stride=stride, dilation=dilation, pad=pad),), (2, 3, 5))


@pytest.mark.parametrize(("stride", "dilation"), STEPS)
@pytest.mark.parametrize("windows", ["5", "N"])
def test_the_diagonal_of_windows(stride, dilation, windows):
    p = Program(x=f"f64 3 {windows}")
    total = p.sum(diagonal(p, p["x"], stride, dilation), 1, element="f64")
    check(p, total, (FoldAxis(0, window=1, tap=0, stride=stride, dilation=dilation, pad=0),), (3, 5))


def test_windows_of_two_dimensions():
    """The inverse of an im2col: ``[C, KY, KX, OY, OX]`` to ``[C, Y, X]``."""
    p = Program(x="f64 2 3 2 4 5")
    x = skewed(p, p.permute(p["x"], perm=(0, 1, 3, 2, 4)), 2, 1, 1)
    x = skewed(p, p.permute(x, perm=(0, 3, 4, 1, 2)), 1, 2)
    total = p.sum(x, 2, 4, element="f64")
    along_x = FoldAxis(1, window=4, tap=2, stride=2, dilation=1, pad=1)
    along_y = FoldAxis(2, window=3, tap=1, stride=1, dilation=2, pad=0)
    check(p, total, (along_x, along_y), (2, 3, 2, 4, 5))


def _plain(p):
    p.sum(p["x"], 1, element="f64")


def _maximum(p):
    p.op("reduce", skewed(p, p["x"], 1, 1), op="max", axes=(2,), element="f64")


def _ones(p):
    x = p.pad(p["x"], lo=(0, 0, 0), hi=(0, 0, 2), value=1.0)
    p.sum(x, 1, element="f64")


def _masked(p):
    """Of the first channel only: a mask that is of no window."""
    x = p.pad(p.shrink(p["x"], lo=(0, 0, 0), hi=(1, 3, 5), step=(1, 1, 1)), lo=(0, 0, 0), hi=(1, 0, 0), value=0.0)
    p.sum(skewed(p, x, 1, 1), 2, element="f64")


def _pooled(p):
    p.sum(p.pool(p["x"], kernel=(3,), stride=(1,), dilation=(1,)), 3, element="f64")


REJECTED = [
    (_plain, Reason.NO_TAP, (1,)),
    (_maximum, Reason.NOT_A_SUM, ()),
    (_ones, Reason.PAD_VALUE, (2,)),
    (_masked, Reason.NO_BOUND, ()),
    (_pooled, Reason.NO_TAP, (3,)),
]


@pytest.mark.parametrize(("make", "code", "axes"), REJECTED, ids=[make.__name__[1:] for make, *_ in REJECTED])
def test_rejected(make, code, axes):
    p = Program(x="f64 2 3 5")
    make(p)
    found = detect(p)
    assert isinstance(found, Rejected)
    assert (found.code, found.axes) == (code, axes)


def test_rows_without_a_margin_wrap_around():
    """The skewed read reaches the row of another tap where no zeros are between the rows."""
    p = Program(x="f64 3 5")
    x = p.pool(p.reshape(p["x"], shape=tensor("f64 15").shape), kernel=(3,), stride=(1,), dilation=(4,))
    p.sum(x, 1, element="f64")
    assert isinstance(detect(p), Rejected)


def test_the_block_of_a_fold_has_its_windows():
    p = Program(x="f64 C 3 5")
    p.result(p.sum(skewed(p, p["x"], 2, 1, 1), 2, element="f64", name="y"))
    with context():
        (block,) = poly_view(p.function.opview).blocks
    assert block.kind == "reduce"
    assert block.attributes["fold"] == [
        {"position": 1, "window": 2, "tap": 1, "stride": 2, "dilation": 1, "pad": 1},
    ]
