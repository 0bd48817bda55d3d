"""The launch contract of a region.kernel: its buffers, whether it is checked, its symbols and its parallel loop."""

import pytest

from tinyc import text
from tinyc.dialects.launch import LaunchContract, launchables_of
from tinyc.dialects.region.kernel import kernels_of
from tinyc.expr import extents
from tinyc.vocabulary.attributes import tensor_type

X = 'tensor<?x3xf32, #tiny.dims<["M", 3]>>'
INDEX = "tensor<4xi64>"


def kernel(ops: str, inputs: str, result: str, value: str = "%y") -> str:
    """Return a module of one kernel of two inputs, `%a` of type `inputs` and `%i` of indices; `ops` compute `value`."""
    held = [
        f"!region.memref<{tensor}, {strides}, 128 : i64, true>"
        for tensor, strides in ((inputs, "[3, 1]"), (INDEX, "[1]"), (result, "[3, 1]"))
    ]
    return f"""
"region.kernel"() ({{
^bb0(%p: {held[0]}, %q: {held[1]}, %out: {held[2]}):
  %a = "region.read"(%p) : ({held[0]}) -> {inputs}
  %i = "region.read"(%q) : ({held[1]}) -> {INDEX}
  {ops}
  "region.yield"({value}, %out) {{materialize = "gmem"}} : ({result}, {held[2]}) -> ()
  omp.terminator
}}) {{sym_name = "k"}} : () -> ()"""


def contract(source: str) -> LaunchContract:
    module = text.parse(source)
    with module.context:
        assert kernels_of(module).keys() == launchables_of(module).keys() == {"k"}
        return launchables_of(module)["k"].contract()


def test_the_loop_over_the_axes_before_the_innermost_one_is_parallel():
    found = contract(kernel(f'%y = "tiny.neg"(%a) : ({X}) -> {X}', X, X))
    m = extents.symbol("M")
    assert (found.memory_space, found.grid, found.symbols) == ("host", (m, 1, 1), ("M",))
    assert [tensor.shape for tensor in found.tensors] == [(m, 3), (4,), (m, 3)]
    assert not found.is_checked
    assert not found.updates


def test_indices_from_data_are_checked():
    rows = "tensor<4x3xf32>"
    found = contract(kernel(f'%y = "tiny.gather"(%a, %i) {{axis = 0}} : ({X}, {INDEX}) -> {rows}', X, rows))
    assert found.is_checked
    assert found.grid == (4, 1, 1)


@pytest.mark.parametrize(("axis", "updates", "trips"), [(0, "tensor<4x3xf32>", 1), (1, "tensor<5x4xf32>", 5)])
def test_what_walks_the_first_axis_in_order_is_one_turn(axis, updates, trips):
    data = "tensor<5x3xf32>"
    ops = f"""%u = "tiny.const"() {{value = 1.0 : f32}} : () -> {updates}
  %y = "tiny.scatter"(%a, %i, %u) {{axis = {axis}, op = "add"}} : ({data}, {INDEX}, {updates}) -> {data}"""
    found = contract(kernel(ops, data, data))
    assert (found.grid, found.is_checked) == ((trips, 1, 1), True)


@pytest.mark.parametrize(
    ("shape", "trips"),
    [
        ("5", 5),  # the only axis
        ("2x3x7", 6),  # the innermost axis is a loop inside
        ("1x1x7", 7),  # unless nothing is before it
        ("1x4x1", 4),
        ("256x3x7", 256),  # there are enough turns
        ("255x3x7", 765),
    ],
)
def test_the_parallel_loop_runs_over_leading_axes(shape, trips):
    tensor = f"tensor<{shape}xf32>"
    strides = extents.row_major_strides([int(extent) for extent in shape.split("x")])
    held = f"!region.memref<{tensor}, [{', '.join(map(str, strides))}], 128 : i64, true>"
    source = f"""
"region.kernel"() ({{
^bb0(%out: {held}):
  %y = "tiny.const"() {{value = 1.0 : f32}} : () -> {tensor}
  "region.yield"(%y, %out) {{materialize = "gmem"}} : ({tensor}, {held}) -> ()
  omp.terminator
}}) {{sym_name = "k"}} : () -> ()"""
    assert contract(source).grid == (trips, 1, 1)


def test_a_turn_is_a_tile_of_a_reduction_where_the_innermost_axis_is_split():
    symbolic = 'tensor<?xf32, #tiny.dims<["M"]>>'
    columns = 'tensor<3x?xf32, #tiny.dims<[3, "M"]>>'
    held = [
        f'!region.memref<{columns}, ["M", 1], 128 : i64, true>',
        f"!region.memref<{symbolic}, [1], 128 : i64, true>",
    ]
    found = contract(f"""
"region.kernel"() ({{
^bb0(%p: {held[0]}, %out: {held[1]}):
  %a = "region.read"(%p) : ({held[0]}) -> {columns}
  %y = "tiny.reduce"(%a) {{op = "sum", axes = array<i64: 0>}} : ({columns}) -> {symbolic}
  "region.yield"(%y, %out) {{materialize = "gmem"}} : ({symbolic}, {held[1]}) -> ()
  omp.terminator
}}) {{sym_name = "k"}} : () -> ()""")
    assert str(found.grid[0]) == "(M - 1) floordiv 128 + 1"


def test_a_kernel_is_a_function_of_tensors():
    module = text.parse(kernel(f'%y = "tiny.neg"(%a) : ({X}) -> {X}', X, X))
    with module.context:
        function = kernels_of(module)["k"].function_type
        assert [tensor_type(each).rank for each in function.inputs] == [2, 1]
        assert [str(each) for each in function.results] == [str(function.inputs[0])]
