"""A finished program by its values: what makes a value, who reads it, which number it is.

Values that are computed alike are one here: exporters write a difference or a constant anew wherever they use it.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator

import ml_dtypes

from tinyc.importers.onnx.program import FrontendProgram, TypedConstant, TypedOp
from tinyc.vocabulary.types import TensorType

#: How deep a product or a constant that is computed is followed.
_DEPTH = 5
#: More ops than these are no pattern.
_MAX_INTERIOR = 64


class ProgramGraph:
    """A program; a value is meant by the first of those that are computed alike."""

    def __init__(self, program: FrontendProgram) -> None:
        self.types: list[TensorType] = program.types
        self.makers: dict[int, TypedOp | TypedConstant] = {}
        self._first: dict[int, int] = {}
        self._readers: dict[int, set[int]] = defaultdict(set)
        self._numbers: dict[tuple[int, int], float | None] = {}
        self._factors: dict[tuple[int, int], tuple[float, Counter[int]]] = {}
        seen: dict[Hashable, int] = {}
        for op in program.ops:
            first = seen.setdefault(self._meaning(op), op.first)
            if first != op.first:
                self._first.update(zip(op.values, range(first, first + len(op.values)), strict=True))
                continue
            self.makers[first] = op
            for operand in self.operands(op):
                self._readers[operand].add(first)
        self._outputs = {self.first(value) for _, value in program.outputs}

    def _meaning(self, op: TypedOp | TypedConstant) -> Hashable:
        """What two ops have in common that compute the same."""
        if isinstance(op, TypedOp):
            operands = tuple((name, self.first(value)) for name, value in op.operands.items())
            if op.schema.name in ("elementwise add", "elementwise mul"):
                operands = tuple(sorted(value for _, value in operands))
            return op.schema.name, operands, tuple(sorted(op.attributes.items()))
        is_number = isinstance(op.value, bool | int | float)
        return (repr(op.value), op.type) if is_number else (id(op.value), op.type)

    def first(self, value: int) -> int:
        """The first of the values that are computed as this one is."""
        return self._first.get(value, value)

    def op(self, value: int) -> TypedOp | None:
        """The op whose first result a value is, None for inputs and constants."""
        op = self.makers.get(value)
        return op if isinstance(op, TypedOp) else None

    def operands(self, op: TypedOp | TypedConstant) -> list[int]:
        """The operands of an op, in the order of its formula."""
        return [self.first(each) for each in op.operands.values()] if isinstance(op, TypedOp) else []

    def interior(self, root: int, captured: set[int]) -> set[int] | None:
        """The ops between `captured` and a root; None where one is read elsewhere, or is an output."""
        inside, left = {root}, [root]
        while left:
            for operand in self.operands(self.makers[left.pop()]):
                if operand in captured or operand in inside or self.number(operand) is not None:
                    continue
                if self.op(operand) is None or operand in self._outputs or len(inside) > _MAX_INTERIOR:
                    return None
                inside.add(operand)
                left.append(operand)
        inside.discard(root)
        return None if any(not self._readers[each] <= {root, *inside} for each in inside) else inside

    # --- numbers ------------------------------------------------------------------------------------------------------

    def number(self, value: int, depth: int = _DEPTH) -> float | None:
        """The number that a value is everywhere: a constant, or a root, product, quotient or cast of some."""
        if (value, depth) not in self._numbers:
            self._numbers[value, depth] = self._computed(value, depth)
        return self._numbers[value, depth]

    def _computed(self, value: int, depth: int) -> float | None:
        op = self.makers.get(value)
        if isinstance(op, TypedConstant):
            return float(op.value) if isinstance(op.value, int | float) else None
        if op is None or not depth or not op.types[0].element.is_float:
            return None
        if op.schema.name not in _COMPUTED:
            return None
        numbers: list[float] = []
        for each in self.operands(op):
            found = self.number(each, depth - 1)
            if found is None:
                return None
            numbers.append(found)
        try:
            return _COMPUTED[op.schema.name](*numbers)
        except (ArithmeticError, ValueError):  # no number, or an infinite one
            return None

    def is_near(self, found: float, wanted: float, value: int) -> bool:
        """Whether a number is one that was written in the type of a value."""
        element = self.types[value].element
        epsilon = max(float(ml_dtypes.finfo(element.dtype).eps), 1e-6) if element.is_float else 0
        return math.isclose(found, wanted, rel_tol=epsilon)

    # --- products -----------------------------------------------------------------------------------------------------

    def factors(self, value: int, depth: int = _DEPTH) -> tuple[float, Counter[int]]:
        """A value as a product: a number, and values by how often they occur."""
        known = self._factors.get((value, depth))
        if known is None:
            known = self._factors[value, depth] = self._factored(value, depth)
        return known

    def _factored(self, value: int, depth: int) -> tuple[float, Counter[int]]:
        number = self.number(value)
        if number is not None:
            return number, Counter()
        parts = self._product(value) if depth else None
        if parts is None:
            return 1.0, Counter((value,))
        number, power, operands = parts
        values: Counter[int] = Counter()
        for each in operands:
            c, found = self.factors(each, depth - 1)
            number *= c**power
            for factor, count in found.items():
                values[factor] += count * power
        return number, values

    def factors_above(self, value: int, parts: frozenset[int], depth: int = _DEPTH) -> tuple[float, Counter[int]]:
        """A value as a product of which `parts` are factors as they are, even where they are products themselves."""
        found = None if value in parts or not depth or self.number(value) is not None else self._product(value)
        if found is None:
            return (1.0, Counter((value,))) if value in parts else self.factors(value)
        number, power, operands = found
        values: Counter[int] = Counter()
        for each in operands:
            c, inner = self.factors_above(each, parts, depth - 1)
            number *= c**power
            for factor, count in inner.items():
                values[factor] += count * power
        return number, values

    def product_parts(self, value: int, depth: int = _DEPTH) -> Iterator[int]:
        """A value, and the products and factors that it is computed from as a product."""
        yield value
        parts = self._product(value) if depth else None
        for each in parts[2] if parts else ():
            if self.number(each) is None:
                yield from self.product_parts(each, depth - 1)

    def _product(self, value: int) -> tuple[float, int, list[int]] | None:
        """A number times a power of operands that a value is."""
        op = self.op(value)
        if op is None or not op.types[0].element.is_float:
            return None
        operands = self.operands(op)
        match op.schema.name:
            case "elementwise mul":
                return 1.0, 1, operands
            case "elementwise neg":
                return -1.0, 1, operands
            case "elementwise fdiv" if divisor := self.number(operands[1]):
                return 1 / divisor, 1, operands[:1]
            case "elementwise pow" if (exponent := self.number(operands[1])) in (2, 3):
                return 1.0, int(exponent), operands[:1]
            case "elementwise power" if (exponent := op.attributes["exponent"]) in (2, 3):
                return 1.0, int(exponent), operands
            case _:
                return None


_COMPUTED = {
    "elementwise sqrt": math.sqrt,
    "elementwise recip": lambda x: 1 / x,
    "elementwise mul": lambda x, y: x * y,
    "elementwise fdiv": lambda x, y: x / y,
    "cast": lambda x: x,
    "movement reshape": lambda x: x,
    "movement expand": lambda x: x,
}
