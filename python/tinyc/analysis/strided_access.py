"""Where the elements of a matrix product's operands and results are: at regular distances in a buffer, or not.

In: a kernel and its contraction. Out: a `StridedAccess`, whose sides are those of a tile, or why there is none. What
copies whole tiles (TMA, cp.async, vectors) needs one; what has none is computed element by element.
"""

from collections.abc import Sequence

from tinyc.analysis.access import Access
from tinyc.analysis.candidate import AxisRun, Side, StridedAccess
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.patterns.contraction import Contraction, is_widening
from tinyc.analysis.result_places import result_places
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis, Index, Shape
from tinyc.expr.extents import Dim, ExtentError
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name
from tinyc.vocabulary.element_type import ElementType

_Positions = Sequence[int]


def exact_elements(value: ir.Value) -> tuple[ElementType, ...]:
    """The element types that hold every element of `value`: its own, then those that it is widened from."""
    found = {tensor_type(value.type).element: None}
    op = producer_of(value)
    while isinstance(op, tiny.MovementOp) or (isinstance(op, tiny.CastOp) and is_widening(op)):
        found[tensor_type(op.operands[0].type).element] = None
        op = producer_of(op.operands[0])
    return tuple(found)


def operand_access(
    kernel: Kernel, contraction: Contraction, access: Access, sides: tuple[_Positions, _Positions]
) -> StridedAccess | str:
    """Where the elements of an operand are, `access` being how it is read; `sides` are the axes of rows and columns."""
    op = producer_of(access.source)
    if op is None or isinstance(op, tiny.MovementOp):
        return "its movements are not a regular access"
    if not isinstance(op, region.ReadOp):
        return f"its elements are computed: {vocabulary_name(op)}"
    if access.guards:
        return "it is padded"
    return _strided(kernel, op.buffer, access.map, contraction.domain, (*sides, contraction.batch_axes))


def result_accesses(kernel: Kernel, contraction: Contraction) -> tuple[StridedAccess | str, ...]:
    """For each output of a kernel, where it has what becomes of the sum."""
    reduced: ir.Value = contraction.reduce.results[0]
    places = result_places(kernel.op, reduced)
    if isinstance(places, str):
        return tuple(places for _ in kernel.yields)
    domain = tensor_type(reduced.type).shape
    rows, columns, batch = contraction.result_sides
    return tuple(
        _strided(kernel, each.buffer, places[each.value], domain, (rows, columns, batch))
        if each.value in places
        else "it is not made of the sum"
        for each in kernel.yields
    )


def residual_accesses(kernel: Kernel, loops: KernelLoops, contraction: Contraction) -> dict[ir.Value, StridedAccess]:
    """For each tensor that is read beside the sum, with an element for each of its elements, where that element is.

    `loops` are those of the kernel.
    """
    reduced: ir.Value = contraction.reduce.results[0]
    domain = tensor_type(reduced.type).shape
    beside: dict[ir.Value, bool] = {}
    for phase in loops.loops.phases:
        own = {read.index for read in phase.block.accesses if loops.tensor(read.tensor) == reduced}
        for read in phase.block.accesses:
            value = loops.tensor(read.tensor)
            is_beside = {read.index} == own and not read.guards and tensor_type(value.type).shape == domain
            beside[value] = is_beside and beside.get(value, True)
    found: dict[ir.Value, StridedAccess] = {}
    for value in (each for each, is_beside in beside.items() if is_beside):
        if isinstance(value.owner, region.ReadOp):
            rows, columns, batch = contraction.result_sides
            access = _strided(kernel, value.owner.buffer, axes.identity(domain), domain, (rows, columns, batch))
            if not isinstance(access, str):
                found[value] = access
    return found


def _strided(
    kernel: Kernel, buffer: ir.Value, index: Index, domain: Shape, sides: tuple[_Positions, _Positions, _Positions]
) -> StridedAccess | str:
    """The access to a buffer at `index`, a function of the axes of `domain`."""
    held = region.held_tensor(buffer.type)
    strides: dict[int, Dim] = {}
    offset: Dim = 0
    try:
        for row, stride in zip(index, extents.row_major_strides(held.shape), strict=True):
            offset = offset + row.constant * stride
            for atom, coefficient in row.terms:
                if not isinstance(atom, Axis):
                    return f"its index {row} has a floor division"
                if coefficient < 0:
                    return f"it is read backwards ({row})"
                strides[atom.position] = strides.get(atom.position, 0) + stride * coefficient
        rows, columns, batch = (_side(positions, domain, strides) for positions in sides)
    except ExtentError as error:
        return f"its strides are not representable extents: {error}"
    buffers: list[ir.Value] = list(kernel.buffers)
    return StridedAccess(buffers.index(buffer), held.element, offset, rows, columns, batch)


def _side(positions: _Positions, domain: Shape, strides: dict[int, Dim]) -> Side:
    """The runs of axes that are taken together."""
    runs: list[AxisRun] = []
    for position in positions:
        run = AxisRun(domain[position], strides.get(position, 0))
        if run.extent == 1:
            continue
        if runs and runs[-1].stride == run.extent * run.stride:
            run = AxisRun(runs.pop().extent * run.extent, run.stride)
        runs.append(run)
    return tuple(runs)
