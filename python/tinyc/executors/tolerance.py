"""How far the outputs of two executors may be apart: derived from the program's element types and reduction lengths.

An output that no float op rounds must be the same bit for bit. Otherwise, with

* `base` = 1e-3 where a 16-bit float is computed on the way to the output or is its type, 1e-5 for f32, 1e-12 for f64,
* `n` = the number of terms in the reductions on the longest way from the inputs to the output,
* `u` = the unit roundoff of the coarsest accumulator among them (2^-24 for f32), and
* `ulp` = the distance from 1 to the next value of the coarsest type (2^-7 for bf16),

    atol = max(base, ulp, 2 n u)          rtol = max(base, ulp, 2 sqrt(n) u)

since a sum of n terms of order one is off by up to about n u where its terms cancel, and by about sqrt(n) u of itself
where they do not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import is_float
from tinyc.executors.signature import main_function, signature_of

#: Element types from fine to coarse, with base tolerance and unit roundoff.
_BASE = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-3, "bf16": 1e-3}
_ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_FINE_TO_COARSE = tuple(_BASE)
#: Ops that move, choose or make values, and round nothing.
_EXACT = frozenset(
    ("reshape", "permute", "expand", "pad", "shrink", "flip", "view", "pool", "gather", "topk", "where")
    + ("max", "min", "neg", "relu", "floor", "const", "iota")
)


@dataclass(frozen=True)
class Tolerance:
    """`|actual - expected| <= atol + rtol * |expected|`; both 0 means equal."""

    rtol: float = 0.0
    atol: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the values must be equal."""
        return self.rtol == 0 and self.atol == 0

    def __str__(self) -> str:
        return "exact" if self.exact else f"rtol {self.rtol:.2g}, atol {self.atol:.2g}"


@dataclass(frozen=True)
class Rounding:
    """What was rounded on the way to a value: the coarsest type, the number of reduced terms, the coarsest accumulator."""

    coarsest: str | None = None
    terms: int = 0
    accumulator: str | None = None

    def merged(self, other: "Rounding") -> "Rounding":
        """Return what was rounded on the way to a value that depends on both."""
        return Rounding(
            _coarser(self.coarsest, other.coarsest),
            max(self.terms, other.terms),
            _coarser(self.accumulator, other.accumulator),
        )

    def tolerance(self, element: str) -> Tolerance:
        """Return the tolerance for a value of that element type."""
        coarsest = _coarser(self.coarsest, element)
        if not is_float(element) or self.coarsest is None or coarsest is None:
            return Tolerance()
        least = max(_BASE[coarsest], 2 * _ROUNDOFF[coarsest])
        growth = 2 * _ROUNDOFF[self.accumulator] if self.accumulator else 0.0
        return Tolerance(max(least, growth * math.sqrt(self.terms)), max(least, growth * self.terms))


def _coarser(left: str | None, right: str | None) -> str | None:
    known = [element for element in (left, right) if element in _BASE]
    return max(known, key=_FINE_TO_COARSE.index) if known else None


def tolerances(module: Any, sizes: Callable[[Dim], int]) -> dict[str, Tolerance]:
    """Return the tolerance of each named value and each output of a Tiny module; `sizes` evaluates extents."""
    function = main_function(module)
    block = function.regions[0].blocks[0]
    roundings: dict[Any, Rounding] = {argument: Rounding() for argument in block.arguments}
    found = {}
    for op in block.operations:
        merged = Rounding()
        for operand in op.operation.operands:
            merged = merged.merged(roundings[operand])
        if op.operation.name == "func.return":
            results = zip(signature_of(function).outputs, op.operation.operands, strict=True)
            return found | {
                output.name: roundings[operand].tolerance(output.type.element) for output, operand in results
            }
        for result in op.operation.results:
            roundings[result] = _step(op, merged, tensor_type(result.type).element, sizes)
    return found


def _step(op: Any, before: Rounding, element: str, sizes: Callable[[Dim], int]) -> Rounding:
    """Return what is rounded up to and including `op`."""
    name = op.operation.name.removeprefix("tiny.")
    if not is_float(element) or name in _EXACT:
        return before
    if name == "reduce":
        given, source = arguments(op), tensor_type(op.operation.operands[0].type)
        if given["op"] in ("max", "min"):
            return before.merged(Rounding(element))
        length = math.prod(sizes(source.shape[axis]) for axis in given["axes"])
        added = Rounding(_coarser(before.coarsest, element), before.terms + length, element)
        return before.merged(added)
    return before.merged(Rounding(element))
