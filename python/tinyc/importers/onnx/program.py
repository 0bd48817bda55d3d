"""A Frontend program in the making, as plain data: typed ops that no MLIR context is needed for.

Values are numbered in the order in which they come. `emit` turns the finished program into IR.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.diagnostics import Where
from tinyc.expr.assumption import Assumption
from tinyc.formulas.registry import result_types
from tinyc.formulas.schema import Schema
from tinyc.formulas.steps import TypedInput
from tinyc.vocabulary.infer import check_extents
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class TypedOp:
    """One op: its operands are values by the names of its formula, `first` is the value of its first result."""

    schema: Schema
    first: int
    operands: Mapping[str, int]
    attributes: Mapping[str, Any]
    types: tuple[TensorType, ...]
    where: Where

    @property
    def values(self) -> range:
        """Its results."""
        return range(self.first, self.first + len(self.types))


@dataclass(frozen=True)
class TypedConstant:
    """A constant: an array, or one number everywhere."""

    first: int
    value: np.ndarray | bool | int | float
    type: TensorType
    where: Where

    @property
    def values(self) -> range:
        """The one that it is."""
        return range(self.first, self.first + 1)


class FrontendProgram:
    """The program so far. `outputs` are (name, value) pairs; `assumptions` stand in the order in which they came up.

    `constants` are the values that have become constants, by what they are; `streams` counts those of random numbers.
    `asked` are the names of inputs that a handler had to know. `names` are those of the values that are nodes' outputs,
    or initialisers.
    """

    def __init__(self) -> None:
        self.inputs: list[TypedInput] = []
        self.ops: list[TypedOp | TypedConstant] = []
        self.types: list[TensorType] = []
        self.assumptions: dict[Assumption, None] = {}
        self.outputs: list[tuple[str, int]] = []
        self.constants: dict[int, tuple[object, int]] = {}
        self.streams = 0
        self.asked: dict[str, None] = {}
        self.names: dict[int, str] = {}

    def input(self, name: str, tensor: TensorType, where: Where) -> int:
        """Add an argument and return its value."""
        check_extents(tensor)
        self.inputs.append(TypedInput(len(self.types), name, tensor, where))
        self.types.append(tensor)
        return self.inputs[-1].value

    def constant(self, value: np.ndarray | bool | int | float, tensor: TensorType, where: Where) -> int:
        """Add a constant and return its value."""
        check_extents(tensor)
        self.ops.append(TypedConstant(len(self.types), value, tensor, where))
        self.types.append(tensor)
        return len(self.types) - 1

    def add(self, schema: Schema, operands: Mapping[str, int], attributes: Mapping[str, Any], where: Where) -> int:
        """Add an op and return its first value; the others follow it.

        Raises:
            TinycError: the broken rule of the op.
        """
        types = result_types(schema, {name: self.types[each] for name, each in operands.items()}, attributes)
        first = len(self.types)
        self.ops.append(TypedOp(schema, first, operands, attributes, types, where))
        self.types += types
        return first

    def next_stream(self) -> int:
        """The number of a stream of random numbers that no other node draws from."""
        self.streams += 1
        return self.streams

    def inputs_of(self, value: int) -> list[str]:
        """The names of the inputs that a value depends on."""
        wanted = {value}
        for op in reversed(self.ops):
            if isinstance(op, TypedOp) and not wanted.isdisjoint(op.values):
                wanted.update(op.operands.values())
        return [each.name for each in self.inputs if each.value in wanted]
