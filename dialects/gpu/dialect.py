"""The `tgpu` dialect: the types that its statements work on, and what all of its ops share.

A kernel is an upstream `gpu.func` in a `gpu.module`, which `kernel` reads. Its arguments are the region's buffers
(`!region.memref<…>`), then a status buffer where an index may be out of range, then the extents as `index`. Its
statements stand in `statements`, one file each.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from tinyc.dialects.gpu.fragment_layout import UNITS, FragmentLayout
from tinyc.dialects.gpu.shared_layout import ORDERS, SWIZZLES, Order, SharedLayout
from tinyc.dialects.region import ops as region
from tinyc.mlir import ext, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.constants import i64
from tinyc.mlir.verifying import Malformed, report_op, require_kinds
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


class SwizzleAttr(Tgpu.Attribute, name="swizzle"):
    """`#tgpu.swizzle<"row", 128 : i64>`: a tile in shared memory (`shared_layout`): its tensor's encoding."""

    order: ir.StringAttr
    line_bytes: ir.IntegerAttr


class FragmentsAttr(Tgpu.Attribute, name="fragments"):
    """`#tgpu.fragments<"wgmma", 64 : i64, 256 : i64>`: which threads have which accumulators (`fragment_layout`).

    It is the encoding of an accumulator tile's tensor; one without is in the layout of `THREAD_TILE`.
    """

    unit: ir.StringAttr
    unit_rows: ir.IntegerAttr
    unit_columns: ir.IntegerAttr


class SmemType(Tgpu.Type, name="smem"):
    """`!tgpu.smem<tensor<64x32xf16>, 2 : i64>`: tiles in a CTA's shared memory, one for each stage.

    They are row-major, or as the tensor's encoding says: `tensor<64x32xf16, #tgpu.swizzle<"row", 64 : i64>>`.
    """

    tile: Any
    stages: ir.IntegerAttr


class AccType(Tgpu.Type, name="acc"):
    """`!tgpu.acc<tensor<64x64xf32>>`: an accumulator tile in the registers of the threads that run a statement."""

    tile: Any


class InFlightType(Tgpu.Type, name="in_flight"):
    """`!tgpu.in_flight<tensor<…>>`: the same while tensor cores still add to it: it may be waited for."""

    tile: Any


class FragType(Tgpu.Type, name="frag"):
    """`!tgpu.frag<tensor<64x16xf16>, "a">`: of an operand, "a" or "b", what each warp multiplies at a time."""

    tile: Any
    side: ir.StringAttr


class TensorMapType(Tgpu.Type, name="tensor_map"):
    """`!tgpu.tensor_map`: an argument by which TMA copies boxes of a buffer."""


class MbarrierType(Tgpu.Type, name="mbarrier"):
    """`!tgpu.mbarrier<4 : i64>`: mbarriers in shared memory, one for each stage."""

    stages: ir.IntegerAttr


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
    order: Order = "row"
    swizzle: int = 0

    @property
    def size_bytes(self) -> int:
        """Bytes of shared memory."""
        return self.stages * self.tile.elements * self.tile.element.size_bytes

    @property
    def layout(self) -> SharedLayout:
        """Where the elements of a stage's tile stand."""
        return SharedLayout(*self.tile.shape, self.tile.element.size_bytes, self.order, self.swizzle)

    @property
    def is_plain(self) -> bool:
        """Whether it is row-major without a swizzle."""
        return (self.order, self.swizzle) == ("row", 0)


def smem_type(tile: GpuTile, stages: int, order: Order = "row", swizzle: int = 0) -> SmemType:
    """The type of a circular buffer of tiles."""
    is_plain = (order, swizzle) == ("row", 0)
    layout = None if is_plain else SwizzleAttr.get(ir.StringAttr.get(order), i64(swizzle))
    return SmemType.get(_tensor_attribute(tile, layout), i64(stages))


def acc_type(tile: GpuTile, layout: FragmentLayout | None = None) -> AccType:
    """The type of an accumulator tile; without a layout its threads have it as `THREAD_TILE` says."""
    return AccType.get(_tensor_attribute(tile, _fragments_attribute(layout)))


def in_flight_type(tile: GpuTile, layout: FragmentLayout) -> InFlightType:
    """The type of an accumulator tile that tensor cores still add to."""
    return InFlightType.get(_tensor_attribute(tile, _fragments_attribute(layout)))


def frag_type(tile: GpuTile, side: str) -> FragType:
    """The type of what each warp multiplies of an operand at a time."""
    return FragType.get(_tensor_attribute(tile, None), ir.StringAttr.get(side))


def mbarrier_type(stages: int) -> MbarrierType:
    """The type of as many mbarriers."""
    return MbarrierType.get(i64(stages))


def _fragments_attribute(layout: FragmentLayout | None) -> ir.Attribute | None:
    if layout is None:
        return None
    return FragmentsAttr.get(ir.StringAttr.get(layout.unit), i64(layout.unit_rows), i64(layout.unit_columns))


def _tensor_attribute(tile: GpuTile, encoding: ir.Attribute | None) -> ir.TypeAttr:
    plain = ir.RankedTensorType(tile.tensor())
    return ir.TypeAttr.get(
        ir.RankedTensorType.get(plain.shape, plain.element_type, encoding, loc=ir.Location.unknown())
    )


def staged_tile(kind: ir.Type) -> StagedTile:
    """The contents of a `!tgpu.smem`.

    Raises:
        Malformed: it is another type, or one that has no meaning.
    """
    if not isinstance(kind, SmemType):
        raise Malformed(f"takes a !tgpu.smem, not {kind}")
    held, stages = (parameter.maybe_downcast() for parameter in kind.params)
    if not isinstance(stages, ir.IntegerAttr) or str(stages.type) != "i64" or stages.value < 1:
        raise Malformed(f"has {kind}, a circular buffer of {stages} stages; give it at least one, as i64")
    tile, encoding = _tile(kind, held)
    if encoding is None:
        return StagedTile(tile, stages.value)
    if not isinstance(encoding, SwizzleAttr):
        raise Malformed(f"has {kind}; a tile in shared memory is row-major, or in a #tgpu.swizzle, not {encoding}")
    order, line_bytes = _values(encoding)
    if order not in ORDERS or line_bytes not in SWIZZLES:
        raise Malformed(f"has {kind}; a swizzle has the order row or col, and lines of 0, 32, 64 or 128 bytes")
    staged = StagedTile(tile, stages.value, order, line_bytes)
    if staged.layout.misfit is not None:
        raise Malformed(f"has {kind}, which {staged.layout.misfit}")
    return staged


def accumulator_tile(kind: ir.Type) -> GpuTile:
    """The tile of a `!tgpu.acc` or of one that is `!tgpu.in_flight`.

    Raises:
        Malformed: it is another type, or one that nothing can be accumulated in.
    """
    if not isinstance(kind, AccType | InFlightType):
        raise Malformed(f"takes a !tgpu.acc, not {kind}")
    tile, _ = _tile(kind, kind.params[0].maybe_downcast())
    if tile.element.is_small_float or tile.element.is_bool:
        raise Malformed(f"accumulates in {tile.element}; accumulate 16-bit floats in f32, and no bools")
    return tile


def accumulator_layout(kind: ir.Type) -> FragmentLayout | None:
    """Which threads have which elements of an accumulator tile; None where it is as `THREAD_TILE` says.

    Raises:
        Malformed: as `accumulator_tile`, or the layout is none.
    """
    tile = accumulator_tile(kind)
    assert isinstance(kind, AccType | InFlightType)  # as was asked
    _, encoding = _tile(kind, kind.params[0].maybe_downcast())
    if encoding is None:
        return None
    if not isinstance(encoding, FragmentsAttr):
        raise Malformed(f"has {kind}; accumulators are in #tgpu.fragments, or without a layout, not in {encoding}")
    unit, rows, columns = _values(encoding)
    if unit not in UNITS or rows < 1 or columns < 1:
        raise Malformed(f"has {kind}; fragments are those of mma or wgmma, of some rows and columns")
    layout = FragmentLayout(unit, *tile.shape, rows, columns)
    if layout.misfit is not None:
        raise Malformed(f"has {kind}, which {layout.misfit}")
    return layout


def ready_layout(kind: ir.Type) -> FragmentLayout | None:
    """The layout of accumulators that may be read.

    Raises:
        Malformed: tensor cores still add to them; or as `accumulator_layout`.
    """
    if isinstance(kind, InFlightType):
        raise Malformed(f"reads {kind}, which tensor cores still add to; wait for it with 'tgpu.wait_group'")
    return accumulator_layout(kind)


def fragment_side(kind: FragType) -> str:
    """Which operand a `!tgpu.frag` is of, "a" or "b"."""
    side = kind.params[1].maybe_downcast()
    return side.value if isinstance(side, ir.StringAttr) else ""


def fragment_tile(kind: ir.Type, side: str) -> GpuTile:
    """The tile of a `!tgpu.frag` of a side.

    Raises:
        Malformed: it is another type, or of the other side.
    """
    if not isinstance(kind, FragType) or fragment_side(kind) != side:
        raise Malformed(f'takes a !tgpu.frag of side "{side}", not {kind}')
    return _tile(kind, kind.params[0].maybe_downcast())[0]


def mbarrier_stages(kind: ir.Type) -> int:
    """How many mbarriers a `!tgpu.mbarrier` is.

    Raises:
        Malformed: it is another type, or none at all.
    """
    stages = kind.params[0].maybe_downcast() if isinstance(kind, MbarrierType) else None
    if not isinstance(stages, ir.IntegerAttr) or stages.value < 1:
        raise Malformed(f"takes a !tgpu.mbarrier of at least one stage, not {kind}")
    return stages.value


def _values(encoding: SwizzleAttr | FragmentsAttr) -> list[Any]:
    """The parameters of an encoding: texts and numbers; None for what is neither."""
    held = [each.maybe_downcast() for each in encoding.params]
    return [each.value if isinstance(each, ir.StringAttr | ir.IntegerAttr) else None for each in held]


def _tile(kind: ir.Type, held: ir.Attribute) -> tuple[GpuTile, ir.Attribute | None]:
    """The tile that a type has, and how it lies there, as its tensor's encoding says it."""
    if not isinstance(held, ir.TypeAttr) or not isinstance(held.value, ir.RankedTensorType):
        raise Malformed(f"has {kind}, where {held} is not a tensor type")
    shaped = held.value
    encoding = shaped.encoding
    plain = _without_encoding(shaped) if encoding is not None else shaped
    tensor = tensor_type(plain)
    sides = [extent for extent in tensor.shape if isinstance(extent, int) and extent > 0]
    if tensor.rank != 2 or len(sides) != 2:
        raise Malformed(f"has {kind}; a tile has two axes of known extents above 0")
    return GpuTile(tensor.element, *sides), encoding


def _without_encoding(shaped: ir.RankedTensorType) -> ir.RankedTensorType:
    """The plain tensor type; rules are checked where no context is current, so it is given one."""
    loc = ir.Location.unknown(shaped.context)
    return ir.RankedTensorType.get(shaped.shape, shaped.element_type, loc=loc)


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
        return report_op(self, TgpuOp._check_all)

    def _check_all(self) -> None:
        require_kinds(self)
        self.check()

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
