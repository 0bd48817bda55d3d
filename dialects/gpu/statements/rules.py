"""Rules that several statements share: index operands, sides of a tile, bodies.

Each checks one thing of an op whose declared fields are there, and raises `Malformed` with the end of a sentence that
begins with the op's name.
"""

from collections.abc import Sequence
from typing import TypeVar

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.ops import check_ordered as check_ordered
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.mlir.verifying import Malformed

#: The sides of a place in a tensor, each of some axes; and those at which a tile may reach beyond it.
SIDES = ("rows", "columns", "batches")
GUARDED_SIDES = ("rows", "columns")

#: How many elements one access may take, and how many bytes.
VECTOR_WIDTHS = (2, 4, 8, 16)
VECTOR_BYTES = 16

_Op = TypeVar("_Op", bound=ir.OpView)


def require_indices(op: TgpuOp, *names: str) -> None:
    """Check that operands are of type `index`."""
    for name in names:
        kind = getattr(op, name).type
        if not isinstance(kind, ir.IndexType):
            raise Malformed(f"has {name} of type {kind}; it must be an index")


def require_row(kind: ir.Type) -> ir.Type:
    """Check that a buffer is one row of elements; return their type."""
    if not isinstance(kind, ir.MemRefType) or kind.rank != 1:
        raise Malformed(f"works on a memref of one axis, not on {kind}")
    return kind.element_type


def require_vector(kind: ir.Type, elements: Sequence[ir.Type]) -> None:
    """Check that values of types `elements` are neighbours in a buffer that one access can take."""
    stored = require_row(kind)
    wrong = next((each for each in elements if each != stored), None)
    if wrong is not None:
        raise Malformed(f"has an element of type {wrong} of a buffer of {stored}; give both one type")
    assert isinstance(stored, ir.IntegerType | ir.FloatType)
    size_bytes = len(elements) * stored.width // 8
    if len(elements) not in VECTOR_WIDTHS or size_bytes > VECTOR_BYTES:
        raise Malformed(
            f"takes {len(elements)} elements of {stored} at once; an access takes 2, 4, 8 or 16 that are "
            f"{VECTOR_BYTES} bytes at most"
        )


def require_width(op: TgpuOp) -> None:
    """Check that `width` is a count of neighbours that accesses have."""
    width = ir.IntegerAttr(op.attributes["width"])
    if width.value not in (1, *VECTOR_WIDTHS):
        raise Malformed(f"has width = {width}; a thread takes 1, 2, 4, 8 or 16 neighbours at a time")


def require_lanes(op: TgpuOp) -> None:
    """Check that `lanes` is an axis of a CTA, along which threads share a row."""
    lanes = ir.StringAttr(op.attributes["lanes"])
    if lanes.value not in ("x", "y"):
        raise Malformed(f'has lanes = {lanes}; the threads of a row are those along "x" or "y"')


# --- places -----------------------------------------------------------------------------------------------------------


def require_sides(op: TgpuOp, rank: int) -> list[int]:
    """Check that `rows`, `columns` and `batches` are distinct axes of a value of `rank`; return them all."""
    found = {side: list(ir.DenseI64ArrayAttr(op.attributes[side])) for side in SIDES}
    axes = [axis for side in found.values() for axis in side]
    if any(not 0 <= axis < rank for axis in axes) or len(set(axes)) != len(axes):
        shown = ", ".join(f"{side} {listed}" for side, listed in found.items())
        raise Malformed(f"has {shown}; they must be distinct axes of its value, which has {rank}")
    return axes


def require_guarded(op: TgpuOp) -> None:
    """Check that `guarded` names sides, each once."""
    guarded = require_words(op, "guarded", GUARDED_SIDES)
    if len(set(guarded)) != len(guarded):
        raise Malformed(f"has guarded = {op.attributes['guarded']}; it names a side twice")


def require_words(op: TgpuOp, name: str, words: Sequence[str]) -> list[str]:
    """Check that an attribute is a list of some of `words`; return it."""
    attribute = ir.ArrayAttr(op.attributes[name])
    values = [entry.value for entry in attribute if isinstance(entry, ir.StringAttr)]
    if len(values) != len(attribute) or any(value not in words for value in values):
        raise Malformed(f"has {name} = {attribute}; each must be one of {', '.join(words)}")
    return values


# --- bodies -----------------------------------------------------------------------------------------------------------


def require_body(op: TgpuOp, arguments: int = 0) -> list[ir.OpView]:
    """Check that a statement has a body of one block with so many arguments; return its ops."""
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        raise Malformed("must have a body of one block")
    if len(op.body_block.arguments) != arguments:
        raise Malformed(f"has a body of {len(op.body_block.arguments)} arguments; it takes {arguments}")
    return op.inner


def require_region_ops(ops: Sequence[ir.OpView]) -> None:
    """Check that ops are those that a region computes with."""
    for op in ops:
        if not isinstance(op, region.ReadOp | tiny.TinyOp):
            raise Malformed(f"may hold 'region.read' and Tiny ops only, not '{op.operation.name}'")


def require_unordered(ops: Sequence[ir.OpView]) -> None:
    """Check that no op of a body walks an axis in order: such a one is a statement of its own."""
    found = next((op.operation.name for op in ops if isinstance(op, tiny.ScatterOp | tiny.TopkOp)), None)
    if found is not None:
        raise Malformed(f"may not hold '{found}', which has statements of its own")


def require_yields(ops: Sequence[ir.OpView]) -> list[region.YieldOp]:
    """Check a body that ends in the yields to its outputs; return them."""
    yields = [op for op in ops if isinstance(op, region.YieldOp)]
    if not yields or list(ops[len(ops) - len(yields) :]) != yields:
        raise Malformed("must end in a 'region.yield' for each output")
    require_region_ops(ops[: len(ops) - len(yields)])
    outputs = [op.operands[1] for op in yields]
    read = [op.operands[0] for op in ops if isinstance(op, region.ReadOp)]
    if len(set(outputs)) != len(outputs) or set(outputs) & set(read):
        raise Malformed("must write each output once, and read none")
    if any(optional_text_of(op, "materialize") == "deferred" for op in yields):
        raise Malformed("has a deferred output; a kernel writes all of its outputs to gmem")
    return yields


def require_runs(op: TgpuOp) -> None:
    """Check a statement of which threads take `width` neighbours: its body is unordered and ends in the yields."""
    ops = require_body(op)
    require_yields(ops)
    require_unordered(ops)
    require_width(op)


def require_one(ops: Sequence[ir.OpView], kind: type[_Op], what: str) -> _Op:
    """Check that a body has one op of a class, which messages call `what`; return it."""
    found = [op for op in ops if isinstance(op, kind)]
    if len(found) != 1:
        raise Malformed(f"must hold one {what}")
    return found[0]


def optional_text_of(op: ir.OpView, name: str) -> str | None:
    """A text attribute of an op that need not verify."""
    attribute = op.attributes.get(name, None)
    return attribute.value if isinstance(attribute, ir.StringAttr) else None
