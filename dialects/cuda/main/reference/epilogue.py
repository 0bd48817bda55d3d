"""`tgpu.epilogue` and the matrix product that it finishes, element by element."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import accumulator_tile
from tinyc.dialects.gpu.expand.accumulator import multiply_add
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.expand.place import sides_of, store_results
from tinyc.dialects.gpu.statements import EpilogueOp, FmaOp, LoadTileOp
from tinyc.mlir import ir, scf
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import tensor_type

_Op = TypeVar("_Op", FmaOp, LoadTileOp)


def compute(elements: FlatElements, op: EpilogueOp) -> None:
    """Compute each element of the outputs from one accumulator.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one load.
    """
    fma = _one(op, list(_products(op.accumulator)), "products in one accumulator")
    loads = [_one(op, _loads(tiles), "loads of one operand") for tiles in (fma.lhs, fma.rhs)]
    factors, (lhs, rhs), own = [load.loaded for load in loads], map(sides_of, loads), sides_of(op)
    shape, summed = tensor_type(factors[0].type).shape, lhs["columns"]
    kept = ((lhs["rows"], own["rows"]), (rhs["columns"], own["columns"]), (lhs["batches"], own["batches"]))
    result, accumulator = tensor_type(op.accumulated.type), accumulator_tile(op.accumulator.type).element
    with elements.loops(result.shape) as index:
        joint = [elements.index(0) for _ in shape]
        for axes, own_axes in kept:
            for axis, own_axis in zip(axes, own_axes, strict=True):
                joint[axis] = index[own_axis]

        def step(reduction: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            at = tuple(reduction[summed.index(axis)] if axis in summed else joint[axis] for axis in range(len(shape)))
            left, right = (
                scalars.cast(elements.at(factor, at), tensor_type(factor.type).element, accumulator)
                for factor in factors
            )
            return [multiply_add(accumulator, left, right, so_far[0])]

        (total,) = elements.carried([shape[axis] for axis in summed], [scalars.element_constant(accumulator, 0)], step)
        finished = scalars.cast(total, accumulator, result.element)
        elements.reduced[op.accumulated] = lambda _: finished
        store_results(elements, op, index)


def _products(accumulator: ir.Value) -> Iterator[FmaOp]:
    """Yield the products that are added up in an accumulator, those of loops too."""
    producer = accumulator.owner
    if isinstance(producer, FmaOp):
        yield producer
        yield from _products(producer.accumulator)
    elif isinstance(producer, scf.ForOp) and isinstance(accumulator, ir.OpResult):
        number, body = accumulator.result_number, producer.body.operations
        yield from _products(body[len(body) - 1].operands[number])
        yield from _products(producer.initArgs[number])


def _loads(tiles: ir.Value) -> list[LoadTileOp]:
    """The statements that fill a circular buffer."""
    return [use.owner for use in tiles.uses if isinstance(use.owner, LoadTileOp)]


def _one(op: EpilogueOp, found: Sequence[_Op], what: str) -> _Op:
    if len(found) == 1:
        return found[0]
    raise TinycError(
        "InvalidIr",
        f"'tgpu.epilogue' has {len(found)} {what}; the CUDA check takes one 'tgpu.fma', with one 'tgpu.load_tile' of "
        "each operand; print the kernel without its host: remove the function that launches it from the module",
        where(op.location),
    )
