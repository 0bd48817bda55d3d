"""The `tgpu` dialect: the types that its statements work on, and what all of its ops share.

A kernel is an upstream `gpu.func` in a `gpu.module`, which `kernel` reads. Its arguments are the region's buffers
(`!region.memref<…>`), then a status buffer where an index may be out of range, then the extents as `index`. Its
statements stand in `statements`, one file each.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from tinyc.dialects.region import ops as region
from tinyc.mlir import ext, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.verifying import Malformed, report_op
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: The memory spaces of a kernel's buffers, and of what the threads of a CTA share.
GLOBAL, SHARED = "#gpu.address_space<global>", "#gpu.address_space<workgroup>"
#: The layout of an accumulator tile: a CTA of `y × x` threads covers it by repeats of `2y × 2x` elements, and of each
#: repeat a thread owns these rows and columns, at (2 * y, 2 * x).
THREAD_TILE = (2, 2)

_Op = TypeVar("_Op", bound=ir.OpView)


class Tgpu(ext.Dialect, name="tgpu"):
    """Kernels as statements over tiles."""


class SmemType(Tgpu.Type, name="smem"):
    """`!tgpu.smem<tensor<64x32xf16>, 2 : i64>`: row-major tiles in a CTA's shared memory, one for each stage."""

    tile: Any
    stages: ir.IntegerAttr


class AccType(Tgpu.Type, name="acc"):
    """`!tgpu.acc<tensor<64x64xf32>>`: an accumulator tile in the registers of a CTA's threads (see `THREAD_TILE`)."""

    tile: Any


class TensorMapType(Tgpu.Type, name="tensor_map"):
    """`!tgpu.tensor_map`: an argument by which TMA copies boxes of a buffer."""


@dataclass(frozen=True)
class GpuTile:
    """The contents of a tile: rows and columns of one element type."""

    element: ElementType
    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return self.rows * self.columns

    def tensor(self) -> ir.Type:
        """The builtin tensor type that stands for it in `!tgpu.smem` and `!tgpu.acc`."""
        return to_type(TensorType(self.element, self.shape))


@dataclass(frozen=True)
class StagedTile:
    """The contents of a `!tgpu.smem`: a circular buffer of as many tiles as there are stages."""

    tile: GpuTile
    stages: int

    @property
    def size_bytes(self) -> int:
        """Bytes of shared memory."""
        return self.stages * self.tile.elements * self.tile.element.size_bytes


def smem_type(tile: GpuTile, stages: int) -> SmemType:
    """The type of a circular buffer of tiles."""
    depth = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), stages)
    return SmemType.get(ir.TypeAttr.get(tile.tensor()), depth)


def acc_type(tile: GpuTile) -> AccType:
    """The type of an accumulator tile."""
    return AccType.get(ir.TypeAttr.get(tile.tensor()))


def staged_tile(kind: ir.Type) -> StagedTile:
    """The contents of a `!tgpu.smem`.

    Raises:
        Malformed: it is another type, or one that has no meaning.
    """
    if not isinstance(kind, SmemType):
        raise Malformed(f"takes a !tgpu.smem, not {kind}")
    tile, stages = (parameter.maybe_downcast() for parameter in kind.params)
    if not isinstance(stages, ir.IntegerAttr) or str(stages.type) != "i64" or stages.value < 1:
        raise Malformed(f"has {kind}, a circular buffer of {stages} stages; give it at least one, as i64")
    return StagedTile(_tile(kind, tile), stages.value)


def accumulator_tile(kind: ir.Type) -> GpuTile:
    """The tile of a `!tgpu.acc`.

    Raises:
        Malformed: it is another type, or one that nothing can be accumulated in.
    """
    if not isinstance(kind, AccType):
        raise Malformed(f"takes a !tgpu.acc, not {kind}")
    tile = _tile(kind, kind.params[0].maybe_downcast())
    if tile.element.is_small_float or tile.element.is_bool:
        raise Malformed(f"accumulates in {tile.element}; accumulate 16-bit floats in f32, and no bools")
    return tile


def _tile(kind: ir.Type, held: ir.Attribute) -> GpuTile:
    if not isinstance(held, ir.TypeAttr):
        raise Malformed(f"has {kind}, where {held} is not a tensor type")
    tensor = tensor_type(held.value)
    sides = [extent for extent in tensor.shape if isinstance(extent, int) and extent > 0]
    if tensor.rank != 2 or len(sides) != 2:
        raise Malformed(f"has {kind}; a tile has two axes of known extents above 0")
    return GpuTile(tensor.element, *sides)


class TgpuOp(Tgpu.Operation):
    """What every op of the dialect shares: its declared fields, then its own rule; a violation is reported at the op.

    The body of a statement is the region's own ops: tensor values, read where they are needed and never stored.
    """

    def check(self) -> None:
        """Check the op's own rule; its operands, results and attributes are those that its class declares.

        Raises:
            Malformed: it breaks its rule.
            TinycError: a tensor type or an attribute in it has no meaning.
        """
        raise NotImplementedError

    def verify_invariants(self) -> bool:
        """Check the op; report what is wrong at its location."""
        return report_op(self, type(self).check)

    @property
    def body_block(self) -> ir.Block:
        """The one block of its body."""
        return self.regions[0].blocks[0]

    @property
    def inner(self) -> list[ir.OpView]:
        """The ops of its body, without the terminator."""
        return body_of(self)

    def the(self, kind: type[_Op]) -> _Op:
        """The one op of a class in its body."""
        (found,) = (op for op in self.inner if isinstance(op, kind))
        return found


class OutputOp(TgpuOp):
    """A statement that writes outputs: its body ends in a `region.yield` for each of them."""

    @property
    def yields(self) -> list[region.YieldOp]:
        """The yields, in the order of the outputs."""
        return [op for op in self.inner if isinstance(op, region.YieldOp)]

    @property
    def outputs(self) -> dict[ir.Value, ir.Value]:
        """The buffer that each yielded value is written to."""
        return {each.value: each.buffer for each in self.yields}
