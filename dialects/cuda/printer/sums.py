"""Sums of words with their number last, and what is computed twice computed once: so places that are alike look alike.

In: a function of instructions at the scalar level, changed in place. Out: `x + 16` where `(y + 16) + z` stood and `x`
is `y + z`. Words wrap around, so their sums may be put together in any order; but for the number they keep theirs: a
tile's own start, then where something is in the tile.
"""

from collections.abc import Hashable

from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.dialects.cuda.printer.words import words_of
from tinyc.mlir import arith, func, ir


def put_numbers_last(block: ir.Block) -> None:
    """Change the sums of words, and positions, in a block and those inside of it; nothing where it has no words."""
    words = words_of(block)
    if words:
        _Sums(words).visit(block, {})


class _Sums:
    def __init__(self, words: set[ir.Value]) -> None:
        self._words = words

    def visit(self, block: ir.Block, known: dict[Hashable, ir.Value]) -> None:
        """Change a block, where the ops `known` have been computed already."""
        known = dict(known)
        for op in block.operations:
            if isinstance(op, arith.AddIOp):
                self._sum(op, known)
            elif isinstance(op, arith.MulIOp) and op.result in self._words:
                self._product(op, known)
            for inner in inner_blocks(op):
                self.visit(inner, known)
            if len(op.results) == 1 and _once(op, known) != op.results[0]:
                op.results[0].replace_all_uses_with(_once(op, known))

    def _product(self, op: arith.MulIOp, known: dict[Hashable, ir.Value]) -> None:
        """Put the number of a sum that is multiplied by one behind the product."""
        (value, added), by = _parted(op.lhs), _number(op.rhs)
        if value is None or not added or by is None:
            return
        with ir.InsertionPoint(op), op.location:
            product = _once(arith.MulIOp(value, op.rhs), known)
            total = arith.addi(product, arith.constant(product.type, added * by))
        self._words.update((product, total))
        op.result.replace_all_uses_with(total)

    def _sum(self, op: arith.AddIOp, known: dict[Hashable, ir.Value]) -> None:
        if op.result not in self._words:
            if isinstance(op.result.type, ir.IndexType) and _number(op.lhs) is not None and _number(op.rhs) is None:
                op.operation.operands[0], op.operation.operands[1] = op.rhs, op.lhs
            return
        (left, first), (right, second) = _parted(op.lhs), _parted(op.rhs)
        if not first and not second:
            return
        with ir.InsertionPoint(op), op.location:
            total = right if left is None else left
            if left is not None and right is not None:
                total = _once(arith.AddIOp(left, right), known)
            if total is None:
                return
            self._words.add(total)
            if first + second == 0:
                op.result.replace_all_uses_with(total)
                return
            number = arith.constant(op.result.type, first + second)
            op.operation.operands[0], op.operation.operands[1] = total, number


def _number(value: ir.Value) -> int | None:
    known = constant_of(value)
    return known if isinstance(known, int) else None


def _parted(value: ir.Value) -> tuple[ir.Value | None, int]:
    """A word as a value, none where it is a number, and the number that is added to it."""
    op, known = value.owner, _number(value)
    if known is not None:
        return None, known
    if isinstance(op, arith.AddIOp):
        number = _number(op.rhs)
        if number is not None:
            return op.lhs, number
    return value, 0


def _once(op: ir.OpView, known: dict[Hashable, ir.Value]) -> ir.Value:
    """What an op computes, or the value that has been computed so: of positions and words, of which there are many."""
    result = op.results[0]
    is_integer = str(result.type) in ("i1", "i32", "index")
    if not is_integer or not (op.operation.name.startswith("arith.") or isinstance(op, func.CallOp)):
        return result
    attributes = tuple(sorted(f"{name} = {value}" for name, value in op.attributes.items()))
    return known.setdefault((op.operation.name, str(result.type), tuple(op.operands), attributes), result)
