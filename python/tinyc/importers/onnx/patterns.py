"""What exporters write out, as the op that it is: GELU by erf and by tanh, SiLU.

In: a finished program. Out: the same program with one op in place of several, and without ops that nothing reads. A
pattern looks at a value as a product or as a sum, so that the order in which factors were written does not matter.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes

from tinyc.formulas.registry import find_schema
from tinyc.importers.onnx.program import FrontendProgram, TypedConstant, TypedOp
from tinyc.vocabulary.types import TensorType

#: How deep a product or a sum is followed.
_DEPTH = 5


def fuse_patterns(program: FrontendProgram) -> None:
    """Put one op in the place of each pattern, from the first op on, and drop what nothing reads."""
    graph = _Graph(program)
    for at, op in enumerate(program.ops):
        if not isinstance(op, TypedOp) or not op.schema.name.startswith("elementwise "):
            continue
        if not op.types[0].element.is_float:
            continue
        found = next((match for pattern in _PATTERNS if (match := pattern(graph, op.first)) is not None), None)
        if found is not None and program.types[found.x] == op.types[0]:
            schema = find_schema(op.schema.op, found.fn)
            program.ops[at] = replace(
                op, schema=schema, operands={schema.operands[0]: found.x}, attributes=found.attributes
            )
            graph.makers[op.first] = program.ops[at]
    _drop_unused(program)


def _drop_unused(program: FrontendProgram) -> None:
    wanted = {value for _, value in program.outputs}
    kept: list[TypedOp | TypedConstant] = []
    for op in reversed(program.ops):
        if isinstance(op, TypedConstant):
            is_read = op.first in wanted
        else:
            is_read = not wanted.isdisjoint(range(op.first, op.first + op.schema.results))
            wanted.update(op.operands.values() if is_read else ())
        if is_read:
            kept.append(op)
    program.ops[:] = kept[::-1]


@dataclass(frozen=True)
class _Fused:
    """The function that a pattern is, of the value `x`."""

    fn: str
    x: int
    attributes: dict[str, Any]


class _Graph:
    """A program by its values: `makers` are the ops that they come from."""

    def __init__(self, program: FrontendProgram) -> None:
        self.types: list[TensorType] = program.types
        self.makers: dict[int, TypedOp | TypedConstant] = {each.first: each for each in program.ops}

    def operands(self, value: int, fn: str) -> list[int] | None:
        """The operands of an element-wise function, None where the value is of another op."""
        op = self.makers.get(value)
        if not isinstance(op, TypedOp) or op.schema.name != f"elementwise {fn}":
            return None
        return list(op.operands.values())

    def number(self, value: int) -> float | None:
        """The number that a value is everywhere."""
        op = self.makers.get(value)
        return float(op.value) if isinstance(op, TypedConstant) and isinstance(op.value, int | float) else None

    def is_near(self, found: float, wanted: float, value: int) -> bool:
        """Whether a number is one that was written in the type of a value."""
        epsilon = max(float(ml_dtypes.finfo(self.types[value].element.dtype).eps), 1e-6)
        return math.isclose(found, wanted, rel_tol=epsilon)

    def factors(self, value: int, depth: int = _DEPTH) -> tuple[float, Counter[int]]:
        """A value as a product: a number, and values."""
        number = self.number(value)
        if number is not None:
            return number, Counter()
        if depth and (pair := self.operands(value, "mul")):
            (c, one), (d, other) = (self.factors(each, depth - 1) for each in pair)
            return c * d, one + other
        if depth and (pair := self.operands(value, "fdiv")) and (divisor := self.number(pair[1])):
            c, one = self.factors(pair[0], depth - 1)
            return c / divisor, one
        if depth and (single := self.operands(value, "neg")):
            c, one = self.factors(single[0], depth - 1)
            return -c, one
        if depth and (power := self._power(value)) is not None:
            base, exponent = power
            c, one = self.factors(base, depth - 1)
            return c**exponent, Counter({each: count * exponent for each, count in one.items()})
        return 1.0, Counter((value,))

    def _power(self, value: int) -> tuple[int, int] | None:
        """The base of a second or third power, and which it is."""
        op = self.makers.get(value)
        if not isinstance(op, TypedOp) or op.schema.name not in ("elementwise pow", "elementwise power"):
            return None
        base, *written = op.operands.values()
        exponent = self.number(written[0]) if written else op.attributes.get("exponent")
        return (base, int(exponent)) if exponent in (2, 3) else None

    def terms(self, value: int, depth: int = _DEPTH) -> tuple[float, Counter[int]]:
        """A value as a sum: a number, and values."""
        number = self.number(value)
        if number is not None:
            return number, Counter()
        if depth and (pair := self.operands(value, "add")):
            (c, one), (d, other) = (self.terms(each, depth - 1) for each in pair)
            return c + d, one + other
        return 0.0, Counter((value,))

    def one_plus(self, value: int) -> int | None:
        """The value that 1 is added to."""
        number, values = self.terms(value)
        return next(iter(values)) if number == 1 and values.total() == 1 else None

    def is_product(self, value: int, number: float, x: int, *others: int, power: int = 1) -> bool:
        """Whether a value is `number * x^power` times other values."""
        found, values = self.factors(value)
        c, of_x = self.factors(x)
        wanted = Counter({each: count * power for each, count in of_x.items()}) + Counter(others)
        return values == wanted and self.is_near(found, number * c**power, value)

    def beside(self, value: int, fn: str) -> Iterator[tuple[int, int]]:
        """The factors of a product that are `1 + fn(inner)`, each with its `inner`."""
        for factor in self.factors(value)[1]:
            inner = self.one_plus(factor)
            operands = None if inner is None else self.operands(inner, fn)
            if operands:
                yield factor, operands[0]


def _gelu_by_erf(graph: _Graph, value: int) -> _Fused | None:
    """`x/2 (1 + erf(x / sqrt(2)))`."""
    for factor, inner in graph.beside(value, "erf"):
        for x in graph.operands(inner, "mul") or graph.operands(inner, "fdiv") or ():
            if graph.is_product(inner, math.sqrt(0.5), x) and graph.is_product(value, 0.5, x, factor):
                return _Fused("gelu", x, {"approximate": "none"})
    return None


def _gelu_by_tanh(graph: _Graph, value: int) -> _Fused | None:
    """`x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x³)))`, or with `x (1 + 0.044715 x²)` inside."""
    for factor, inner in graph.beside(value, "tanh"):
        c, values = graph.factors(inner)
        if not graph.is_near(c, math.sqrt(2 / math.pi), value):
            continue
        for total in values:
            number, parts = graph.terms(total)
            if values.total() == 1 and number == 0 and parts.total() == 2:
                pairs, power = [(x, cube) for x in parts for cube in parts if x != cube], 3
            elif values.total() == 2 and number == 1 and parts.total() == 1:
                pairs, power = [(x, part) for x in values for part in parts if x != total], 2
            else:
                continue
            for x, part in pairs:
                if graph.is_product(part, 0.044715, x, power=power) and graph.is_product(value, 0.5, x, factor):
                    return _Fused("gelu", x, {"approximate": "tanh"})
    return None


def _silu(graph: _Graph, value: int) -> _Fused | None:
    """`x sigmoid(x)`, or `x / (1 + exp(-x))`."""
    for factor in graph.factors(value)[1]:
        for x in graph.operands(factor, "sigmoid") or ():
            if graph.is_product(value, 1, x, factor):
                return _Fused("silu", x, {})
    x, divisor = graph.operands(value, "fdiv") or (None, None)
    inner = None if divisor is None else graph.one_plus(divisor)
    exponent = None if inner is None else graph.operands(inner, "exp")
    if x is not None and exponent and graph.is_product(exponent[0], -1, x):
        return _Fused("silu", x, {})
    return None


_PATTERNS: tuple[Callable[[_Graph, int], _Fused | None], ...] = (_gelu_by_erf, _gelu_by_tanh, _silu)
