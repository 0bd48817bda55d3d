"""Where an element of a value reads the inputs: addresses as they are, before code is emitted."""

import contextlib

from tinyc.codegen.element_reads import element_reads
from tinyc.codegen.elements import Elements
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.registry import context
from tinyc.mlir import func, ir

X = "!region.memref<tensor<6x4xf32>, [4, 1], 128 : i64, true>"
Y = "!region.memref<tensor<24xf32>, [1], 128 : i64, true>"


@contextlib.contextmanager
def elements_of(body, x=X, y=Y):
    """Give a kernel's view, and the elements of its values in a function with an index for each axis of the output."""
    source = (
        f'"region.kernel"() ({{\n^bb0(%x: {x}, %y: {y}):\n{body}\n  omp.terminator\n}}) {{sym_name = "k"}} : () -> ()'
    )
    with context(), ir.Location.unknown():
        module = ir.Module.parse(source)  # the operations live no longer than it
        (kernel,) = kernels_of(module).values()
        shape = kernel.tensors[-1].shape
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", ([ir.IndexType.get()] * len(shape), []))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            elements = Elements({}, {}, None)
            index = tuple(block.arguments)
            for value, extent in zip(index, shape, strict=True):
                elements.counters.counter(value, extent)
            yield kernel, elements, index
            assert len(block.operations) == 0


def steps(kernel: Kernel, elements: Elements, index):
    """The step of each read along each axis."""
    found = element_reads(elements, kernel.yields[0].value, index)
    return [[read.step(elements, counter) for counter in index] for read in found]


def test_a_merged_row_is_read_contiguously():
    body = f"""
  %0 = "region.read"(%x) : ({X}) -> tensor<6x4xf32>
  %1 = "tiny.reshape"(%0) : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = "tiny.neg"(%1) : (tensor<24xf32>) -> tensor<24xf32>
  %3 = "tiny.add"(%1, %2) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  "region.yield"(%3, %y) {{materialize = "gmem"}} : (tensor<24xf32>, {Y}) -> ()"""
    with elements_of(body) as (kernel, elements, index):
        assert steps(kernel, elements, index) == [[1]]
        (read,) = element_reads(elements, kernel.yields[0].value, index)
        assert read.buffer == kernel.buffers[0]


def test_a_transposed_read_steps_by_rows_and_a_broadcast_one_not_at_all():
    z = "!region.memref<tensor<4x6xf32>, [6, 1], 128 : i64, true>"
    body = f"""
  %0 = "region.read"(%x) : ({X}) -> tensor<6x4xf32>
  %1 = "tiny.permute"(%0) {{perm = array<i64: 1, 0>}} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %2 = "tiny.shrink"(%0) {{lo = [0, 0], hi = [1, 4], step = array<i64: 1, 1>}} : (tensor<6x4xf32>) -> tensor<1x4xf32>
  %3 = "tiny.reshape"(%2) : (tensor<1x4xf32>) -> tensor<4xf32>
  %4 = "tiny.expand"(%3) {{broadcast_dimensions = array<i64: 0>}} : (tensor<4xf32>) -> tensor<4x6xf32>
  %5 = "tiny.add"(%1, %4) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  "region.yield"(%5, %y) {{materialize = "gmem"}} : (tensor<4x6xf32>, {z}) -> ()"""
    with elements_of(body, y=z) as (kernel, elements, index):
        assert sorted(steps(kernel, elements, index)) == [[1, 0], [1, 4]]


def test_what_a_guard_lets_pass_is_not_known_along_its_axis():
    z = "!region.memref<tensor<6x6xf32>, [6, 1], 128 : i64, true>"
    body = f"""
  %0 = "region.read"(%x) : ({X}) -> tensor<6x4xf32>
  %1 = "tiny.pad"(%0) {{lo = array<i64: 0, 1>, hi = array<i64: 0, 1>, value = 0.0 : f32}}
    : (tensor<6x4xf32>) -> tensor<6x6xf32>
  "region.yield"(%1, %y) {{materialize = "gmem"}} : (tensor<6x6xf32>, {z}) -> ()"""
    with elements_of(body, y=z) as (kernel, elements, index):
        assert steps(kernel, elements, index) == [[4, None]]


def test_where_data_tell_the_address_it_is_not_known():
    x = "!region.memref<tensor<3xi32>, [1], 128 : i64, true>"
    y = "!region.memref<tensor<3xi32>, [1], 128 : i64, true>"
    body = f"""
  %0 = "region.read"(%x) : ({x}) -> tensor<3xi32>
  %1 = "tiny.gather"(%0, %0) {{axis = 0 : i64}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  "region.yield"(%1, %y) {{materialize = "gmem"}} : (tensor<3xi32>, {y}) -> ()"""
    with elements_of(body, x, y) as (kernel, elements, index):
        assert sorted(steps(kernel, elements, index), key=str) == [[1], [None]]
