"""The candidate that a `region.kernel` is, and the contraction in it, with its ops, for whoever builds it.

In: a kernel, which stays as it is. Out: a `Candidate`, or a `Contraction`.
"""

from collections.abc import Iterator

from tinyc.analysis.candidate import Candidate, MatrixProduct, ProductOperand, ScatteredUpdates
from tinyc.analysis.epilogue import epilogue_of
from tinyc.analysis.host_names import HostNames
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.local_edges import contraction_pattern_of, local_edges
from tinyc.analysis.patterns.contraction import Contraction, Rejected, detect_contraction, is_summed_product
from tinyc.analysis.product_accesses import (
    exact_elements,
    operand_access,
    operand_source,
    residual_accesses,
    result_accesses,
)
from tinyc.analysis.result_places import result_places
from tinyc.analysis.strided_access import StridedAccess
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.extents import ExtentError
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import arguments, tensor_type
from tinyc.vocabulary.guards import limits_of


def kernel_candidate(kernel: Kernel, names: HostNames) -> Candidate:
    """The facts about a kernel; `names` are `host_names` of its module."""
    known = kernel_loops(kernel.op)
    loops = known if isinstance(known, str) else known.loops
    product = _product(kernel, known, names.get(kernel.name, ()))
    is_product = isinstance(product, MatrixProduct)
    scatter = next((op for op in kernel.body if isinstance(op, tiny.ScatterOp)), None)
    top_k = next((op for op in kernel.body if isinstance(op, tiny.TopkOp)), None)
    return Candidate(
        name=kernel.name,
        where=where(kernel.location),
        outputs=tuple(tensor.shape for tensor in kernel.tensors[len(kernel.inputs) :]),
        product=product if is_product else None,
        no_product="" if is_product else product,
        loops=loops,
        scatter=None if scatter is None else _updates(scatter),
        top_k=None if top_k is None else top_k.row_extents,
        tensors=kernel.tensors,
        pattern=None if isinstance(loops, str) else contraction_pattern_of(loops),
        local_edges=() if isinstance(known, str) else local_edges(known.loops, known.value),
        limits=tuple(limits_of(kernel.guards).items()),
        op=kernel.op,
    )


def contraction_of(kernel: Kernel, loops: KernelLoops | str) -> Contraction | str:
    """The contraction that a kernel of these loops tiles, or why it is not one."""
    if isinstance(loops, str):
        return loops
    reductions = [loops.value(phase) for phase in loops.loops.reductions]
    if len(reductions) != 1 or isinstance(result_places(kernel.op, reductions[0]), str):
        return "it is not one reduction whose result is written element by element"
    reduction = reductions[0].owner
    assert isinstance(reduction, tiny.ReduceOp)  # a phase that reduces
    found = detect_contraction(reduction)
    if isinstance(found, Rejected):
        return f"its reduction is not a contraction: {found.reason}"
    if not found.has_mma_shape:
        return f"no MMA fits its contraction: {found.misfit}"
    if not is_summed_product(reduction):
        return "its products are moved before they are summed"
    return found


def _product(kernel: Kernel, loops: KernelLoops | str, names: tuple[tuple[str, ...], ...]) -> MatrixProduct | str:
    """The matrix product that a kernel is, or why it is not one."""
    if isinstance(loops, str):
        return loops
    found = contraction_of(kernel, loops)
    if isinstance(found, str):
        return found
    roles = found.axis_roles
    try:
        m, n, k, batch = (
            extents.product(found.domain[position] for position in positions)
            for positions in (roles.m, roles.n, roles.k, found.batch_axes)
        )
    except ExtentError as error:
        return f"the product of its extents is not a representable extent: {error}"
    lhs = _operand(kernel, found, 0, names, operand_access(kernel, found, found.lhs, (roles.m, roles.k)))
    rhs = _operand(kernel, found, 1, names, operand_access(kernel, found, found.rhs, (roles.k, roles.n)))
    results = [each.value for each in kernel.yields]
    accumulator = tensor_type(found.reduce.results[0].type).element.accumulator
    epilogue = epilogue_of(found, results)
    residuals = tuple(residual_accesses(kernel, loops, found).values())
    return MatrixProduct(m, n, k, batch, lhs, rhs, accumulator, epilogue, result_accesses(kernel, found), residuals)


def _operand(
    kernel: Kernel,
    contraction: Contraction,
    side: int,
    names: tuple[tuple[str, ...], ...],
    access: StridedAccess | str,
) -> ProductOperand:
    value: ir.Value = contraction.multiply.operands[side]
    buffers: list[ir.Value] = list(kernel.buffers)
    found: dict[str, None] = {}
    for buffer in _buffers_below(value):
        position = buffers.index(buffer)
        found.update(dict.fromkeys(names[position] if position < len(names) else ()))
    source = operand_source(kernel, contraction, side)
    where_from = None if source is None else source[1]
    return ProductOperand(tensor_type(value.type).element, tuple(found), exact_elements(value), access, where_from)


def _buffers_below(value: ir.Value) -> Iterator[ir.Value]:
    """Yield the buffers that `value` is computed from, in the order of its operands."""
    pending, seen = [value.owner], set[ir.OpView]()
    while pending:
        op = pending.pop(0)
        if not isinstance(op, ir.OpView) or op in seen:
            continue
        seen.add(op)
        if isinstance(op, region.ReadOp):
            yield op.buffer
        else:
            pending.extend(operand.owner for operand in op.operands)


def _updates(scatter: tiny.ScatterOp) -> ScatteredUpdates:
    return ScatteredUpdates(tensor_type(scatter.updates.type).shape, arguments(scatter)["op"] == "add")
