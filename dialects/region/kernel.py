"""A view of one `region.kernel`: its buffers, what it computes and yields, and how its loops are launched.

The loops that --region-to-loops makes of a kernel and the launch contract that --region-to-exec writes agree because
both read it here: a status slot where indices come from data, the symbols of its extents, and the trip count of the
parallel outer loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.analysis.tiled_reduction import tiled_reduction
from tinyc.dialects.launch import Launchable, LaunchContract, MemorySpace
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of
from tinyc.vocabulary.attributes import arguments, tensor_type, to_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.run_key import RUN_KEY
from tinyc.vocabulary.types import TensorType, symbols_of

#: Accumulators that the loops of a reduction keep at a time: neighbours along the innermost output axis, so that the
#: loop over them is the innermost one and vectorises without reordering any sum.
TILE = 128
#: The turns of the parallel outer loop that are enough: where leading axes have as many, the rest are loops inside.
_ENOUGH_TURNS = 256


@dataclass(frozen=True)
class Kernel(Launchable):
    """A `region.kernel`: inputs first, then an output for each yield; between them pure values."""

    op: region.KernelOp

    @property
    def name(self) -> str:
        """The symbol by which the host function launches it."""
        return self.op.sym_name.value

    @property
    def location(self) -> ir.Location:
        """Where it comes from."""
        return self.op.location

    @property
    def plan(self) -> ir.Attribute | None:
        """Its plan as it is written (`plan.attribute` reads it), or None."""
        return self.op.attributes.get("plan", None)

    @property
    def block(self) -> ir.Block:
        """Its one block."""
        return self.op.regions[0].blocks[0]

    @property
    def bodies(self) -> list[ir.Block]:
        """The blocks of Tiny ops: its one block."""
        return [self.block]

    @property
    def body(self) -> list[ir.OpView]:
        """The ops of the body, without the terminator."""
        return body_of(self.op)

    @property
    def buffers(self) -> Sequence[ir.BlockArgument]:
        """The block arguments: the inputs, then the outputs."""
        return self.block.arguments

    @property
    def yields(self) -> list[region.YieldOp]:
        """The yields, one for each output, in the order of the outputs."""
        return [op for op in self.block.operations if isinstance(op, region.YieldOp)]

    @property
    def inputs(self) -> list[ir.BlockArgument]:
        """The buffers that are read: all but the last ones."""
        buffers = list(self.buffers)
        return buffers[: len(buffers) - len(self.yields)]

    @property
    def outputs(self) -> list[ir.BlockArgument]:
        """The buffers that are written."""
        return list(self.buffers)[len(self.inputs) :]

    @property
    def tensors(self) -> tuple[TensorType, ...]:
        """The tensors that the buffers hold."""
        return tuple(region.held_tensor(buffer.type) for buffer in self.buffers)

    @property
    def function_type(self) -> ir.FunctionType:
        """The kernel as a function of tensors: inputs to outputs."""
        tensors = [to_type(tensor) for tensor in self.tensors]
        inputs = len(self.inputs)
        return ir.FunctionType.get(tensors[:inputs], tensors[inputs:])

    @property
    def is_checked(self) -> bool:
        """Whether indices come from data, so that it takes a status slot."""
        return any(isinstance(op, region.CheckedOp) for op in self.block.operations)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that it needs: those of its buffers, those that only its body has, the key of random numbers."""
        inner = [tensor_type(result.type) for op in self.body for result in op.results]
        cuts = [arguments(op) for op in self.body if isinstance(op, tiny.ShrinkOp)]
        bounds = [TensorType(ElementType.I64, (*cut["lo"], *cut["hi"])) for cut in cuts]
        is_random = any(isinstance(op, tiny.RandOp) for op in self.body)
        return (*symbols_of([*self.tensors, *inner, *bounds]), *([RUN_KEY] if is_random else []))

    @property
    def scan(self) -> Scan | None:
        """The cumulative reduction that its one output reads element by element, if it is one."""
        reduction = tiled_reduction(self.block)
        found = None if reduction is None else detect_scan(reduction)
        return found if isinstance(found, Scan) else None

    @property
    def ordered_axis(self) -> int | None:
        """The axis of the outputs that is walked in order, if there is one."""
        ordered = next((op for op in self.block.operations if isinstance(op, region.OrderedOp)), None)
        scan = self.scan
        return ordered.axis.value if ordered else scan.axis if scan else None

    @property
    def parallel_extents(self) -> tuple[Dim, ...]:
        """The extents of the leading axes of all outputs that the parallel outer loop runs over, row-major.

        These are axes before the one that is walked in order, or before the innermost one, which is a loop inside for
        its speed, unless there is nothing before it.
        """
        shapes = [region.held_tensor(output.type).shape for output in self.outputs]
        axis = self.ordered_axis
        leading = [_outer(shape) if axis is None else shape[:axis] for shape in shapes]
        found: list[Dim] = []
        for same in zip(*leading, strict=False):
            if len(set(same)) > 1 or extents.is_nonnegative(extents.product(found) - _ENOUGH_TURNS):
                break
            found.append(same[0])
        return tuple(found)

    @property
    def splits_tiles(self) -> bool:
        """Whether a turn of the parallel outer loop is a tile of accumulators: it runs over the innermost axis, too."""
        rank = region.held_tensor(self.outputs[0].type).rank
        is_split = 0 < rank == len(self.parallel_extents)
        return is_split and self.scan is None and tiled_reduction(self.block) is not None

    @property
    def turns(self) -> Dim:
        """The trip count of the parallel outer loop."""
        turns = extents.product(self.parallel_extents)
        return extents.floordiv(turns + (TILE - 1), TILE) if self.splits_tiles else turns

    @property
    def memory_space(self) -> MemorySpace:
        """The host's: what a region becomes without a GPU are loops."""
        return "host"

    def contract(self) -> LaunchContract:
        """The launch contract of its loops, which take the range of the parallel one besides."""
        grid = (self.turns, 1, 1)
        return LaunchContract(self.name, "host", grid, (1, 1, 1), self.tensors, self.is_checked, self.symbols)


def _outer(shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The axes before the innermost one; all of them where it is the only one that has elements beside each other."""
    return shape if all(extent == 1 for extent in shape[:-1]) else shape[:-1]


def kernels_of(module: ir.Module) -> dict[str, Kernel]:
    """The kernels of a module by name."""
    found = [Kernel(op) for op in module.body.operations if isinstance(op, region.KernelOp)]
    return {kernel.name: kernel for kernel in found}
