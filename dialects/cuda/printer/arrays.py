"""Values of a kernel that are held together: elements of an array, where instructions give or update many at once.

In: the ops of a function at the scalar level. Out: which values are elements of which array. SSA names each state of an
accumulator; here all states are one element, where each state has one use, the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.dialects.gpu.statements import InstructionOp
from tinyc.mlir import arith, ir, scf

_IN_ROW = 8


@dataclass(frozen=True)
class Element:
    """An element of an array."""

    array: str
    number: int

    def __str__(self) -> str:
        """It as C++ has it."""
        return f"{self.array}[{self.number}]"

    @property
    def address(self) -> str:
        """Where it is, which is where those behind it follow."""
        return f"&{self}"


class ValueArrays:
    """The elements that values are held in."""

    def __init__(self) -> None:
        self._elements: dict[ir.Value, Element] = {}

    def hold(self, values: Sequence[ir.Value], first: Element) -> None:
        """Note that values are the elements from `first` on."""
        for number, value in enumerate(values):
            self._elements[value] = Element(first.array, first.number + number)

    def element(self, value: ir.Value) -> Element | None:
        """The element that a value is held in."""
        return self._elements.get(value)

    def together(self, values: Sequence[ir.Value]) -> Element | None:
        """The first of these values' elements, where they follow each other in one array."""
        first = self._elements.get(values[0])
        if first is None:
            return None
        wanted = [Element(first.array, first.number + number) for number in range(len(values))]
        return first if [self._elements.get(value) for value in values] == wanted else None

    def free(self, values: Sequence[ir.Value], op: ir.OpView) -> Element | None:
        """The first of their elements, where `op` may overwrite them: it is the only use, and as often done."""
        first = self.together(values)
        if first is None or any(len(list(value.uses)) > 1 or _block(value) != op.operation.block for value in values):
            return None
        return first

    def groups(self, loop: scf.ForOp) -> list[range]:
        """The numbers of the values that a loop carries in arrays, those of each array together."""
        found: list[range] = []
        for number, value in enumerate(loop.inner_iter_args):
            if not _is_updated(value):
                continue
            if found and found[-1].stop == number and self._follows(loop, number):
                found[-1] = range(found[-1].start, number + 1)
            else:
                found.append(range(number, number + 1))
        return found

    def _follows(self, loop: scf.ForOp, number: int) -> bool:
        before, start = loop.initArgs[number - 1], loop.initArgs[number]
        last, this = self._elements.get(before), self._elements.get(start)
        beside = None if last is None else Element(last.array, last.number + 1)
        return before.type == start.type and this == beside

    def named(self, loop: scf.ForOp) -> list[ir.Value]:
        """The values that a loop carries which get a name: of those in an array the first, where that is its own."""
        variables = list(loop.inner_iter_args)
        held = [_is_updated(value) for value in variables]
        first = [
            is_held and not (number and held[number - 1] and variables[number - 1].type == value.type)
            for number, (value, is_held) in enumerate(zip(variables, held, strict=True))
        ]
        own = [isinstance(start.owner, arith.ConstantOp) for start in loop.initArgs]
        pairs = zip(variables, held, first, own, strict=True)
        return [value for value, is_held, is_first, is_own in pairs if not is_held or (is_first and is_own)]

    def declared(self, op: InstructionOp) -> list[ir.Value]:
        """The value that the array which begins with an instruction's results is named after, if there is one."""
        return [] if op.entry.updated or part_of(op)[1] else [op.results[0]]


def array_lines(kind: str, name: str, texts: Sequence[str]) -> list[str]:
    """The declaration of an array that begins as these elements."""
    start = f"{kind} {name}[{len(texts)}] = {{"
    if set(texts) <= {"0", "0.f"}:
        return [f"{start}}};"]
    rows = [texts[at : at + _IN_ROW] for at in range(0, len(texts), _IN_ROW)]
    return [start, *(f"  {', '.join(row)}," for row in rows), "};"]


def part_of(op: InstructionOp) -> tuple[str, int, int]:
    """Of which array an instruction's results are a part: what it is called, the number of the first, and its size."""
    note = op.attributes.get("tgpu.part_of", None)
    if not isinstance(note, ir.DictAttr):
        return "", 0, len(op.results)
    first, size = ir.DenseI64ArrayAttr(note["place"])
    return ir.StringAttr(note["array"]).value, first, size


def _is_updated(value: ir.Value) -> bool:
    """Whether an instruction updates a value, in whatever loop."""
    for use in value.uses:
        op = use.owner
        if isinstance(op, InstructionOp) and use.operand_number < len(op.updated):
            return True
        if isinstance(op, scf.ForOp) and _is_updated(op.inner_iter_args[use.operand_number - 3]):
            return True
    return False


def _block(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
