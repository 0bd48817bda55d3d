"""Loops split where guards change, so that each part reads what it writes and asks nothing.

In: the function of a kernel, in which pads and concatenations are conditions on the index of a loop. A loop over 0 … 8
in which `i < 3` chooses becomes one over 0 … 3 and one over 3 … 8 (`split_loops`), and so where it is `i < M`; a loop
within which a condition does not change is chosen by it once (`choose_loops`). What a loop carries goes from part to
part: no sum has another order. The last part of a row is a whole vector (`overlap_vectors`).
Out: the same function; a loop that would become too many or too long parts stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.dialects.exec.to_llvm.llvm_ir import LOOP_ANNOTATION
from tinyc.dialects.region.to_loops.known_extents import KnownExtents, is_wide
from tinyc.expr.extents import Dim, is_nonnegative
from tinyc.mlir import arith, func, ir, memref, scf
from tinyc.mlir.bodies import ops_inside
from tinyc.mlir.constants import number
from tinyc.target import VectorUnit

#: The most parts of one loop, and the most ops that they may have together.
MAX_PARTS = 8
MAX_PART_OPS = 1500
#: How many conditions may choose a loop.
MAX_CHOICES = 8
#: The most loops of a function that are looked at.
MAX_LOOPS = 64
#: Index arithmetic with numbers up to here stays within 64 bits.
_NO_OVERFLOW = 2**60


@dataclass(frozen=True)
class _Loop:
    """A loop, and what is known of its range: all indices are `low` … `high` - 1; `high` is None if nothing is."""

    op: scf.ForOp
    low: Dim
    high: Dim | None


def split_loops(function: func.FuncOp, turns: Dim, known: KnownExtents) -> bool:
    """Split the loops of a function where conditions on their indices change, the outer ones first.

    `turns` is the extent of the parallel outer loop, of which the function is given a part. Returns whether any was
    split.
    """
    pending = [_loop(op, known, turns) for op in _loops_in(function.operation)][::-1]
    is_split = False
    for _ in range(MAX_LOOPS):
        if not pending:
            break
        loop = pending.pop()
        parts = _split_at_cuts(loop, known)
        is_split = is_split or bool(parts)
        pending += [_loop(op, known) for part in parts or [loop] for op in _loops_in(part.op.operation)][::-1]
    return is_split


def choose_loops(function: func.FuncOp) -> bool:
    """Choose innermost loops once by a condition that does not change in them; returns whether one was.

    What the choice makes of the other conditions shows when the function has been simplified, before the next time.
    """
    chosen = [_chosen_once(loop) for loop in innermost_loops(function)]
    return any(chosen)


def overlap_vectors(function: func.FuncOp, known: KnownExtents, unit: VectorUnit) -> None:
    """Give the last elements of a row on the stack a whole vector, which computes some of those before them again.

    So do innermost loops over a number of elements that fills no vectors of a CPU, if they do not read what they write.
    """
    for loop in innermost_loops(function):
        _overlapped(loop, known, unit)


def _loop(op: scf.ForOp, known: KnownExtents, turns: Dim | None = None) -> _Loop:
    """A loop whose bounds are looked at; an index is never negative."""
    low, high = known.of(op.lowerBound), known.of(op.upperBound)
    if high is None and isinstance(op.upperBound.owner, ir.Block):
        high = turns  # it is the function's own
    return _Loop(op, low if low is not None and is_nonnegative(low) else 0, high)


def _loops_in(operation: ir.Operation) -> Iterator[scf.ForOp]:
    """The outermost loops inside an op."""
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                if isinstance(op, scf.ForOp):
                    yield op
                else:
                    yield from _loops_in(op.operation)


def innermost_loops(function: func.FuncOp) -> list[scf.ForOp]:
    """The loops of a function without loops inside, the last ones first; they may be replaced one by one."""
    pending, found = list(_loops_in(function.operation)), list[scf.ForOp]()
    while pending:
        loop = pending.pop()
        inner = list(_loops_in(loop.operation))
        pending += inner
        if not inner:
            found.append(loop)
    return found


# --- conditions on the index of the loop itself -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Interval:
    """Where a condition holds: `low` … `high` - 1 of the loop's index, None without a bound."""

    low: Dim | None
    high: Dim | None

    def decided(self, low: Dim, high: Dim | None) -> bool | None:
        """Whether it holds for all indices `low` … `high` - 1, or for none; None where that is not known."""
        begins = self.low is None or is_nonnegative(low - self.low)
        ends = self.high is None or (high is not None and is_nonnegative(self.high - high))
        if begins and ends:
            return True
        is_behind = self.high is not None and is_nonnegative(low - self.high)
        is_before = self.low is not None and high is not None and is_nonnegative(self.low - high)
        return False if is_behind or is_before else None


def _split_at_cuts(loop: _Loop, known: KnownExtents) -> list[_Loop]:
    """Split a loop where conditions on its index change; its parts, none where it stays."""
    ops, counter = list(ops_inside(loop.op.operation)), loop.op.induction_variable
    intervals = {at: held for at, op in enumerate(ops) if (held := _interval(op, counter, known)) is not None}
    cuts = _cuts(loop, [cut for held in intervals.values() for cut in (held.low, held.high) if cut is not None])
    if not intervals or known.of(loop.op.step) != 1:
        return []
    if len(cuts) + 1 > MAX_PARTS or len(ops) * (len(cuts) + 1) > MAX_PART_OPS:
        return []
    parts: list[_Loop] = []
    carried: list[ir.Value] = list(loop.op.initArgs)
    ranges = zip([loop.low, *cuts], [*cuts, loop.high], strict=True)
    with ir.InsertionPoint(loop.op), loop.op.location:
        for (low, high), (start, end) in zip(ranges, _edges(loop, cuts, known), strict=True):
            decisions = {at: held.decided(low, high) for at, held in intervals.items()}
            part = _clone(loop.op, {at: holds for at, holds in decisions.items() if holds is not None})
            operands = part.operation.operands
            operands[0], operands[1] = start, end
            for position, value in enumerate(carried, 3):
                operands[position] = value
            carried = list(part.results)
            parts.append(_Loop(part, low, high))
    _replace(loop.op, carried)
    return parts


def _cuts(loop: _Loop, found: Sequence[Dim]) -> list[Dim]:
    """The cuts that may lie inside a loop, in order; one that may lie before or behind another is left out."""
    cuts: list[Dim] = []
    for cut in dict.fromkeys(found):
        if is_nonnegative(loop.low - cut) or (loop.high is not None and is_nonnegative(cut - loop.high)):
            continue
        place = sum(is_nonnegative(cut - each) for each in cuts)
        if all(is_nonnegative(each - cut) for each in cuts[place:]):
            cuts.insert(place, cut)
    return cuts


def _edges(loop: _Loop, cuts: Sequence[Dim], known: KnownExtents) -> list[tuple[ir.Value, ir.Value]]:
    """Where each part begins and ends; a cut may lie on any side of a bound that is given to the kernel."""
    low, high = loop.op.lowerBound, loop.op.upperBound
    first, last = known.of(low), known.of(high)
    places = [known.value(cut) for cut in cuts]
    starts = [
        place if first is not None and is_nonnegative(cut - first) else arith.maxsi(low, place)
        for cut, place in zip(cuts, places, strict=True)
    ]
    ends = [
        place if last is not None and is_nonnegative(last - cut) else arith.minsi(high, place)
        for cut, place in zip(cuts, places, strict=True)
    ]
    return list(zip([low, *starts], [*ends, high], strict=True))


_SIGNED = {arith.CmpIPredicate.slt: False, arith.CmpIPredicate.sgt: True}


def _interval(op: ir.OpView, counter: ir.Value, known: KnownExtents) -> _Interval | None:
    """Where a comparison of an extent with a loop's index, moved by extents and divided by numbers, holds."""
    code = op.predicate if isinstance(op, arith.CmpIOp) else None
    if not isinstance(op, arith.CmpIOp) or not isinstance(code, ir.IntegerAttr):
        return None
    predicate = arith.CmpIPredicate(code.value)
    left, right = _moved(op.lhs, counter, known), known.of(op.rhs)
    if predicate is arith.CmpIPredicate.ult and left is not None and right is not None and is_nonnegative(right):
        low, high = left.first(0), left.first(right)
        return None if low is None or high is None else _Interval(low, high)
    if predicate not in _SIGNED:
        return None
    is_below = predicate is arith.CmpIPredicate.slt
    if left is None or right is None:
        left, right, is_below = _moved(op.rhs, counter, known), known.of(op.lhs), not is_below
    if left is None or right is None:
        return None
    edge = left.first(right if is_below else right + 1)
    if edge is None:
        return None
    return _Interval(None, edge) if is_below else _Interval(edge, None)


@dataclass(frozen=True)
class _Moved:
    """`(factor * index + by) floordiv divisor` of a loop's index, the factor positive."""

    by: Dim
    divisor: int = 1
    factor: int = 1

    def first(self, value: Dim) -> Dim | None:
        """The first index for which it is at least a value; None where that is no extent."""
        reached = value * self.divisor - self.by
        if self.factor == 1:
            return reached
        return -(-reached // self.factor) if isinstance(reached, int) else None


def _moved(value: ir.Value, counter: ir.Value, known: KnownExtents) -> _Moved | None:
    """How a value follows from a loop's index, None where it does not by extents."""
    if value == counter:
        return _Moved(0)
    match value.owner:
        case arith.IndexCastOp() as op:
            return _moved(op.in_, counter, known) if is_wide(value.type) else None
        case arith.AddIOp() | arith.SubIOp() | arith.DivUIOp() | arith.MulIOp() as op:
            rest, by = _moved(op.lhs, counter, known), known.of(op.rhs)
        case _:
            return None
    if by is None or rest is None or not is_wide(value.type):
        return None
    moved, divisor, factor = rest.by, rest.divisor, rest.factor
    if isinstance(op, arith.MulIOp):
        if not isinstance(by, int) or by < 1 or divisor != 1:
            return None
        moved, factor = moved * by, factor * by
    elif not isinstance(op, arith.DivUIOp):
        moved += (by if isinstance(op, arith.AddIOp) else -by) * divisor
    elif isinstance(by, int) and is_nonnegative(moved):  # of a negative index it is another
        divisor *= by
    else:
        return None
    is_small = all(abs(each) < _NO_OVERFLOW for each in (moved, divisor, factor) if isinstance(each, int))
    return _Moved(moved, divisor, factor) if is_small else None


# --- conditions that do not change in the loop ------------------------------------------------------------------------


def _chosen_once(loop: scf.ForOp) -> bool:
    """Of an innermost loop, make one where a condition from outside holds and one where it does not, if there is one.

    The last condition decides the most: what it does not choose goes, with the conditions of its own.
    """
    ops = list(ops_inside(loop.operation))
    if 2 * len(ops) > MAX_PART_OPS:
        return False
    inner = {op.operation for op in ops}
    conditions = (op.operands[0] for op in reversed(ops) if isinstance(op, scf.IfOp | arith.SelectOp))
    outside = (each for each in conditions if isinstance(each.owner, ir.OpView) and each.owner.operation not in inner)
    condition = next((each for each in outside if not isinstance(each.owner, arith.ConstantOp)), None)
    if condition is None:
        return False
    with ir.InsertionPoint(loop), loop.location:
        branch = scf.IfOp(condition, [each.type for each in loop.results], has_else=True)
        for block, holds in ((branch.then_block, True), (branch.else_block, False)):
            assert block is not None
            with ir.InsertionPoint(block):
                scf.yield_(list(_clone(loop, {}, {condition: holds}).results))
    _replace(loop, list(branch.results))
    return True


# --- the rest of vectors ----------------------------------------------------------------------------------------------


def _overlapped(loop: scf.ForOp, known: KnownExtents, unit: VectorUnit) -> None:
    """Split a loop that writes rows on the stack into whole vectors and the last one, if it has more than one."""
    ops = list(ops_inside(loop.operation))
    rows = [op.memref for op in ops if isinstance(op, memref.StoreOp)]
    read = [op.memref for op in ops if isinstance(op, memref.LoadOp)]
    if not rows or LOOP_ANNOTATION in loop.attributes or any(_stands_in_order(op) for op in ops):
        return
    if not all(isinstance(row.owner, memref.AllocaOp) and row not in read for row in rows):
        return
    low, high = known.of(loop.lowerBound), known.of(loop.upperBound)
    if list(loop.initArgs) or known.of(loop.step) != 1 or not isinstance(low, int) or not isinstance(high, int):
        return
    lanes = 8 * unit.register_bytes // max(_bits(row) for row in rows)
    over = (high - low) % lanes
    if high - low < lanes or 2 * over < lanes:  # a few are as fast one by one
        return
    with ir.InsertionPoint(loop), loop.location:
        end, start = known.value(high - over), known.value(high - lanes)
        whole, last = _clone(loop, {}), _clone(loop, {})
        whole.operation.operands[1], last.operation.operands[0] = end, start
    loop.operation.erase()


def _stands_in_order(op: ir.OpView) -> bool:
    """Whether an op is a choice, or reads or writes memory otherwise than an element at a time."""
    if isinstance(op, memref.LoadOp | memref.StoreOp):
        return False
    return isinstance(op, scf.IfOp) or any(isinstance(each.type, ir.MemRefType) for each in op.operands)


def _bits(row: ir.Value) -> int:
    """The bits of an element of memory."""
    element = ir.MemRefType(row.type).element_type
    assert isinstance(element, ir.FloatType | ir.IntegerType)  # rows are of numbers
    return element.width


# --- parts ------------------------------------------------------------------------------------------------------------


def _clone(loop: scf.ForOp, decided: dict[int, bool], outside: dict[ir.Value, bool] | None = None) -> scf.ForOp:
    """A copy of a loop at the insertion point, in which conditions are decided: by place, or of values from outside."""
    outside = outside or {}
    i1 = ir.IntegerType.get_signless(1)
    known = {holds: number(int(holds), i1) for holds in {*decided.values(), *outside.values()}}
    copy = loop.operation.clone(ir.InsertionPoint.current)
    assert isinstance(copy, scf.ForOp)
    for at, op in enumerate(ops_inside(copy.operation)):
        if at in decided:
            op.results[0].replace_all_uses_with(known[decided[at]])
        for position, operand in enumerate(op.operands if outside else ()):
            if operand in outside:
                op.operation.operands[position] = known[outside[operand]]
    return copy


def _replace(loop: scf.ForOp, results: Sequence[ir.Value]) -> None:
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.operation.erase()
