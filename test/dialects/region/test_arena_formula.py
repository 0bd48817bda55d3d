"""The size of the arena is one formula; a program for which it is too long is refused."""

import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import TinycError


def ones(count: int) -> str:
    """Return a program with `count` values of different symbolic sizes of three terms, all alive together."""
    kernels, launches = [], []
    for number in range(count):
        held = f'tensor<?xf32, #tiny.dims<["32*M{number}*N{number} + 32*M{number} + 32*N{number}"]>>'
        buffer = f"!region.memref<{held}, [1], 128 : i64, true>"
        kernels.append(f"""
"region.kernel"() ({{
^bb0(%y: {buffer}):
  %0 = "tiny.const"() {{value = 1.0 : f32}} : () -> {held}
  "region.yield"(%0, %y) {{materialize = "gmem"}} : ({held}, {buffer}) -> ()
  omp.terminator
}}) {{sym_name = "one_{number}"}} : () -> ()""")
        launches.append(f"""
  %k{number} = "region.launch"() {{kernel = @one_{number}}} : () -> (() -> {held})
  %v{number} = func.call_indirect %k{number}() : () -> {held}""")
    return "".join(kernels) + "\nfunc.func @main() {" + "".join(launches) + "\n  return\n}\n"


def test_a_formula_of_too_many_terms_is_refused():
    pipeline.parse("region-to-exec").run(text.parse(ones(3)))
    with pytest.raises(TinycError, match="the size of the arena") as caught:
        pipeline.parse("region-to-exec").run(text.parse(ones(90)))
    assert caught.value.name == "InvalidExtent"
    assert "bind some of the symbols" in caught.value.message
