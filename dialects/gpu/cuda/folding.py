"""Which values of a kernel are written where they are used, and which get a name: what makes its CUDA text read well.

In: a function at the scalar level. Out: a `Folding`. A pure op with one use is part of the expression that uses it,
unless that grows too long or stands in an inner loop. A load is, only where nothing may write memory between the two.
An `scf.if` that only chooses between two such expressions is a `? :`.
"""

import bisect
from collections.abc import Iterator
from typing import Any

#: How many ops an expression has at most.
MAX_OPS = 10
#: Ops that write memory, or wait for others to.
WRITES = frozenset(("memref.store", "gpu.barrier", "tgpu.atomic_add", "tgpu.report_index"))
#: Ops that are no more than a number or another name for one, and are written at each use.
_FREE = frozenset(("arith.constant", "arith.index_cast"))
_LOAD = "memref.load"


def inner_blocks(op: Any) -> Iterator[Any]:
    """Yield the blocks of an op's regions."""
    for region in op.regions:
        yield from region.blocks


def is_pure(op: Any) -> bool:
    """Say whether an op only computes, so that it matters only where its results do."""
    return op.name.startswith(("arith.", "math."))


def is_free(op: Any) -> bool:
    """Say whether an op costs nothing: a constant, or a conversion between `index` and i64."""
    if op.name == "arith.index_cast":
        return {str(op.operands[0].type), str(op.results[0].type)} == {"index", "i64"}
    return op.name in _FREE


class Folding:
    """The decisions for one function.

    `folded` holds the values that are written where they are used; `dead` the values that nothing needs;
    `choices` the `scf.if`s that are conditional expressions.
    """

    def __init__(self, function: Any) -> None:
        self.folded: set[Any] = set()
        self.dead: set[Any] = set()
        self.choices: set[Any] = set()
        self._order: list[Any] = []
        self._place: dict[Any, tuple[Any, int]] = {}  # op → its block and its number among the ops there
        self._writing: set[Any] = set()
        self._writes: dict[Any, list[int]] = {}  # block → the numbers of the ops that write
        self._sizes: dict[Any, int] = {}
        self._index(function.operation.regions[0].blocks[0])
        self._find_dead()
        for op in self._order:
            self._fold(op)
        self._keep_loads_in_order()

    def _index(self, block: Any) -> bool:
        """Put the ops in order, those inside an op before it; return whether one of them writes."""
        writes = self._writes.setdefault(block, [])
        for number, each in enumerate(block.operations):
            op = each.operation
            self._place[op] = (block, number)
            inner = [self._index(inside) for inside in inner_blocks(op)]
            if op.name in WRITES or any(inner):
                self._writing.add(op)
                writes.append(number)
            self._order.append(op)
        return bool(writes)

    def _users(self, value: Any) -> list[Any]:
        return [use.owner.operation for use in value.uses if not self._is_dead(use.owner.operation)]

    def _is_dead(self, op: Any) -> bool:
        return len(op.results) > 0 and all(result in self.dead for result in op.results)

    def _find_dead(self) -> None:
        for op in reversed(self._order):
            if is_pure(op) or op.name == _LOAD:
                self.dead.update(result for result in op.results if not self._users(result))

    def _fold(self, op: Any) -> None:
        if op.name == "scf.if" and len(op.results) == 1 and self._is_choice(op):
            self.choices.add(op)
        if not (is_pure(op) or op.name == _LOAD or op in self.choices):
            return
        size = 1 + sum(self._sizes.get(operand, 0) for operand in self._inputs(op) if operand in self.folded)
        for result in op.results:
            self._sizes[result] = 0 if is_free(op) else size
            users = self._users(result)
            short = size <= MAX_OPS or all(user.name == "memref.store" for user in users)
            if is_free(op) or (len(users) == 1 and short and self._reaches(op, users[0])):
                self.folded.add(result)

    def _inputs(self, op: Any) -> Iterator[Any]:
        """Yield what an op's expression is made of."""
        yield from op.operands
        for block in inner_blocks(op):
            yield from block.operations[len(block.operations) - 1].operands

    def _is_choice(self, op: Any) -> bool:
        """Say whether both branches of an `scf.if` are one expression each."""
        bodies = [[each.operation for each in block.operations] for block in inner_blocks(op)]
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

    def _reaches(self, op: Any, user: Any) -> bool:
        """Say whether `user` is not inside of a loop that `op` is outside of, nor evaluates it again and again."""
        block, _ = self._place[op]
        if user.name == "scf.for" and op.results[0] in list(user.operands)[:3] and self._sizes[op.results[0]] > 2:
            return False
        at = user
        while self._place[at][0] != block:
            at = self._place[at][0].owner.operation
            if at.name != "scf.if":
                return False
        return True

    def _keep_loads_in_order(self) -> None:
        """Name the loads that would else be written behind something that may write memory."""
        for op in reversed(self._order):
            reads = op.name == _LOAD or (op in self.choices and self._loads_inside(op))
            if reads and op.results[0] in self.folded and not self._may_move(op):
                self.folded.discard(op.results[0])

    def _loads_inside(self, op: Any) -> bool:
        return any(
            each.operation.name == _LOAD or self._loads_inside(each.operation)
            for block in inner_blocks(op)
            for each in block.operations
        )

    def _may_move(self, op: Any) -> bool:
        block, number = self._place[op]
        user = op
        while user == op or (user.results and all(result in self.folded for result in user.results)):
            users = [each for result in user.results for each in self._users(result)]
            if len(users) != 1 or self._place[users[0]][0] != block:
                return False
            (user,) = users
            if user.name == "scf.for" and op.results[0] in list(user.operands)[:3]:
                return False
        writes = self._writes[block]
        after = bisect.bisect_right(writes, number)
        return after == len(writes) or writes[after] >= self._place[user][1]


def loop_variables(op: Any) -> list[Any]:
    """Return the values that an `scf.for` carries from one iteration to the next."""
    return list(op.regions[0].blocks[0].arguments)[1:]


def terminator(block: Any) -> Any:
    """Return the op that ends a block."""
    return block.operations[len(block.operations) - 1].operation
