"""A Tiny program in the making, as plain data: typed steps that no MLIR context is needed for.

Inputs and steps are added one after another; each step is typed by `tinyc.vocabulary.infer` as it is added. Values are
numbered in the order in which they come. `tinyc.dialects.tiny.emit_steps` turns steps into IR.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tinyc.diagnostics import TinycError, Where
from tinyc.expr.extents import MAX_TEXT, bind_option
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.infer import Assumption, check_extents, infer
from tinyc.vocabulary.types import TensorType


@dataclass
class TypedStep:
    """One Tiny op: operands and results are value numbers, `first` that of its first result; `where` names its node."""

    op: str
    first: int
    operands: tuple[int, ...]
    arguments: Mapping[str, Any]
    types: tuple[TensorType, ...]
    where: Where


@dataclass(frozen=True)
class TypedInput:
    """One argument of the program: the value with its tensor id, type and node, and whether it is a weight."""

    value: int
    name: str
    type: TensorType
    where: Where
    is_weight: bool = False


class Steps:
    """The program so far. `outputs` are (name, value) pairs; `assumptions` stand in the order in which they came up."""

    def __init__(self) -> None:
        self.inputs: list[TypedInput] = []
        self.steps: list[TypedStep] = []
        self.types: list[TensorType] = []
        self.assumptions: dict[Assumption, None] = {}
        self.outputs: list[tuple[str, int]] = []

    def input(self, name: str, tensor: TensorType, where: Where, is_weight: bool = False) -> int:
        """Add an argument and return its value."""
        check_extents(tensor)
        self.inputs.append(TypedInput(len(self.types), name, tensor, where, is_weight))
        self.types.append(tensor)
        return self.inputs[-1].value

    def add(self, op: str, operands: Sequence[int], arguments: Mapping[str, Any], where: Where) -> int:
        """Add a step and return its first value; the others follow it.

        Raises:
            TinycError: the broken typing rule.
        """
        inferred = infer(op, [self.types[operand] for operand in operands], arguments)
        for assumption in inferred.assumptions:
            self.assume(replace(assumption, where=where))
        first = len(self.types)
        self.steps.append(TypedStep(op, first, tuple(operands), arguments, inferred.types, where))
        self.types += inferred.types
        return first

    def assume(self, assumption: Assumption) -> None:
        """Add a relation that must hold at run time."""
        if max(len(str(assumption.lhs)), len(str(assumption.rhs))) > MAX_TEXT:
            message = f"a relation between extents is longer than {MAX_TEXT} characters; bind their symbols: "
            raise TinycError("InvalidExtent", message + bind_option(assumption.lhs, assumption.rhs))
        self.assumptions[assumption] = None

    def placeholder(self, tensor: TensorType) -> int:
        """A value that no step computes: it stands for a faulty one while what reads it is checked."""
        self.types.append(tensor)
        return len(self.types) - 1

    def constant(self, value: bool | int | float, tensor: TensorType, where: Where) -> int:
        """Add a constant of a type, the same everywhere, and return it."""
        return self.add("const", (), {"value": value, "element": tensor.element, "shape": tensor.shape}, where)

    def cast(self, operand: int, element: ElementType, where: Where) -> int:
        """Add a conversion, unless the value has that element type, and return the result."""
        if self.types[operand].element == element:
            return operand
        return self.add("cast", (operand,), {"element": element}, where)
