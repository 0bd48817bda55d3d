"""A piece of an expression as text, which knows how tightly it binds, so that only the brackets that are needed stand.

Expressions are put together here; what each op is written as is in `expressions`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tinyc.diagnostics import TinycError, printable
from tinyc.dialects.cuda.printer.arrays import Element
from tinyc.dialects.cuda.printer.types import is_narrow, type_name
from tinyc.dialects.gpu.statements import AddressOp, InstructionOp, MapAddressOp
from tinyc.mlir import ir
from tinyc.mlir.locations import around, where

#: How tightly operators bind, the tightest first.
ATOM, PREFIX, PRODUCT, SUM, SHIFT, RELATION, EQUALITY, AND, OR, CHOICE = 16, 15, 13, 12, 11, 10, 9, 5, 4, 3
#: & ^ |: their operands are bracketed unless they are atoms, since few know how these bind.
BITWISE = 8


@dataclass(frozen=True)
class CppText:
    """An expression and the precedence of its outermost operator."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """The text as an operand of an operator that asks for `level` or tighter."""
        return self.text if self.level >= level else f"({self.text})"


class ExpressionPrinter(Protocol):
    """What an expression asks of the function that it stands in, which is the device's or the host's."""

    on_host: bool

    def operand(self, value: ir.Value) -> CppText:
        """A value as an operand: its name, or its expression."""
        ...

    def buffer(self, value: ir.Value) -> str:
        """The name of a buffer or an array."""
        ...

    def name_of_parts(self, values: Sequence[ir.Value]) -> str:
        """A new name for values that are held together, each of which is a part of it from then on."""
        ...

    def name(self, value: ir.Value) -> str:
        """A new name for a value, which a statement is about to declare."""
        ...

    def updated(self, op: InstructionOp) -> Element:
        """Where what an instruction updates begins: where it is held, or in a new array with a copy of it."""
        ...

    def given(self, op: InstructionOp) -> Element:
        """Where the results of an instruction begin: in an array of their own, or in that which they are a part of."""
        ...

    def fragment(self, values: Sequence[ir.Value]) -> str:
        """Where values are that an instruction takes as one, in the order of an array: a new one, if they have none."""
        ...

    def is_word(self, value: ir.Value) -> bool:
        """Whether a value of type i32 is written as `uint32_t`."""
        ...

    def type_of(self, value: ir.Value) -> str:
        """The C++ type of a value."""
        ...

    def instruction(self, name: str) -> str:
        """The name of the function that is an instruction, which the file then has."""
        ...

    def helper(self, name: str) -> str:
        """The name of a function of the prelude, which the file then has."""
        ...

    def fold_constants(self, op: ir.OpView) -> CppText | None:
        """The number that an `index` op on two constants gives, where that is written shorter."""
        ...

    def is_nonnegative(self, value: ir.Value) -> bool:
        """Whether an `index` or integer is known not to be negative."""
        ...


#: How an op is written: from the function's printer, the op and the number of the result.
Writer = Callable[[ExpressionPrinter, ir.OpView, int], CppText]


def call(name: str, *operands: CppText) -> CppText:
    """A call of a function."""
    return CppText(f"{name}({', '.join(operand.text for operand in operands)})")


def infix(symbol: str, level: int, left: CppText, right: CppText, associative: bool = False) -> CppText:
    """An operator between two operands."""
    return CppText(f"{left.within(level)} {symbol} {right.within(level if associative else level + 1)}", level)


def converted(kind: str, operand: CppText) -> CppText:
    """An operand converted to the type named `kind`."""
    return CppText(f"{kind}({operand.text})")


def choice(kind: ir.Type, condition: CppText, if_true: CppText, if_false: CppText) -> CppText:
    """`condition ? if_true : if_false`."""
    if str(kind) == "i1" and if_false.text == "false":
        return infix("&&", AND, condition, if_true, associative=True)
    text = f"{condition.within(OR)} ? {if_true.within(OR)} : {if_false.within(CHOICE)}"
    return converted(type_name(kind), CppText(text)) if is_narrow(kind) else CppText(text, CHOICE)


def is_pointer(value: ir.Value) -> bool:
    """Whether a value is an address in global memory that only instructions take: a pointer, then."""
    op = value.owner
    is_address = isinstance(op, AddressOp | MapAddressOp) and str(value.type) == "i64"
    return is_address and all(isinstance(use.owner, InstructionOp) for use in value.uses)


def comment_text(text: str) -> str:
    """A text as a comment to the end of a line can hold it."""
    return printable(text).rstrip("\\")


def unspelt(op: ir.OpView | ir.Block) -> TinycError:
    """The error for what CUDA text has no spelling for."""
    if isinstance(op, ir.Block):
        return TinycError("InvalidIr", "CUDA text cannot refer to the argument of a block; run --gpu-expand first")
    name = op.operation.name
    remedy = "name its C function in the row's c_functions" if name.startswith("math.") else "run --gpu-expand first"
    message = f"CUDA text has no spelling for '{name}'; {remedy}"
    return TinycError("InvalidIr", message, where(around(op)))
