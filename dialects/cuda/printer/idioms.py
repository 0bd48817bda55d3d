"""Address arithmetic that has a name, as calls of functions: what a reader would not want to take apart.

In: a function at the scalar level, changed in place. Out: a `func.call` for each place of an element in a swizzled
tile, and for each descriptor of a tile that a wgmma multiplies. What is written otherwise stays as it is.
"""

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.dialects.gpu.shared_layout import CHUNK_BYTES
from tinyc.mlir import arith, func, ir

#: On a call: the numbers that are arguments of the function's template.
TEMPLATE = "tgpu.template"
#: The functions by their names.
IDIOM_FUNCTIONS: dict[str, str] = {
    "swizzled": """\
// Where an element is in a tile in shared memory, in bytes: slabs of lines of `Line` bytes stand behind each other, and
// in a line the chunks of 16 bytes are exchanged as its number says, so that lines below each other meet no bank twice.
template <int Element, int Line, int Slab = 0>
__device__ __forceinline__ uint32_t swizzled(uint32_t line, uint32_t column) {
  const uint32_t place = column * Element;
  const uint32_t chunk = place % Line / 16 ^ line / (128 / Line) % (Line / 16);
  return place / Line * Slab + line * Line + chunk * 16 + place % 16;
}""",
    "tile_descriptor": """\
// What a wgmma is told of a tile, or of what is `behind` bytes behind its start: the address, bytes from a slab to the
// next and from 8 lines to the next, and its swizzle.
template <int Slab, int Lines, int Swizzle>
__device__ __forceinline__ uint64_t tile_descriptor(uint32_t tile, uint32_t behind) {
  constexpr uint64_t mode = Swizzle == 128 ? 1 : Swizzle == 64 ? 2 : 3;
  return mode << 62 | uint64_t(Lines / 16) << 32 | uint64_t(Slab / 16) << 16 | (tile / 16 + behind / 16);
}""",
}
_LINE_OF_SWIZZLE_MODE = {1: 128, 2: 64, 3: 32}
_FIELD = 2**14 - 1
#: The numbers of a function's template, its arguments, and what is added to what it gives.
_Found: TypeAlias = tuple[Sequence[int], Sequence[ir.Value], int]
_OpT = TypeVar("_OpT", bound=ir.OpView)


def name_idioms(block: ir.Block) -> None:
    """Put calls in the place of what has a name, in a block and those inside of it."""
    for op in block.operations:
        for inner in inner_blocks(op):
            name_idioms(inner)
        if isinstance(op, arith.AddIOp):
            _replace(op, "swizzled", _swizzled(op))
        elif isinstance(op, arith.OrIOp):
            _replace(op, "tile_descriptor", _descriptor(op))


def _replace(op: ir.OpView, name: str, found: _Found | None) -> None:
    if found is None:
        return
    numbers, operands, start = found
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp([op.results[0].type], name, list(operands))
        call.attributes[TEMPLATE] = ir.DenseI64ArrayAttr.get(numbers)
        value = call.results[0]
        value = arith.addi(value, arith.constant(value.type, start)) if start else value
    op.results[0].replace_all_uses_with(value)


def _swizzled(op: arith.AddIOp) -> _Found | None:
    """`slab * slab_bytes + line * line_bytes + ((chunk ^ order) * 16 + inside)`, as `SharedLayout.offset` has it.

    Of a tile whose lines hold all of its columns there is one slab.
    """
    within = _made_by(arith.AddIOp, op.rhs)
    if within is None:
        return None
    start = _made_by(arith.AddIOp, op.lhs)
    slab, slab_bytes = (None, 0) if start is None else _with_number(arith.MulIOp, start.lhs)
    line, line_bytes = _with_number(arith.MulIOp, op.lhs if start is None else start.rhs)
    column = _column_of(within)
    if (start is not None and not slab_bytes) or not line_bytes or column is None:
        return None
    place, element, order = column
    further = _lines_further(order, line, line_bytes)
    if further is None:
        return None
    line, start = _further(line, further, op), -further * line_bytes
    if slab is None:
        return (element, line_bytes), (line, place), start
    whole, last = _with_number(arith.AndIOp, place)
    if (last + 1) * element != line_bytes or _with_number(arith.ShRUIOp, slab) != (whole, last.bit_length()):
        return None
    return (element, line_bytes, slab_bytes), (line, whole), start


def _column_of(within: arith.AddIOp) -> tuple[ir.Value, int, ir.Value] | None:
    """Which element of a line `(chunk ^ order) * 16 + inside` is, the bytes of each, and the order."""
    exchanged, chunk_bytes = _with_number(arith.MulIOp, within.lhs)
    order = _made_by(arith.XOrIOp, exchanged)
    if order is None or chunk_bytes != CHUNK_BYTES:
        return None
    chunk, further = _with_number(arith.AddIOp, order.lhs)
    place, below = _with_number(arith.AndIOp, within.rhs)
    is_same = _with_number(arith.ShRUIOp, chunk) == (place, CHUNK_BYTES.bit_length() - 1)
    if not is_same or below != CHUNK_BYTES - 1:
        return None
    column, element = _with_number(arith.MulIOp, place)
    element = element or 1
    return _further(column, further * CHUNK_BYTES // element, within), element, order.rhs


def _further(place: ir.Value, by: int, op: ir.OpView) -> ir.Value:
    """A place so many elements behind another, computed before an op."""
    if by == 0:
        return place
    with ir.InsertionPoint(op), op.location:
        return arith.addi(place, arith.constant(place.type, by))


def _lines_further(order: ir.Value, line: ir.Value, line_bytes: int) -> int | None:
    """How many lines behind a line is that whose chunks are exchanged so; None where a value is no such order."""
    alike = 128 // line_bytes
    number, last = _with_number(arith.AndIOp, order)
    number, further = _with_number(arith.AddIOp, number)
    number, by = _with_number(arith.ShRUIOp, number) if alike > 1 else (number, 0)
    is_order = number == line and 1 << by == alike and last in (0, line_bytes // CHUNK_BYTES - 1)
    return further * alike if is_order else None


def _descriptor(op: arith.OrIOp) -> _Found | None:
    """An address in units of 16 bytes, and fields that are known, as the expansion of `tgpu.wgmma` has them."""
    widened, known = _made_by(arith.ExtUIOp, op.lhs), constant_of(op.rhs)
    if widened is None or not isinstance(known, int):
        return None
    chunk, further = _with_number(arith.AddIOp, widened.in_)
    address, by = _with_number(arith.ShRUIOp, chunk)
    fields = known % 2**64
    slab, lines, mode = fields >> 16 & _FIELD, fields >> 32 & _FIELD, fields >> 62
    is_whole = slab << 16 | lines << 32 | mode << 62 == fields
    if not is_whole or 1 << by != CHUNK_BYTES or mode not in _LINE_OF_SWIZZLE_MODE:
        return None
    with ir.InsertionPoint(op), op.location:
        behind = arith.constant(address.type, further * CHUNK_BYTES)
    return (slab * CHUNK_BYTES, lines * CHUNK_BYTES, _LINE_OF_SWIZZLE_MODE[mode]), (address, behind), 0


def _made_by(kind: type[_OpT], value: ir.Value) -> _OpT | None:
    op = value.owner
    return op if isinstance(op, kind) else None


def _with_number(kind: type[ir.OpView], value: ir.Value) -> tuple[ir.Value, int]:
    """What an op of a kind computes its result from, with a number that is not negative; the value and 0 otherwise."""
    op = _made_by(kind, value)
    known = None if op is None else constant_of(op.operands[1])
    return (op.operands[0], known) if op is not None and isinstance(known, int) and known > 0 else (value, 0)
