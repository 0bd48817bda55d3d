"""Where the elements of a matrix product's operands and results are: at regular distances in a buffer, or not.

In: a kernel and its contraction. Out: a `StridedAccess`, whose sides are those of a tile, or why there is none.
"""

from collections.abc import Callable, Sequence

from tinyc.analysis.access import Access
from tinyc.analysis.elementwise_reads import elementwise_reads
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.patterns.contraction import Contraction, is_widening
from tinyc.analysis.result_places import result_places
from tinyc.analysis.strided_access import BufferAccess, StridedAccess, strided_access
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Index, Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name
from tinyc.vocabulary.element_type import ElementType

_Positions = Sequence[int]


def exact_elements(
    value: ir.Value, is_computed: Callable[[ir.Value], bool] = lambda value: True
) -> tuple[ElementType, ...]:
    """The element types that hold every element of `value`: its own, then those that it is widened from.

    What the kernel does not compute it reads as it is.
    """
    found = {tensor_type(value.type).element: None}
    while is_computed(value):
        op = producer_of(value)
        if not (isinstance(op, tiny.MovementOp) or (isinstance(op, tiny.CastOp) and is_widening(op))):
            break
        value = op.operands[0]
        found[tensor_type(value.type).element] = None
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


def operand_source(kernel: Kernel, contraction: Contraction, side: int) -> tuple[ir.Value, StridedAccess] | None:
    """The one tensor of which each element of operand 0 or 1 is computed from an element, and where that is.

    Others, such as scales, have no element for each; None where several have, or none. Of a single row or column, for
    which all may have, it is the first.
    """
    roles, value = contraction.axis_roles, contraction.multiply.operands[side]
    rows, columns = (roles.m, roles.k) if side == 0 else (roles.k, roles.n)
    found: list[tuple[ir.Value, StridedAccess]] = []
    for source, access in elementwise_reads(value).items():
        op = source.owner
        if not isinstance(op, region.ReadOp) or access.guards:
            return None
        sides = (rows, columns, contraction.batch_axes)
        strided = _strided(kernel, op.buffer, access.map, contraction.domain, sides)
        if isinstance(strided, str):
            return None
        if all(run.stride != 0 for run in (*strided.rows, *strided.columns)):
            found.append((source, strided))
    of_one_line = all(not (access.rows and access.columns) for _, access in found)
    return found[0] if len(found) == 1 or (found and of_one_line) else None


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
    """The access to a buffer of a kernel at `index`, a function of the axes of `domain`."""
    held, buffers = region.held_tensor(buffer.type), list[ir.Value](kernel.buffers)
    return strided_access(BufferAccess(buffers.index(buffer), held.element, held.shape, index), domain, sides)
