"""A rule: a pattern, and the op that it is. What it asks of a match, and what it adds, it does by `Matched`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.registry import schema_named
from tinyc.importers.onnx.patterns.language import Bindings, ValuePattern
from tinyc.importers.onnx.patterns.program_graph import ProgramGraph
from tinyc.importers.onnx.program import FrontendProgram, TypedOp
from tinyc.vocabulary.types import TensorType


@dataclass
class Matched:
    """A pattern with its values, and the ops that are added in place of its root."""

    program: FrontendProgram
    graph: ProgramGraph
    bound: Bindings
    root: TypedOp

    def has(self, pattern: ValuePattern) -> bool:
        """Whether a part that may be left out is there."""
        return pattern in self.bound

    def type(self, pattern: ValuePattern) -> TensorType:
        """The type of a part."""
        return self.graph.types[self.bound[pattern]]

    def op(self, pattern: ValuePattern) -> TypedOp:
        """The op that a part is the result of."""
        op = self.graph.op(self.bound[pattern])
        assert op is not None
        return op

    def number(self, pattern: ValuePattern, default: float = 0.0) -> float:
        """The number that a part is; the default where it is not there."""
        value = self.bound.get(pattern)
        number = None if value is None else self.graph.number(value)
        return default if number is None else number

    def add(self, op: str, *operands: int | None, **attributes: Any) -> int:
        """Add a Frontend op, as a node does; its first result."""
        schema = schema_named(op)
        return self.program.add(schema, schema.by_name(operands), attributes, self.root.where)

    def reshaped(self, value: int, *shape: Dim) -> int:
        """A value under another shape."""
        same = self.graph.types[value].shape == shape
        return value if same else self.add("movement reshape", value, shape=shape)

    def one(self, like: ValuePattern) -> int:
        """The number 1 in the element type of a part."""
        tensor = TensorType(self.type(like).element, ())
        return self.program.constant(1.0, tensor, self.root.where)


@dataclass(frozen=True)
class FusionRule:
    """A pattern and what stands for it: the value that is added, None where the match is not what it looks like."""

    name: str
    pattern: ValuePattern
    rewrite: Callable[[Matched], int | None]

    def applied(self, matched: Matched) -> int | None:
        """The value that stands for a match: of the same type, or None and nothing is added."""
        program = matched.program
        before, types = len(program.ops), len(program.types)
        try:
            value = self.rewrite(matched)
        except TinycError:  # a rule of the fused op: it takes less than its parts do
            value = None
        if value is None or program.types[value] != matched.root.types[0]:
            del program.ops[before:], program.types[types:]
            return None
        return value
