"""Which values of a kernel are written where they are used, and which get a name: what makes its CUDA text read well.

In: a function at the scalar level. Out: a `Folding`. A pure op with one use is part of the expression that uses it,
unless that grows too long or stands in an inner loop. A load is, only where nothing may write memory between the two.
An `scf.if` that only chooses between two such expressions is a `? :`.
"""

import bisect
from collections.abc import Container, Iterator

from tinyc.dialects.cuda.printer.types import constant_of
from tinyc.dialects.gpu.kernel import Position
from tinyc.dialects.gpu.statements import READING_OPS, SCALAR_OPS, AddressOp, InstructionOp, MapAddressOp
from tinyc.mlir import arith, func, gpu, ir, memref, scf

#: Ops of the scalar level's own that may only compute.
PURE_SCALAR_OPS = (AddressOp, MapAddressOp, InstructionOp)
#: How many ops an expression has at most.
MAX_OPS = 10
#: How many ops of words are written in a loop at most that would do before it.
_MOST_AGAIN = 4
#: How many ops a row has at most where it is written again with each of its elements.
_MOST_OF_ROW = 3


def inner_blocks(op: ir.OpView) -> Iterator[ir.Block]:
    """Yield the blocks of an op's regions."""
    for region in op.regions:
        yield from region.blocks


def is_pure(op: ir.OpView) -> bool:
    """Whether an op only computes, so that it matters only where its results do."""
    if isinstance(op, InstructionOp):
        return op.entry.pure and len(op.results) == 1 and not op.entry.updated
    return isinstance(op, (*PURE_SCALAR_OPS, func.CallOp)) or op.operation.name.startswith(("arith.", "math."))


def writes_memory(op: ir.OpView) -> bool:
    """Whether an op writes memory, or waits for others to."""
    if isinstance(op, InstructionOp) and op.entry.pure:
        return False
    does = isinstance(op, (memref.StoreOp, gpu.BarrierOp, *SCALAR_OPS))
    return does and not isinstance(op, (*READING_OPS, AddressOp, MapAddressOp))


def is_free(op: ir.OpView) -> bool:
    """Whether an op costs nothing: a constant, or a conversion between `index` and i64, written at each use."""
    if isinstance(op, arith.IndexCastOp):
        return {str(op.in_.type), str(op.out.type)} == {"index", "i64"}
    return isinstance(op, arith.ConstantOp)


class Folding:
    """The decisions for one function.

    `folded` holds the values that are written where they are used; `dead` the values that nothing needs;
    `choices` the `scf.if`s that are conditional expressions.
    """

    def __init__(self, body: ir.Block, words: Container[ir.Value] = ()) -> None:
        self._words = words
        self.folded: set[ir.Value] = set()
        self.dead: set[ir.Value] = set()
        self.choices: set[ir.OpView] = set()
        self._order: list[ir.OpView] = []
        self._place: dict[ir.OpView, tuple[ir.Block, int]] = {}  # op → its block and its number among the ops there
        self._writing: set[ir.OpView] = set()
        self._writes: dict[ir.Block, list[int]] = {}  # block → the numbers of the ops that write
        self._sizes: dict[ir.Value, int] = {}
        self._index(body)
        self._find_dead()
        for op in self._order:
            self._fold(op)
        self._keep_loads_in_order()

    def _index(self, block: ir.Block) -> bool:
        """Put the ops in order, those inside an op before it; return whether one of them writes."""
        writes = self._writes.setdefault(block, [])
        for number, op in enumerate(block.operations):
            self._place[op] = (block, number)
            inner = [self._index(inside) for inside in inner_blocks(op)]
            if writes_memory(op) or any(inner):
                self._writing.add(op)
                writes.append(number)
            self._order.append(op)
        return bool(writes)

    def _users(self, value: ir.Value) -> list[ir.OpView]:
        return [use.owner for use in value.uses if not self._is_dead(use.owner)]

    def _is_dead(self, op: ir.OpView) -> bool:
        return len(op.results) > 0 and all(result in self.dead for result in op.results)

    def _find_dead(self) -> None:
        loops = [op for op in self._order if isinstance(op, scf.ForOp)]
        count = -1
        while count < len(self.dead):  # what one value is carried for may be carried for nothing itself
            count = len(self.dead)
            for loop in loops:
                for number in range(len(loop.results)):
                    self.dead.update(_carried_for_nothing(loop, number, self.dead))
        for op in reversed(self._order):
            if is_pure(op) or isinstance(op, memref.LoadOp):
                self.dead.update(result for result in op.results if not self._users(result))

    def _fold(self, op: ir.OpView) -> None:
        if isinstance(op, scf.IfOp) and len(op.results) == 1 and self._is_choice(op):
            self.choices.add(op)
        if isinstance(op, Position) and all(map(self._is_word_of_index, self._users(op.results[0]))):
            self.folded.add(op.results[0])
        if not (is_pure(op) or isinstance(op, memref.LoadOp) or op in self.choices):
            return
        size = 1 + sum(self._sizes.get(operand, 0) for operand in self._inputs(op) if operand in self.folded)
        for result in op.results:
            self._sizes[result] = 0 if is_free(op) else size
            users = self._users(result)
            short = size <= MAX_OPS or all(isinstance(user, memref.StoreOp) for user in users)
            once = len(users) == 1 and short and self._reaches(op, users[0])
            if is_free(op) or once or self._is_place(op):
                self.folded.add(result)

    def _is_word_of_index(self, op: ir.OpView) -> bool:
        return isinstance(op, arith.IndexCastOp) and op.out in self._words

    def _is_place(self, op: ir.OpView) -> bool:
        """Whether an op says a place in so few words that it reads best wherever it is used.

        That is so many elements or rows behind another place, the same as a position, a function of such, and in a tile
        where that function says.
        """
        inputs = list(op.operands)
        if not inputs or any(str(each.type) == "i32" and not self._is_word(each) for each in inputs):
            return False
        if isinstance(op, arith.AddIOp) and self._is_address(op.lhs):
            is_in_tile = isinstance(op.rhs.owner, func.CallOp) and op.rhs in self.folded
            return (is_in_tile and op.lhs not in self.folded) or self._is_number_behind(op)
        if isinstance(op, arith.AddIOp):
            is_place = self._is_word(op.lhs) or (bool(self._words) and isinstance(op.result.type, ir.IndexType))
            is_short = constant_of(op.rhs) is not None or (is_place and self._is_name(op.lhs) and self._is_name(op.rhs))
            return is_place and is_short and op.lhs not in self.folded and not _is_of_loop(op.lhs)
        if isinstance(op, arith.MulIOp):
            return bool(self._words) and any(map(_is_extent, op.operands)) and any(map(self._is_row, op.operands))
        is_same = isinstance(op, arith.IndexCastOp) and self._is_word(op.in_)
        is_other = isinstance(op, func.CallOp) or (is_same and not isinstance(inputs[0].owner, arith.SelectOp))
        return is_other and all(self._sizes.get(each, 0) <= 1 or each not in self.folded for each in inputs)

    def _is_number_behind(self, op: arith.AddIOp) -> bool:
        """Whether an address is so many bytes behind one that has a name, or behind where something is in a tile."""
        start = op.lhs.owner
        is_in_tile = isinstance(start, arith.AddIOp) and isinstance(start.rhs.owner, func.CallOp)
        return constant_of(op.rhs) is not None and (is_in_tile or op.lhs not in self.folded)

    def _is_row(self, value: ir.Value) -> bool:
        """Whether what is multiplied by an extent is a number, or so many rows behind a place that has a name."""
        return (
            constant_of(value) is not None
            or self._is_name(value)
            or (value in self.folded and self._sizes[value] <= _MOST_OF_ROW)
        )

    def _is_name(self, value: ir.Value) -> bool:
        """Whether a position is written as a name, or as a word's."""
        op = value.owner
        named = op.in_ if isinstance(op, arith.IndexCastOp) and self._is_word(op.in_) else value
        return isinstance(value.type, ir.IndexType) and named not in self.folded and not _is_of_loop(named)

    def _is_word(self, value: ir.Value) -> bool:
        return value in self._words or constant_of(value) is not None

    def _is_address(self, value: ir.Value) -> bool:
        op = value.owner
        return isinstance(op, AddressOp) or (
            isinstance(op, arith.AddIOp) and (self._is_address(op.lhs) or self._is_address(op.rhs))
        )

    def _inputs(self, op: ir.OpView) -> Iterator[ir.Value]:
        """Yield what an op's expression is made of."""
        yield from op.operands
        for block in inner_blocks(op):
            yield from terminator(block).operands

    def _is_choice(self, op: scf.IfOp) -> bool:
        """Whether both branches of an `scf.if` are one expression each."""
        bodies = [list(block.operations) for block in inner_blocks(op)]
        return (
            "tgpu.comment" not in op.attributes
            and all(
                result in self.folded or result in self.dead
                for body in bodies
                for each in body[:-1]
                for result in each.results
            )
            and not any(each in self._writing for body in bodies for each in body)
        )

    def _reaches(self, op: ir.OpView, user: ir.OpView) -> bool:
        """Whether `user` is not inside of a loop that `op` is outside of, nor evaluates it again and again."""
        block, _ = self._place[op]
        if is_bound(op, user) and self._sizes[op.results[0]] > 2:
            return False
        at = user
        is_place = op.results[0] in self._words and self._sizes[op.results[0]] <= _MOST_AGAIN
        while self._place[at][0] != block:
            at = self._place[at][0].owner.opview
            if not (isinstance(at, scf.IfOp) or is_place):
                return False
        return True

    def _keep_loads_in_order(self) -> None:
        """Name the loads that would else be written behind something that may write memory."""
        for op in reversed(self._order):
            reads = isinstance(op, memref.LoadOp) or (op in self.choices and self._loads_inside(op))
            if reads and op.results[0] in self.folded and not self._may_move(op):
                self.folded.discard(op.results[0])

    def _loads_inside(self, op: ir.OpView) -> bool:
        inside = (each for block in inner_blocks(op) for each in block.operations)
        return any(isinstance(each, memref.LoadOp) or self._loads_inside(each) for each in inside)

    def _may_move(self, op: ir.OpView) -> bool:
        block, number = self._place[op]
        user = op
        while user == op or (user.results and all(result in self.folded for result in user.results)):
            users = [each for result in user.results for each in self._users(result)]
            if len(users) != 1 or self._place[users[0]][0] != block:
                return False
            (user,) = users
            if is_bound(op, user):
                return False
        writes = self._writes[block]
        after = bisect.bisect_right(writes, number)
        return after == len(writes) or writes[after] >= self._place[user][1]


def _is_of_loop(value: ir.Value) -> bool:
    return isinstance(value, ir.BlockArgument) and isinstance(value.owner.owner.opview, scf.ForOp)


def _is_extent(value: ir.Value) -> bool:
    """Whether a value is an extent, which a kernel has as an argument."""
    return isinstance(value, ir.BlockArgument) and isinstance(value.type, ir.IndexType) and not _is_of_loop(value)


def _carried_for_nothing(loop: scf.ForOp, number: int, dead: Container[ir.Value]) -> list[ir.Value]:
    """What a loop carries and computes from it, where that is for the next time alone, and begins as a number."""
    found: list[ir.Value] = [loop.inner_iter_args[number]]
    if list(loop.results[number].uses) or constant_of(loop.initArgs[number]) is None:
        return []
    for value in found:  # which grows
        for use in value.uses:
            op = use.owner
            if isinstance(op, scf.YieldOp) and op == terminator(loop.body):
                if use.operand_number == number or loop.inner_iter_args[use.operand_number] in dead:
                    continue
                return []
            if not is_pure(op) or op.operation.block != loop.body:
                return []
            found += op.results
    return found


def is_bound(op: ir.OpView, user: ir.OpView) -> bool:
    """Whether `user` is a loop, of which `op` is a bound or the step: evaluated at each iteration."""
    return isinstance(user, scf.ForOp) and op.results[0] in (user.lowerBound, user.upperBound, user.step)


def terminator(block: ir.Block) -> ir.OpView:
    """The op that ends a block."""
    return block.operations[len(block.operations) - 1]
