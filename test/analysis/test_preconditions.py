"""The preconditions of a program: what it states, and the extents of what it computes, alike at every layer."""

import pytest

from tinyc import pipeline, text
from tinyc.analysis.graphs import main_function
from tinyc.analysis.preconditions import preconditions
from tinyc.dialects.launch import launchables_of

MATRIX = 'tensor<?x?xf32, #tiny.dims<["M", "N"]>>'
ROWS = 'tensor<?xi64, #tiny.dims<["M floordiv N"]>>'
LESS = 'tensor<?xi64, #tiny.dims<["M - 5"]>>'
CUT = 'tensor<?x?xf32, #tiny.dims<["M - 2", "N"]>>'


def program(body, result="tensor<i64>"):
    return f"func.func @main(%x: {MATRIX}) -> {result} {{\n{body}\n}}"


def total(value, extent):
    """Return the sum of 0 … extent - 1 as an op."""
    return f"""%{value}_ = "tiny.iota"() {{axis = 0}} : () -> {extent}
      %{value} = "tiny.reduce"(%{value}_) {{op = "sum", axes = array<i64: 0>}} : ({extent}) -> tensor<i64>"""


def found(source, passes):
    module = text.parse(source)
    if passes:
        pipeline.parse(passes).run(module)
    with module.context:
        blocks = {name: kernel.bodies for name, kernel in launchables_of(module).items()}
        return [str(each) for each in preconditions(main_function(module), blocks)]


LAYERS = pytest.mark.parametrize(
    "passes", ["", "tiny-to-region", "tiny-to-region,region-to-gpu"], ids=["tiny", "region", "gpu"]
)


@LAYERS
def test_the_extents_of_inner_values_count(passes):
    assert found(program(total("y", ROWS) + "\nreturn %y : tensor<i64>"), passes) == ["1 <= N"]


@LAYERS
def test_what_is_dead_has_no_say(passes):
    body = f"{total('dead', LESS)}\n{total('y', ROWS)}\nreturn %y : tensor<i64>"
    assert found(program(body), passes) == ["1 <= N"]


@LAYERS
def test_what_is_stated_stands_once(passes):
    cut = f""""tiny.assume"() {{lhs = "2", predicate = "le", rhs = "M"}} : () -> ()
      %y = "tiny.shrink"(%x) {{lo = [2, 0], hi = ["M", "N"], step = array<i64: 1, 1>}} : ({MATRIX}) -> {CUT}
      return %y : {CUT}"""
    assert found(program(cut, CUT), passes) == ["2 <= M"]
