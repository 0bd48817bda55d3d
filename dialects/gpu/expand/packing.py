"""Elements as they are stored beside each other, in the words that one access moves: packed and unpacked."""

import itertools
from collections.abc import Sequence

from tinyc.codegen import scalars
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir
from tinyc.vocabulary.element_type import ElementType

_WORD_BITS = 32


def packed_words(element: ElementType, values: Sequence[ir.Value]) -> list[ir.Value]:
    """Emit register values as words of 32 bits; where they are fewer bits, in the low ones of a word.

    Two f32 that are to be rounded to 16 bits are rounded and joined by one instruction.
    """
    stored = [scalars.to_storage(element, each) for each in values]
    found = [_unrounded(each) for each in stored] if element.is_small_float else []
    sources = [each for each in found if each is not None]
    if 1 < len(sources) == len(found):
        pairs = zip(sources[::2], sources[1::2], strict=True)
        return [emit_ptx(f"cvt.pack.{element}", high, low)[0] for low, high in pairs]
    bits = ir.IntegerType.get_signless(8 * element.size_bytes)
    return _joined([each if each.type == bits else arith.bitcast(bits, each) for each in stored])


def unpacked(element: ElementType, words: Sequence[ir.Value], count: int) -> list[ir.Value]:
    """Emit the register values of `count` elements that are in words of 32 bits, or in the low bits of one."""
    bits = ir.IntegerType.get_signless(8 * element.size_bytes)
    each = min(count, _WORD_BITS // bits.width)
    found: list[ir.Value] = []
    for word, place in itertools.product(words, range(each)):
        shifted = arith.shrui(word, arith.constant(word.type, place * bits.width)) if place else word
        stored = shifted if bits == word.type else arith.trunci(bits, shifted)
        kind = scalars.storage_type(element)
        found.append(scalars.from_storage(element, stored if kind == bits else arith.bitcast(kind, stored)))
    return found


def _unrounded(stored: ir.Value) -> ir.Value | None:
    """The f32 that a value was rounded from just now."""
    op = stored.owner
    if isinstance(op, arith.TruncFOp) and isinstance(op.operands[0].type, ir.F32Type):
        return op.operands[0]
    return None


def _joined(bits: list[ir.Value]) -> list[ir.Value]:
    """Join neighbours, the first in the lowest bits, until they are words or there is one."""
    kind = ir.IntegerType(bits[0].type)
    if kind.width > _WORD_BITS:
        raise AssertionError("no operand or result of a matrix product is wider than a word")
    if kind.width == _WORD_BITS:
        return bits
    if len(bits) == 1:
        return [arith.extui(ir.IntegerType.get_signless(_WORD_BITS), bits[0])]
    wide = ir.IntegerType.get_signless(2 * kind.width)
    pairs = [(arith.extui(wide, low), arith.extui(wide, high)) for low, high in zip(bits[::2], bits[1::2], strict=True)]
    return _joined([arith.ori(low, arith.shli(high, arith.constant(wide, kind.width))) for low, high in pairs])
