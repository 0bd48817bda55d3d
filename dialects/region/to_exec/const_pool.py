"""The ConstPool of a host function: which launches run once, and where what is kept between runs lies.

In: a host function and the kernels that it may launch. Out: the launches that need weights and constants only, and an
offset for each buffer of the pool.
"""

from collections.abc import Mapping, Sequence

from tinyc.analysis.graphs import body_block, input_names, weight_flags
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.launch import Launchable
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import func, ir
from tinyc.vocabulary.alignment import aligned_size
from tinyc.vocabulary.attributes import tensor_type


def require_static_weights(function: func.FuncOp) -> None:
    """Check that the extents of all weights are numbers.

    Raises:
        TinycError: `InvalidExtent`.
    """
    errors: list[TinycError] = []
    arguments = body_block(function).arguments
    for name, argument, is_weight in zip(input_names(function), arguments, weight_flags(function), strict=True):
        tensor = tensor_type(argument.type)
        if is_weight and not tensor.is_static:
            message = (
                f"'{name}' is declared a weight, and has symbolic extents, {tensor}; bind them, or leave it an input"
            )
            errors.append(TinycError("InvalidExtent", message, Where(node=name)))
    if errors:
        raise TinycError.several(errors)


def prepared_calls(function: func.FuncOp, launchables: Mapping[str, Launchable]) -> list[func.CallIndirectOp]:
    """The calls of kernels whose operands are weights, constants and what such calls give: they run once.

    A kernel that depends on the run, by an extent, the key of random numbers or the check of an index, runs each time,
    and so does one that gives a result of the function.
    """
    return kept_between_runs(function, launchables)[1]


def kept_between_runs(
    function: func.FuncOp, launchables: Mapping[str, Launchable]
) -> tuple[set[ir.Value], list[func.CallIndirectOp]]:
    """The values of a function that are the same in all runs, and the calls (`prepared_calls`) that make some."""
    block = body_block(function)
    flags = weight_flags(function)
    kept: set[ir.Value] = {argument for argument, is_weight in zip(block.arguments, flags, strict=True) if is_weight}
    *_, terminator = block.operations
    returned = set(map(_below_reshapes, terminator.operands))
    found: list[func.CallIndirectOp] = []
    for op in block.operations:
        if isinstance(op, tiny.ConstOp):  # a host function has no others
            kept.add(op.output)
        elif isinstance(op, tiny.ReshapeOp):
            kept.update([op.output] if op.operand in kept else [])
        elif isinstance(op, func.CallIndirectOp):
            operands = list(op.callee_operands)
            is_whole = bool(operands) and all(each in kept for each in operands)
            if is_whole and not returned & set(op.results) and _is_fixed(op, launchables):
                kept.update(op.results)
                found.append(op)
    return kept, found


def _below_reshapes(value: ir.Value) -> ir.Value:
    while isinstance(value.owner, tiny.ReshapeOp):
        value = value.owner.operand
    return value


def _is_fixed(call: func.CallIndirectOp, launchables: Mapping[str, Launchable]) -> bool:
    """Whether a launch is the same in every run."""
    launch = call.callee.owner
    known = launchables.get(launch.kernel.value) if isinstance(launch, region.LaunchOp) else None
    if known is None:
        return False
    contract = known.contract()
    are_static = all(tensor_type(result.type).is_static for result in call.results)
    return are_static and not contract.symbols and not contract.is_checked


def pool_offsets(sizes_bytes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets one behind the other, each aligned as those into the arena, and the size of the pool."""
    offsets: list[int] = []
    end = 0
    for size in sizes_bytes:
        offsets.append(end)
        end += aligned_size(size)
    return offsets, end
