"""Which pattern a reduce is of, and the reasons why a plain one is of none."""

from dataclasses import asdict

import pytest

from analysis_programs.contraction_programs import Sizes, plain
from analysis_programs.fold_programs import skewed
from analysis_programs.tiny_programs import Program
from tinyc.analysis.index_book.splits import splits_of
from tinyc.analysis.patterns.classification import Reduction, pattern_of
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.patterns.fold import Fold, FoldAxis
from tinyc.analysis.patterns.rejection import Reason
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.poly.view import poly_view
from tinyc.dialects.registry import context


def pattern(program: Program, dims=None) -> Reduction:
    with context():
        return pattern_of(program.last_reduce, dims)


def _contraction():
    return plain(Sizes({}))


def _scan():
    p = Program(x="f64 B 5")
    windows = p.pool(p.pad(p["x"], lo=(0, 4), hi=(0, 0), value=0.0), kernel=(5,), stride=(1,), dilation=(1,))
    p.sum(windows, 2, element="f64")
    return p


def _fold():
    p = Program(x="f64 C 3 5")
    p.sum(skewed(p, p["x"], 2, 1), 2, element="f64")
    return p


def _pooling():
    p = Program(x="f64 C Y X")
    p.op("reduce", p.pool(p["x"], kernel=(2, 2), stride=(2, 2), dilation=(1, 1)), op="max", axes=(3, 4), element="f64")
    return p


PATTERNS = [(_contraction, Contraction), (_scan, Scan), (_fold, Fold), (_pooling, type(None))]


@pytest.mark.parametrize(("make", "kind"), PATTERNS, ids=[make.__name__[1:] for make, _ in PATTERNS])
def test_patterns(make, kind):
    assert isinstance(pattern(make()).pattern, kind)


def codes(found: Reduction) -> list[tuple[str, Reason]]:
    return [(name, each.code) for name, each in found.rejected]


def test_a_plain_reduction_has_a_reason_against_each_pattern():
    found = pattern(_pooling())
    assert (found.op, found.reduced) == ("max", (3, 4))
    assert codes(found) == [
        ("contraction", Reason.NOT_A_SUM),
        ("scan", Reason.SUMMED_AXES),
        ("fold", Reason.NOT_A_SUM),
    ]


def test_a_pattern_has_a_reason_against_each_one_asked_for_before():
    assert codes(pattern(_contraction())) == []
    assert codes(pattern(_scan())) == [("contraction", Reason.NO_PRODUCT)]
    assert [name for name, _ in codes(pattern(_fold()))] == ["contraction", "scan"]


def _behind_merged_axes(x: str, make):
    """Return a program that makes a pattern of ``[B*H, …]``, which is ``[B, H, …]``: a dimension that is two axes."""
    p = Program(x=x)
    sizes = x.split()[3:]
    return p.result(make(p, p.reshape(p["x"], shape=f"B*H {' '.join(sizes)}")))


def _running_sum(p, x):
    windows = p.pool(p.pad(x, lo=(0, 4), hi=(0, 0), value=0.0), kernel=(5,), stride=(1,), dilation=(1,))
    return p.sum(windows, 2, element="f64", name="y")


def test_a_scan_beside_merged_axes_is_along_an_axis_of_the_parts():
    program = _behind_merged_axes("f64 B H 5", _running_sum)
    with context():
        dims = splits_of(program.function).of
    found = pattern(program, dims)
    assert isinstance(found.pattern, Scan)
    assert (found.pattern.axis, found.reduced) == (2, (3,))
    assert [str(row) for row in found.pattern.element.map] == ["i0", "i1", "i2"]


def test_a_fold_beside_merged_axes_is_of_an_axis_of_the_parts():
    def fold(p, x):
        return p.sum(skewed(p, x, 2, 1), 2, element="f64", name="y")

    program = _behind_merged_axes("f64 B H 3 5", fold)
    with context():
        dims = splits_of(program.function).of
        (block,) = poly_view(program.function).blocks
    found = pattern(program, dims)
    assert isinstance(found.pattern, Fold)
    assert found.pattern.axes == (FoldAxis(position=2, window=3, tap=2, stride=2, dilation=1, pad=0),)
    assert block.attributes["fold"] == [asdict(each) for each in found.pattern.axes]
