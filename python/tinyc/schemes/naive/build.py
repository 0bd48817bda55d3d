"""Scheme `naive_2x2_per_thread`, region → statements: one `gpu.func` for a contraction.

CTA ids give the tile of the output, a loop over k loads a tile of each operand and multiplies them, the epilogue writes
what the region makes of the accumulators.
"""

from typing import TypeVar

from tinyc.analysis.kernel_candidate import contraction_of
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.dialect import GpuTile, acc_type, smem_type
from tinyc.dialects.region.kernel_body import needed_for
from tinyc.dialects.region.to_gpu.function import Frame, Origin, close_body, copy_body, open_function
from tinyc.mlir import arith, gpu, ir, scf
from tinyc.mlir.locations import here
from tinyc.schemes.naive.plan import THREADS, contraction_grid
from tinyc.vocabulary.element_type import ElementType

_Value = TypeVar("_Value")


def build_contraction(origin: Origin) -> None:
    """Write the function of a kernel."""
    grid = contraction_grid(origin.plan, _filled(origin.candidate.product))
    frame = open_function(origin, origin.name, grid, (*THREADS, 1))
    with ir.InsertionPoint(frame.body), here():
        _Builder(origin, frame).write()
        gpu.ReturnOp([])


class _Builder:
    """Writes the statements of one function."""

    def __init__(self, origin: Origin, frame: Frame) -> None:
        self.tile, self.stages = _filled(origin.plan.tile), _filled(origin.plan.stages)
        self.bind, self.guarded_axes = _filled(origin.plan.bind), _filled(origin.plan.predicate_tail)
        self.kernel, self.product, self.frame = origin.kernel, _filled(origin.candidate.product), frame
        contraction = contraction_of(origin.kernel, kernel_loops(origin.kernel.op))
        assert not isinstance(contraction, str)  # the candidate has a product
        self.contraction, self.roles = contraction, contraction.axis_roles

    def write(self) -> None:
        """Emit the statements."""
        bm, bn, bk = self.tile
        ids = {"block.x": gpu.block_id(gpu.Dimension.x), "block.y": gpu.block_id(gpu.Dimension.y)}
        batch = gpu.block_id(gpu.Dimension.z)
        sizes = {size: self.frame.index(size) for size in dict.fromkeys(self.tile)}
        m = arith.muli(ids[self.bind["m.o"]], sizes[bm], loc=here("m"))
        n = arith.muli(ids[self.bind["n.o"]], sizes[bn], loc=here("n"))
        lhs = self._circular_buffer("A", self.product.lhs.element, (bm, bk))
        rhs = self._circular_buffer("B", self.product.rhs.element, (bk, bn))
        acc = acc_type(GpuTile(self.product.accumulator, bm, bn))
        zero = tgpu.ZeroOp(acc, loc=here("acc")).result
        stages = self.frame.index(self.stages)
        loop = scf.ForOp(self.frame.index(0), self.frame.index(self.product.k), sizes[bk], [zero], loc=here("acc"))
        with ir.InsertionPoint(loop.body):
            k = loop.induction_variable
            k.set_location(here("k"))
            loop.inner_iter_args[0].set_location(here("acc"))
            stage = arith.remui(arith.divui(k, sizes[bk]), stages, loc=here("stage"))
            self._load(lhs, stage, batch, (m, k), ("m", "k"))
            self._load(rhs, stage, batch, (k, n), ("k", "n"))
            gpu.barrier()
            result = tgpu.FmaOp(lhs, rhs, stage, loop.inner_iter_args[0], acc, loc=here("acc")).result
            if self.stages == 1:  # the next tiles go where these lie
                gpu.barrier()
            scf.yield_([result])
        self._epilogue(loop.results[0], batch, m, n)

    def _circular_buffer(self, name: str, element: ElementType, shape: tuple[int, int]) -> ir.Value:
        """A circular buffer of `stages` tiles in shared memory."""
        return tgpu.AllocSmemOp(smem_type(GpuTile(element, *shape), self.stages), loc=here(name)).tiles

    def _load(
        self,
        tiles: ir.Value,
        stage: ir.Value,
        batch: ir.Value,
        corner: tuple[ir.Value, ir.Value],
        sides: tuple[str, str],
    ) -> None:
        """Emit the load of a tile of the left operand (sides m, k) or the right one (k, n)."""
        operand = self.contraction.multiply.operands[0 if sides == ("m", "k") else 1]
        axes_of = {"m": self.roles.m, "n": self.roles.n, "k": self.roles.k}
        axes = [_axes(positions) for positions in (*(axes_of[side] for side in sides), self.contraction.batch_axes)]
        statement = tgpu.LoadTileOp(tiles, stage, batch, *corner, *axes, self._guarded(*sides))
        block = statement.body.blocks.append()
        local = copy_body(self.frame, statement, needed_for(self.kernel, [operand]))
        with ir.InsertionPoint(block):
            tgpu.YieldOp(local[operand])
        close_body(statement)

    def _guarded(self, rows: str, columns: str) -> ir.ArrayAttr:
        sides = {"rows": rows, "columns": columns}
        return ir.ArrayAttr.get([ir.StringAttr.get(side) for side, axis in sides.items() if axis in self.guarded_axes])

    def _epilogue(self, accumulators: ir.Value, batch: ir.Value, m: ir.Value, n: ir.Value) -> None:
        """Emit what the region does after the reduction, on the axes of its result."""
        reduced: ir.Value = self.contraction.reduce.results[0]
        yields = self.kernel.yields
        ops = [*needed_for(self.kernel, [each.value for each in yields], given=[reduced]), *yields]
        broadcasts = ir.ArrayAttr.get([ir.StringAttr.get(each.value) for each in self.product.epilogue.inputs])
        guarded = self._guarded("m", "n")
        statement = tgpu.EpilogueOp(
            accumulators, batch, m, n, *map(_axes, self.contraction.result_sides), guarded, broadcasts
        )
        block = statement.body.blocks.append(reduced.type, arg_locs=[reduced.location])
        copy_body(self.frame, statement, ops, {reduced: block.arguments[0]})
        close_body(statement)


def _axes(positions: tuple[int, ...]) -> ir.DenseI64ArrayAttr:
    return ir.DenseI64ArrayAttr.get(positions)


def _filled(value: _Value | None) -> _Value:
    """A field that every complete plan of the scheme has."""
    assert value is not None
    return value
