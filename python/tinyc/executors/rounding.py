"""How far the outputs of two executors may be apart: derived from the program's element types and reduction lengths.

An output that no float op rounds must be the same bit for bit. Otherwise, with

* `base` = 1e-3 where a 16-bit float is computed on the way to the output or is its type, 1e-5 for f32, 1e-12 for f64,
* `n` = the number of terms in the reductions on the longest way from the inputs to the output,
* `u` = the unit roundoff of the coarsest accumulator among them (2^-24 for f32), and
* `ulp` = the distance from 1 to the next value of the coarsest type (2^-7 for bf16),

    atol = max(base, ulp, 2 n u)          rtol = max(base, ulp, 2 sqrt(n) u)

since a sum of n terms of order one is off by up to about n u where its terms cancel, and by about sqrt(n) u of itself
where they do not. Where f32 is multiplied as tf32, to which tensor cores cut what they read of memory, each term is off
by up to 2 t of itself, with t = 2^-10, and their sum by about sqrt(n) t where they cancel: rtol is 2 t and atol
4 sqrt(n) t at least. A convolution that Winograd's algorithm computes counts as as many terms as its bound is one of
(`winograd_terms`), where these are more.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinyc.analysis.graphs import main_function, needed_ops
from tinyc.analysis.patterns.contraction import is_widening
from tinyc.analysis.winograd import winograd_terms
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.executors.signature import signature_of, symbol_values
from tinyc.executors.tolerance import Tolerance
from tinyc.executors.values import summed_products
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir
from tinyc.mlir.locations import value_name
from tinyc.runtime.sizes import extent_value
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

#: The least tolerance of what is computed in an element type.
_BASE = {ElementType.F64: 1e-12, ElementType.F32: 1e-5, ElementType.F16: 1e-3, ElementType.BF16: 1e-3}


#: What is lost of an f32 that is cut to the 10 bits of tf32, at most, of the value.
_TF32_ROUNDOFF = 2.0**-10


@dataclass(frozen=True)
class Rounding:
    """The roundings on the way to a value: coarsest type, number of reduced terms, coarsest accumulator, tf32."""

    coarsest: ElementType | None = None
    terms: int = 0
    accumulator: ElementType | None = None
    is_tf32: bool = False

    def merged(self, other: "Rounding") -> "Rounding":
        """The roundings on the way to a value that depends on both."""
        return Rounding(
            _coarser(self.coarsest, other.coarsest),
            max(self.terms, other.terms),
            _coarser(self.accumulator, other.accumulator),
            self.is_tf32 or other.is_tf32,
        )

    def tolerance(self, element: ElementType) -> Tolerance:
        """The tolerance for a value of that element type."""
        coarsest = _coarser(self.coarsest, element)
        if not element.is_float or self.coarsest is None or coarsest is None:
            return Tolerance()
        least = max(_BASE[coarsest], 2 * coarsest.unit_roundoff)
        growth = 2 * self.accumulator.unit_roundoff if self.accumulator else 0.0
        found = Tolerance(max(least, growth * math.sqrt(self.terms)), max(least, growth * self.terms))
        if not self.is_tf32:
            return found
        cut = 2 * _TF32_ROUNDOFF
        return Tolerance(max(found.rtol, cut), max(found.atol, 2 * cut * math.sqrt(self.terms)))


def _coarser(left: ElementType | None, right: ElementType | None) -> ElementType | None:
    floats = [element for element in (left, right) if element is not None and element.is_float]
    return max(floats, key=lambda element: element.unit_roundoff, default=None)


def output_tolerances(
    module: ir.Module, inputs: Mapping[str, np.ndarray], is_tf32: bool = False, has_winograd: bool = False
) -> dict[str, Tolerance]:
    """The tolerance of each named value and output of a program on inputs of these shapes.

    Where it `is_tf32`, products of f32 that are summed may be of tf32; where it `has_winograd`, convolutions may be
    computed by Winograd's algorithm.
    """
    function = main_function(module)
    signature = signature_of(function)
    symbols = symbol_values(signature.inputs, inputs)
    known = kernels_of(module)
    derivation = _Derivation(known, lambda extent: extent_value(extent, symbols), is_tf32, has_winograd)
    with module.context:
        results = derivation.block(function.regions[0].blocks[0], [Rounding() for _ in signature.inputs])
    outputs = zip(signature.outputs, results, strict=True)
    return derivation.found | {output.name: rounding.tolerance(output.type.element) for output, rounding in outputs}


class _Derivation:
    """Follows roundings through a function and the kernels that it calls."""

    def __init__(
        self, known: Mapping[str, Kernel], sizes: Callable[[Dim], int], is_tf32: bool, has_winograd: bool
    ) -> None:
        self.kernels, self.sizes, self.is_tf32, self.has_winograd = known, sizes, is_tf32, has_winograd
        self.found: dict[str, Tolerance] = {}

    def block(self, block: ir.Block, given: Sequence[Rounding]) -> list[Rounding]:
        """The roundings of what a block returns or yields, from those of its first arguments."""
        environment: dict[ir.Value, Any] = dict(zip(block.arguments, given, strict=False))
        needed = needed_ops(block)
        products = summed_products(needed)
        yielded: list[Rounding] = []
        for op in needed:
            operands: list[Any] = [environment.get(operand) for operand in op.operands]
            if isinstance(op, func.ReturnOp):
                return operands
            if isinstance(op, region.YieldOp):
                yielded.append(operands[0])
                continue
            for result, rounding in zip(op.results, self._op(op, operands, products), strict=True):
                environment[result] = rounding
                if isinstance(rounding, Rounding) and (name := value_name(result)) is not None:
                    self.found[name] = rounding.tolerance(tensor_type(result.type).element)
        return yielded

    def _op(self, op: ir.OpView, operands: list[Any], products: set[ir.Value]) -> Sequence[Rounding | Kernel]:
        if isinstance(op, region.LaunchOp):
            return [self.kernels[op.kernel.value]]
        if isinstance(op, func.CallIndirectOp):
            return self.block(operands[0].block, operands[1:])
        merged = functools.reduce(Rounding.merged, operands, Rounding())
        if op.results[0] in products:
            is_f32 = tensor_type(op.results[0].type).element is ElementType.F32
            return [replace(merged, is_tf32=merged.is_tf32 or (is_f32 and self.is_tf32))]
        least = winograd_terms(op) if self.has_winograd and isinstance(op, tiny.ReduceOp) else 0
        return [_step(op, merged, tensor_type(result.type).element, self.sizes, least) for result in op.results]


def _step(op: ir.OpView, before: Rounding, element: ElementType, sizes: Callable[[Dim], int], least: int) -> Rounding:
    """The roundings up to and including `op`, whose terms count as `least` at least."""
    if not element.is_float or not _rounds(op):
        return before
    if isinstance(op, tiny.ReduceOp) and op.op.value in ("sum", "prod"):
        shape = tensor_type(op.operand.type).shape
        length = max(least, math.prod(sizes(shape[axis]) for axis in op.axes))
        return before.merged(Rounding(_coarser(before.coarsest, element), before.terms + length, element))
    return before.merged(Rounding(element))


def _rounds(op: ir.OpView) -> bool:
    """Whether an op does more than move, choose or make values."""
    if isinstance(op, tiny.CastOp):
        return not is_widening(op)
    if isinstance(op, tiny.ElementwiseOp):
        return op.row.rounds
    return not isinstance(op, tiny.MovementOp | tiny.ConstOp | tiny.IotaOp | tiny.GatherOp | tiny.TopkOp)
