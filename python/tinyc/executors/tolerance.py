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

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.analysis.graphs import main_function, needed_ops
from tinyc.analysis.patterns.contraction import is_widening
from tinyc.dialects.region.verify import block_of, kernels
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import MOVEMENT
from tinyc.dialects.tiny.types import is_float
from tinyc.executors.signature import signature_of
from tinyc.executors.values import summed_products, value_name

#: Element types from fine to coarse, with base tolerance and unit roundoff.
_BASE = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-3, "bf16": 1e-3}
_ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_FINE_TO_COARSE = tuple(_BASE)
#: Ops that move, choose or make values, and round nothing.
_EXACT = frozenset((*MOVEMENT, *["gather", "topk", "where", "max", "min", "neg", "relu", "floor", "const", "iota"]))


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
    """What was rounded on the way to a value: coarsest type, number of reduced terms, coarsest accumulator."""

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
    """Return the tolerance of each named value and each output of a program; `sizes` evaluates extents."""
    function = main_function(module)
    signature = signature_of(function)
    derivation = _Derivation(kernels(module), sizes)
    with module.context:
        results = derivation.block(function.regions[0].blocks[0], [Rounding() for _ in signature.inputs])
    outputs = zip(signature.outputs, results, strict=True)
    return derivation.found | {output.name: rounding.tolerance(output.type.element) for output, rounding in outputs}


class _Derivation:
    """Follows roundings through a function and the kernels that it calls."""

    def __init__(self, known: dict[str, Any], sizes: Callable[[Dim], int]) -> None:
        self.kernels, self.sizes = known, sizes
        self.found: dict[str, Tolerance] = {}

    def block(self, block: Any, given: list[Rounding]) -> list[Rounding]:
        """Return the roundings of what a block returns or yields, from those of its first arguments."""
        environment: dict[Any, Any] = dict(zip(block.arguments, given, strict=False))
        needed = needed_ops(block)
        products = summed_products(needed)
        yielded: list[Any] = []
        for op in needed:
            operands: list[Any] = [environment.get(operand) for operand in op.operation.operands]
            if op.operation.name == "func.return":
                return operands
            if op.operation.name == "region.yield":
                yielded.append(operands[0])
                continue
            for result, rounding in zip(op.operation.results, self._op(op, operands, products), strict=True):
                environment[result] = rounding
                if isinstance(rounding, Rounding) and (name := value_name(result)) is not None:
                    self.found[name] = rounding.tolerance(tensor_type(result.type).element)
        return yielded

    def _op(self, op: Any, operands: list[Any], products: set[Any]) -> list[Any]:
        if op.operation.name == "region.launch":
            return [self.kernels[op.operation.attributes["kernel"].value]]
        if op.operation.name == "func.call_indirect":
            return self.block(block_of(operands[0]), operands[1:])
        merged = functools.reduce(Rounding.merged, operands, Rounding())
        if op.operation.name == "tiny.mul" and op.operation.results[0] in products:
            return [merged]
        return [_step(op, merged, tensor_type(result.type).element, self.sizes) for result in op.operation.results]


def _step(op: Any, before: Rounding, element: str, sizes: Callable[[Dim], int]) -> Rounding:
    """Return what is rounded up to and including `op`."""
    name = op.operation.name.removeprefix("tiny.")
    if not is_float(element) or name in _EXACT or (name == "cast" and is_widening(op)):
        return before
    if name == "reduce":
        given, source = arguments(op), tensor_type(op.operation.operands[0].type)
        if given["op"] in ("max", "min"):
            return before.merged(Rounding(element))
        length = math.prod(sizes(source.shape[axis]) for axis in given["axes"])
        added = Rounding(_coarser(before.coarsest, element), before.terms + length, element)
        return before.merged(added)
    return before.merged(Rounding(element))
