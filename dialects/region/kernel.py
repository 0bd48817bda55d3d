"""A view of one `region.kernel`: its buffers, what it computes and yields, and how its loops are launched.

The loops that --region-to-loops makes of a kernel and the launch contract that --region-to-exec writes agree because
both read it here: a status slot where indices come from data, the symbols of its extents, and its loop nest
(`analysis.loop_nest`), of which the launch takes the trip count of the parallel outer loop.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.in_place import in_place_pairs
from tinyc.analysis.loop_nest import LoopNest, loop_nest
from tinyc.dialects.launch import Launchable, LaunchContract, MemorySpace
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.assumption import Assumption
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of
from tinyc.vocabulary.attributes import arguments, tensor_type, to_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.guards import guards_of
from tinyc.vocabulary.run_key import RUN_KEY
from tinyc.vocabulary.types import TensorType, symbols_of


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
    def sizes(self) -> dict[str, int]:
        """The sizes at which it is an alternative of another kernel; none where it is not."""
        attributes = self.op.attributes
        return region.sizes_of_attribute(attributes[region.SIZES]) if region.SIZES in attributes else {}

    @property
    def guards(self) -> tuple[Assumption, ...]:
        """The relations between extents at which it is launched as an alternative; none where no relation decides."""
        return guards_of(self.op.attributes.get(region.SIZE_GUARDS, None), region.SIZE_GUARDS)

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
    def written(self) -> dict[ir.Value, list[ir.Value]]:
        """The buffers that each value is written to."""
        found: dict[ir.Value, list[ir.Value]] = {}
        for each in self.yields:
            found.setdefault(each.value, []).append(each.buffer)
        return found

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
    def in_place(self) -> tuple[tuple[int, int], ...]:
        """The pairs of buffers that may be one memory: an operand, and the result that takes its place."""
        return self._in_place

    @functools.cached_property
    def _in_place(self) -> tuple[tuple[int, int], ...]:
        return in_place_pairs(self.op)

    @functools.cached_property
    def nest(self) -> LoopNest:
        """The loops that --region-to-loops makes of it."""
        return loop_nest(self.op)

    @property
    def memory_space(self) -> MemorySpace:
        """The host's: what a region becomes without a GPU are loops."""
        return "host"

    @property
    def workspaces(self) -> tuple[TensorType, ...]:
        """Memory of its own that a launch needs, behind the buffers."""
        return self.nest.workspaces if isinstance(self.nest, CpuProduct | CpuAttention) else ()

    def contract(self) -> LaunchContract:
        """The launch contract of its loops, which take the range of the parallel one besides."""
        grid = (self.nest.turns, 1, 1)
        return LaunchContract(
            self.name,
            "host",
            grid,
            (1, 1, 1),
            self.tensors,
            self.is_checked,
            self.symbols,
            self.workspaces,
            sizes=self.sizes,
            guards=self.guards,
        )


def kernels_of(module: ir.Module) -> dict[str, Kernel]:
    """The kernels of a module by name."""
    found = [Kernel(op) for op in module.body.operations if isinstance(op, region.KernelOp)]
    return {kernel.name: kernel for kernel in found}
