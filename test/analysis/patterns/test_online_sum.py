"""Which sums go along with a maximum in one pass over a row, and with which factor."""

import pytest

from analysis_programs.tiny_programs import Program
from tinyc.analysis.patterns.online_sum import online_scale


def scale_of(below, element="f32", factors=(1.5,), greatest="max", total="sum"):
    """The factor for a sum of `exp2` of products of `below(p, x, the greatest, spread over the row)` with constants."""
    p = Program(x=f"{element} 4 64")
    x = p.cast(p["x"], element="f32") if element != "f32" else p["x"]
    found = p.op("reduce", p["x"], op=greatest, axes=(1,), element=element)
    wide = p.cast(found, element="f32") if element != "f32" else found
    value = below(p, x, p.expand(wide, shape="4 64", broadcast_dimensions=(0,)))
    for factor in factors:
        value = p.mul(value, p.const(value=factor, element="f32", shape="4 64"))
    result = p.op("reduce", p.exp2(value), op=total, axes=(1,), element="f32")
    p.result(result)
    return online_scale(result.owner, found.owner)


def difference(p, x, greatest):
    return p.sub(x, greatest)


@pytest.mark.parametrize(("factors", "scale"), [((), 1), ((1.5,), 1.5), ((0.5, 4), 2)])
def test_exponentials_below_a_maximum_have_a_factor(factors, scale):
    assert scale_of(difference, factors=factors) == scale
    assert scale_of(difference, "f16", factors) == scale


@pytest.mark.parametrize(
    "options",
    [
        {"factors": (-1.0,)},
        {"factors": (0.0,)},
        {"greatest": "min"},
        {"total": "max"},
        {"below": lambda p, x, greatest: p.add(x, greatest)},
        {"below": lambda p, x, greatest: p.sub(greatest, x)},
        {"below": lambda p, x, greatest: p.sub(p.mul(x, greatest), greatest)},
        {"below": lambda p, x, greatest: p.sub(x, p.neg(greatest))},
    ],
)
def test_other_sums_have_none(options):
    assert scale_of(**{"below": difference, **options}) is None
