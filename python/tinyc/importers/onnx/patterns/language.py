"""The language of patterns: expressions that read as the graph that they match.

    x, epsilon = Captured("x"), NumberPattern("epsilon")
    normal = x / sqrt(mean(x * x) + epsilon)

A pattern that occurs twice is one value. `a | b` is either; the operands of `+` and `*` may stand in either order. A
pattern finds all ways in which a value can be read as it says: bindings of patterns to values.
"""

import abc
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from tinyc.importers.onnx.patterns.program_graph import ProgramGraph
from tinyc.importers.onnx.program import TypedOp

#: Whether an op is one that is meant, beside its name: its attributes, the types of its operands.
Condition: TypeAlias = Callable[[ProgramGraph, TypedOp], bool]


class ValuePattern(abc.ABC):
    """What a value may be; patterns are compared by identity."""

    #: The names of the ops whose results it may be, None where it may be any value.
    heads: frozenset[str] | None = None

    def find(self, graph: ProgramGraph, value: int, bound: "Bindings") -> "Iterator[Bindings]":
        """All ways in which `value` is this pattern beside what is bound already."""
        if not self.may_be(graph, value):
            return
        if self in bound:
            if bound[self] == value:
                yield bound
            return
        yield from self._find(graph, value, {**bound, self: value})

    @abc.abstractmethod
    def _find(self, graph: ProgramGraph, value: int, bound: "Bindings") -> "Iterator[Bindings]":
        """The ways in which a value is this pattern that is not bound yet; `bound` has it."""

    def may_be(self, graph: ProgramGraph, value: int) -> bool:
        """Whether a value is of an op that this pattern is the result of."""
        op = graph.op(value)
        return self.heads is None or (op is not None and op.schema.name in self.heads)

    def __add__(self, other: "ValuePattern | float") -> "ValuePattern":
        return OpPattern("elementwise add", self, _pattern(other), commutes=True)

    def __mul__(self, other: "ValuePattern | float") -> "ValuePattern":
        return OpPattern("elementwise mul", self, _pattern(other), commutes=True)

    def __sub__(self, other: "ValuePattern | float") -> "ValuePattern":
        return OpPattern("elementwise sub", self, _pattern(other))

    def __truediv__(self, other: "ValuePattern | float") -> "ValuePattern":
        return OpPattern("elementwise fdiv", self, _pattern(other))

    def __rtruediv__(self, other: float) -> "ValuePattern":
        return OpPattern("elementwise fdiv", _pattern(other), self)

    def __or__(self, other: "ValuePattern") -> "ValuePattern":
        return Either(self, other)

    __radd__, __rmul__ = __add__, __mul__


#: What each pattern is: a value, by its number.
Bindings: TypeAlias = Mapping[ValuePattern, int]


def _pattern(operand: ValuePattern | float) -> ValuePattern:
    return operand if isinstance(operand, ValuePattern) else NumberPattern(operand)


class Captured(ValuePattern):
    """Any value: what a pattern is a function of, or a parameter."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _find(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        yield bound


class NumberPattern(ValuePattern):
    """One number everywhere: that which is given, as its type has it, or any, by a name."""

    def __init__(self, number: float | str) -> None:
        self.number = number

    def _find(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        found = graph.number(value)
        if found is not None and (isinstance(self.number, str) or graph.is_near(found, self.number, value)):
            yield bound


class Either(ValuePattern):
    """One of several patterns; what is first is tried first."""

    def __init__(self, *choices: ValuePattern) -> None:
        self.choices = choices
        every = [each.heads for each in choices]
        known = [each for each in every if each is not None]
        self.heads = frozenset[str]().union(*known) if len(known) == len(every) else None

    def _find(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        for choice in self.choices:
            yield from choice.find(graph, value, bound)


class OpPattern(ValuePattern):
    """An op of that name and of such operands, with attributes of these values; `where` says what else holds."""

    def __init__(
        self,
        name: str,
        *operands: ValuePattern,
        commutes: bool = False,
        where: Condition | None = None,
        **attributes: object,
    ) -> None:
        self.name, self.operands, self.where, self.attributes = name, operands, where, attributes
        self.commutes, self.heads = commutes, frozenset((name,))

    def _find(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        op = graph.op(value)
        if op is None or op.schema.name != self.name or len(op.operands) != len(self.operands):
            return
        given = op.schema.bind(op.attributes)
        if any(given[name] != wanted for name, wanted in self.attributes.items()):
            return
        if self.where is not None and not self.where(graph, op):
            return
        operands = graph.operands(op)
        for order in (operands, operands[::-1]) if self.commutes else (operands,):
            yield from _all(graph, self.operands, order, bound)


class Product(ValuePattern):
    """`number` times factors, in any order and any grouping; one that occurs twice is its square."""

    heads = frozenset(f"elementwise {each}" for each in ("mul", "fdiv", "neg", "pow", "power"))

    def __init__(self, number: float, *factors: ValuePattern) -> None:
        self.number, self.factors = number, factors

    def _find(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        written = [each for each in self.factors if not isinstance(each, Captured)]
        leaves_of = graph.factors(value)[1]
        if not all(any(each.may_be(graph, leaf) for leaf in leaves_of) for each in written):
            return
        for leaves in itertools.permutations(leaves_of, len(written)):
            for found in _all(graph, written, leaves, bound):
                yield from self._captured(graph, value, found)

    def _captured(self, graph: ProgramGraph, value: int, bound: Bindings) -> Iterator[Bindings]:
        """What is captured is a factor, or itself a product of some."""
        free = [each for each in dict.fromkeys(self.factors) if each not in bound]
        parts = list(dict.fromkeys(graph.product_parts(value)))[1:] if free else []
        for chosen in itertools.permutations(parts, len(free)):
            found = {**bound, **dict(zip(free, chosen, strict=True))}
            if self._is_whole(graph, value, found):
                yield found

    def _is_whole(self, graph: ProgramGraph, value: int, bound: Bindings) -> bool:
        number, values = graph.factors_above(value, frozenset(bound[each] for each in self.factors))
        if values == Counter(bound[each] for each in self.factors):
            return graph.is_near(number, self.number, value)
        number, values = graph.factors(value)
        wanted, others = self.number, Counter[int]()
        for each in self.factors:
            c, factors = graph.factors(bound[each])
            wanted *= c
            others += factors
        return values == others and graph.is_near(number, wanted, value)


def _all(
    graph: ProgramGraph,
    patterns: "list[ValuePattern] | tuple[ValuePattern, ...]",
    values: "list[int] | tuple[int, ...]",
    bound: Bindings,
) -> Iterator[Bindings]:
    """All ways in which each value is its pattern."""
    if not patterns:
        yield bound
        return
    for found in patterns[0].find(graph, values[0], bound):
        yield from _all(graph, patterns[1:], values[1:], found)


# --- words ------------------------------------------------------------------------------------------------------------


def each_of(fn: str) -> Callable[[ValuePattern], ValuePattern]:
    """The element-wise function `fn` of a pattern."""
    return lambda x: OpPattern(f"elementwise {fn}", x)


def raised(x: ValuePattern, exponent: float) -> ValuePattern:
    """A pattern to the power of a number."""
    by_attribute = OpPattern("elementwise power", x, exponent=exponent)
    return by_attribute | OpPattern("elementwise pow", x, NumberPattern(exponent))


def maybe_cast(x: ValuePattern) -> ValuePattern:
    """A pattern, or a conversion of it; the rule has to check the types."""
    return OpPattern("cast", x) | x


def is_along_last_axis(graph: ProgramGraph, op: TypedOp) -> bool:
    """Whether the attribute `axis` of an op is the last axis of its result."""
    return op.schema.bind(op.attributes)["axis"] in (-1, op.types[0].rank - 1)
