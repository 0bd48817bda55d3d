"""Which values of a kernel are words: 32-bit arithmetic on places, which C++ writes with `uint32_t`.

In: a function at the scalar level. Out: values of type i32. MLIR's integers have no sign; data of type i32 is written
as `int32_t`, whose arithmetic has to be spelt out, since it overflows. What goes to and comes from instructions are
numbers of threads, addresses in shared memory, and bits, of which no op asks for a sign: they wrap around as `uint32_t`
does. So all values that such arithmetic connects are words, where nothing that it meets has a sign.
"""

from collections.abc import Iterable, Iterator

from tinyc.dialects.cuda.printer.folding import inner_blocks, terminator
from tinyc.dialects.gpu.statements import AddressOp, InstructionOp
from tinyc.mlir import arith, func, gpu, ir, scf

#: Ops whose operands and results of type i32 are alike: words, or none is.
_ALIKE = (
    *(arith.AddIOp, arith.SubIOp, arith.MulIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, arith.ShLIOp, arith.ShRUIOp),
    *(arith.DivUIOp, arith.RemUIOp, arith.MinUIOp, arith.MaxUIOp, arith.SelectOp, gpu.ShuffleOp),
)
#: Ops that words come from, or go to, which say nothing of a sign.
_ANY = (arith.IndexCastOp, arith.ExtUIOp, arith.TruncIOp, arith.BitcastOp, AddressOp, func.CallOp)
_SIGNED = frozenset(
    (arith.CmpIPredicate.slt, arith.CmpIPredicate.sle, arith.CmpIPredicate.sgt, arith.CmpIPredicate.sge)
)


def words_of(body: ir.Block) -> set[ir.Value]:
    """The words of a function; none where it has no instructions."""
    ops = list(_all(body))
    if not any(isinstance(op, InstructionOp) for op in ops):
        return set()
    found = _Connected()
    for op in ops:
        _visit(found, op)
    return found.words()


def _all(block: ir.Block) -> Iterator[ir.OpView]:
    for op in block.operations:
        yield op
        for inner in inner_blocks(op):
            yield from _all(inner)


class _Connected:
    """Values of type i32 in sets that are words or not; constants are in none."""

    def __init__(self) -> None:
        self._leader: dict[ir.Value, ir.Value] = {}
        self._signed: list[ir.Value] = []

    def alike(self, values: Iterable[ir.Value]) -> None:
        """Note values that are alike."""
        kept = [each for each in values if str(each.type) == "i32" and not _is_constant(each)]
        for each in kept:
            self._leader[self._find(each)] = self._find(kept[0])

    def signed(self, values: Iterable[ir.Value]) -> None:
        """Note values that have a sign."""
        self._signed += [each for each in values if str(each.type) == "i32"]

    def words(self) -> set[ir.Value]:
        """What is left."""
        signed = {self._find(each) for each in self._signed}
        return {each for each in self._leader if self._find(each) not in signed}

    def _find(self, value: ir.Value) -> ir.Value:
        path = [value]
        while self._leader.setdefault(path[-1], path[-1]) != path[-1]:
            path.append(self._leader[path[-1]])
        self._leader.update(dict.fromkeys(path, path[-1]))
        return path[-1]


def _is_constant(value: ir.Value) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


def _visit(found: _Connected, op: ir.OpView) -> None:
    if isinstance(op, InstructionOp):
        found.signed(op.updated)
        if op.entry.updated:
            found.signed(op.results)
        for each in (*op.words, *op.results):
            found.alike([each])
    elif isinstance(op, _ALIKE):
        found.alike([*op.operands, *op.results])
    elif isinstance(op, arith.CmpIOp):
        found.alike(op.operands)
        if arith.CmpIPredicate(ir.IntegerAttr(op.predicate).value) in _SIGNED:
            found.signed(op.operands)
    elif isinstance(op, scf.ForOp):
        found.alike([op.lowerBound, op.upperBound, op.step, op.induction_variable])
        for each in zip(op.initArgs, op.inner_iter_args, op.results, terminator(op.body).operands, strict=True):
            found.alike(each)
    elif isinstance(op, scf.IfOp):
        for each in zip(op.results, *(terminator(block).operands for block in inner_blocks(op)), strict=False):
            found.alike(each)
    elif isinstance(op, _ANY):
        for each in (*op.operands, *op.results):
            found.alike([each])
    elif not isinstance(op, scf.YieldOp | arith.ConstantOp):
        found.signed([*op.operands, *op.results])
