"""Places in a tensor as a row times its pitch, and a column: `(row + 16) * N + column`, however they were summed.

In: a function of instructions at the scalar level, changed in place. Out: sums of positions in which all that is
multiplied by an extent is one product, which stands first, and the number stands last. Where addresses are computed
from each other, step by step, a reader then sees in each what it is of, and those that are alike look alike.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.dialects.cuda.printer.words import words_of
from tinyc.mlir import arith, ir


def gather_rows(block: ir.Block) -> None:
    """Change the sums of positions in a function; nothing where it has no words."""
    words = words_of(block)
    if words:
        extents: set[ir.Value] = {each for each in block.arguments if isinstance(each.type, ir.IndexType)}
        _Positions(words, extents).visit(block)


class _Positions:
    def __init__(self, words: set[ir.Value], extents: set[ir.Value]) -> None:
        self._words, self._extents = words, extents

    def visit(self, block: ir.Block) -> None:
        """Change a block and those inside of it."""
        for op in block.operations:
            for inner in inner_blocks(op):
                self.visit(inner)
            if isinstance(op, arith.AddIOp) and isinstance(op.result.type, ir.IndexType) and not _is_part(op):
                with ir.InsertionPoint(op), op.location:
                    self._gather(op)

    def _gather(self, op: arith.AddIOp) -> None:
        terms = list(_terms(op.result))
        rows: dict[ir.Value, list[ir.Value]] = {}
        rest: list[ir.Value] = []
        for term in terms:
            extent, row = self._product(term)
            if extent is None:
                rest.append(term)
            else:
                rows.setdefault(extent, []).append(row)
        if rows or len(terms) > 2 or all(self._word(term) is not None for term in terms):
            products = [arith.muli(self._sum(parts), extent) for extent, parts in rows.items()]
            rest.sort(key=lambda term: _block(term) == op.operation.block)  # what a loop computes once, first
            op.result.replace_all_uses_with(self._sum([*products, *rest]))

    def _product(self, term: ir.Value) -> tuple[ir.Value | None, ir.Value]:
        """The extent that a term is a multiple of, if it is one's, and what is multiplied by it."""
        op = term.owner
        if isinstance(op, arith.MulIOp):
            for extent, row in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
                if extent in self._extents:
                    return extent, row
        return None, term

    def _sum(self, values: Sequence[ir.Value]) -> ir.Value:
        """Emit a sum, whose number is last; that of words as one of words."""
        terms = [term for value in values for term in _terms(value)]
        number = sum(known for known in map(constant_of, terms) if isinstance(known, int))
        others = [term for term in terms if constant_of(term) is None]
        words = [self._word(term) for term in others]
        kept = [word for word in words if word is not None]
        if kept and len(kept) == len(others) and number >= 0:
            total = _with(reduce(arith.addi, kept), number)
            self._words.add(total)
            return arith.index_cast(ir.IndexType.get(), total)
        return _with(reduce(arith.addi, others), number) if others else arith.constant(ir.IndexType.get(), number)

    def _word(self, value: ir.Value) -> ir.Value | None:
        op = value.owner
        return op.in_ if isinstance(op, arith.IndexCastOp) and op.in_ in self._words else None


def _is_part(op: arith.AddIOp) -> bool:
    """Whether a sum is nothing but a part of others."""
    uses = list(op.result.uses)
    return all(isinstance(use.owner, arith.AddIOp) for use in uses)


def _block(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block


def _terms(value: ir.Value) -> Iterator[ir.Value]:
    """Yield what a position is the sum of."""
    op = value.owner
    if isinstance(op, arith.AddIOp) and isinstance(value.type, ir.IndexType):
        yield from _terms(op.lhs)
        yield from _terms(op.rhs)
    else:
        yield value


def _with(value: ir.Value, number: int) -> ir.Value:
    return arith.addi(value, arith.constant(value.type, number)) if number else value
