"""The scheme `naive_2x2_per_thread`: a matrix product over tiles in shared memory, the sums in registers.

In: a `region.kernel` with a contraction, and a complete plan. Out: one `gpu.func`: block ids give the tile of the
output, a loop over k loads a tile of each operand and multiplies them, the epilogue writes what the region makes of
the sums. Convolutions and batched products differ in nothing but what the bodies of the statements read.
"""

from typing import Any, TypeVar

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.codegen.elements import accumulator_element
from tinyc.dialects.gpu import ops as gpu_ops
from tinyc.dialects.region.to_gpu_function import (
    Frame,
    Origin,
    close_body,
    copy_body,
    needed_for,
    open_function,
)
from tinyc.dialects.region.verify import yields_of
from tinyc.dialects.tiny.attributes import to_type
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.plan.fields import Plan
from tinyc.plan.validate_tile import BLOCK
from tinyc.plan.workload import Product

_Value = TypeVar("_Value")


def build(origin: Origin, name: str, product: Product, plan: Plan) -> None:
    """Write the function `name`."""
    builder = _Builder(origin, product, plan)
    frame = open_function(origin, name, builder.grid(), (*BLOCK, 1))
    with ir.InsertionPoint(frame.function.entry_block):
        builder.body(frame)
        gpu.ReturnOp([])


class _Builder:
    def __init__(self, origin: Origin, product: Product, plan: Plan) -> None:
        self.tile, self.stages = _filled(plan.tile), _filled(plan.stages)
        self.bind, self.guarded = _filled(plan.bind), _filled(plan.predicate_tail)
        self.kernel, self.product = origin.kernel, product
        self.contraction = product.contraction
        self.roles = product.contraction.axis_roles
        self.batches = tuple(sorted((*self.roles.batch, *self.roles.broadcast)))

    def grid(self) -> list[Dim]:
        """Return a block for each tile of the output, batches along z."""
        tiles = {
            "m.o": extents.ceildiv(self.product.m, self.tile[0]),
            "n.o": extents.ceildiv(self.product.n, self.tile[1]),
        }
        along = {block: tiles[axis] for axis, block in self._bound()}
        return [along["block.x"], along["block.y"], self.product.batch]

    def _bound(self) -> list[tuple[str, str]]:
        return [(axis, self.bind[axis]) for axis in ("m.o", "n.o")]

    def body(self, frame: Frame) -> None:
        """Emit the statements."""
        bm, bn, bk = self.tile
        ids = {"block.x": gpu.block_id(gpu.Dimension.x), "block.y": gpu.block_id(gpu.Dimension.y)}
        batch = gpu.block_id(gpu.Dimension.z)
        blocks = {axis: ids[block] for axis, block in self._bound()}
        sizes = {size: frame.index(size) for size in dict.fromkeys(self.tile)}
        m, n = arith.muli(blocks["m.o"], sizes[bm]), arith.muli(blocks["n.o"], sizes[bn])
        lhs = self._ring(self.product.lhs.element, (bm, bk))
        rhs = self._ring(self.product.rhs.element, (bk, bn))
        sums = to_type(TensorType(accumulator_element(self.contraction.reduce), (bm, bn)))
        acc = gpu_ops.AccType.get(ir.TypeAttr.get(sums))
        zero = gpu_ops.ZeroOp(acc).sums
        stages = frame.index(self.stages)
        loop = scf.ForOp(frame.index(0), frame.index(self.product.k), sizes[bk], [zero])
        with ir.InsertionPoint(loop.body):
            k = loop.induction_variable
            slot = arith.remui(arith.divui(k, sizes[bk]), stages)
            self._load(frame, lhs, slot, batch, (m, k), ("m", "k"))
            self._load(frame, rhs, slot, batch, (k, n), ("k", "n"))
            gpu.barrier()
            result = gpu_ops.FmaOp(lhs, rhs, slot, loop.inner_iter_args[0], acc).result
            if self.stages == 1:  # the next tiles go where these lie
                gpu.barrier()
            scf.yield_([result])
        self._epilogue(frame, loop.results[0], batch, m, n)

    def _ring(self, element: str, shape: tuple[int, int]) -> Any:
        tile = ir.TypeAttr.get(to_type(TensorType(element, shape)))
        stages = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.stages)
        return gpu_ops.AllocSmemOp(gpu_ops.SmemType.get(tile, stages)).tiles

    def _load(
        self, frame: Frame, tiles: Any, slot: Any, batch: Any, corner: tuple[Any, Any], sides: tuple[str, str]
    ) -> None:
        """Emit the load of a tile of the left operand (sides m, k) or the right one (k, n)."""
        operand = self.contraction.multiply.operands[0 if sides == ("m", "k") else 1]
        rows, columns = (getattr(self.roles, side) for side in sides)
        statement = gpu_ops.LoadTileOp(
            tiles, slot, batch, *corner, *map(_axes, (rows, columns, self.batches)), self._guarded(*sides)
        )
        block = statement.operation.regions[0].blocks.append()
        local = copy_body(frame, statement, needed_for(self.kernel, [operand]))
        with ir.InsertionPoint(block):
            gpu_ops.YieldOp(local[operand])
        close_body(statement)

    def _guarded(self, rows: str, columns: str) -> Any:
        sides = {"rows": rows, "columns": columns}
        return ir.ArrayAttr.get([ir.StringAttr.get(side) for side, axis in sides.items() if axis in self.guarded])

    def _epilogue(self, frame: Frame, sums: Any, batch: Any, m: Any, n: Any) -> None:
        """Emit what the region does after the sum, on the axes of the sum."""
        summed = self.contraction.reduce.results[0]
        kept = [axis for axis in range(len(self.contraction.domain)) if axis not in self.roles.k]
        sides = [tuple(kept.index(axis) for axis in axes) for axes in (self.roles.m, self.roles.n, self.batches)]
        yields = yields_of(self.kernel)
        values = [yielding.operation.operands[0] for yielding in yields]
        ops = [*needed_for(self.kernel, values, given=[summed]), *yields]
        kinds = [ir.StringAttr.get(each.kind) for each in self.product.inputs]
        statement = gpu_ops.EpilogueOp(
            sums, batch, m, n, *map(_axes, sides), self._guarded("m", "n"), ir.ArrayAttr.get(kinds)
        )
        block = statement.operation.regions[0].blocks.append(summed.type)
        copy_body(frame, statement, ops, {summed: block.arguments[0]})
        close_body(statement)


def _axes(positions: tuple[int, ...]) -> Any:
    return ir.DenseI64ArrayAttr.get(positions)


def _filled(value: _Value | None) -> _Value:
    """Return the value of a field that every complete plan of the scheme has."""
    assert value is not None
    return value
