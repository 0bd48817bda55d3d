"""The size of the arena is a formula that can be read back, or the program is refused."""

import pytest

from tinyc import pipeline, text
from tinyc.diagnostics import TinycError


def ones(count: int) -> str:
    """Return a program with `count` values of different symbolic sizes, all alive together."""
    kernels, launches = [], []
    for number in range(count):
        held = f'tensor<?xf32, #tiny.dims<["number_of_elements_{number}"]>>'
        buffer = f"!region.memref<{held}, [1], 64 : i64, true>"
        kernels.append(f"""
"region.kernel"() ({{
^bb0(%y: {buffer}):
  %0 = "tiny.const"() {{value = 1.0 : f32}} : () -> {held}
  "region.yield"(%0, %y) {{materialize = "gmem"}} : ({held}, {buffer}) -> ()
}}) {{sym_name = "one_{number}"}} : () -> ()""")
        launches.append(f"""
  %k{number} = "region.launch"() {{kernel = @one_{number}}} : () -> (() -> {held})
  %v{number} = func.call_indirect %k{number}() : () -> {held}""")
    return "".join(kernels) + "\nfunc.func @main() {" + "".join(launches) + "\n  return\n}\n"


def test_a_formula_that_is_too_long_to_be_read_back_is_refused():
    pipeline.parse("region-to-exec").run(text.parse(ones(3)))
    with pytest.raises(
        TinycError, match="the size of the arena: .* is too long .*; bind some of the symbols"
    ) as caught:
        pipeline.parse("region-to-exec").run(text.parse(ones(60)))
    assert caught.value.name == "InvalidExtent"
