"""What the kernels of a program tell `main`: which inputs are indices, and how far the outputs may be off.

In: a `runtime.Program`, its kernels at the scalar level and the sequential functions that compute the same. Out: a
`Knowledge`.

A kernel and its sequential function round alike, op by op and in the same order, except where nvcc contracts a product
and a sum into one fma, and in the functions of the mathematical library. So an output that no float arithmetic goes
into must be equal. Any other may be off, times the largest magnitude of the output or 1 where that is less, by

    max(base, 2 n u)

with `base` = 1e-3 where a 16-bit float is on the way to it (2^-7 for bf16), 1e-5 for f32, 1e-12 for f64, `n` = the
terms of the sums on the way to it, and `u` = the unit roundoff of their type: the rule of `executors.tolerance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.dialects.gpu.cuda.host import Knowledge
from tinyc.dialects.gpu.cuda.sizes import default_sizes, extents_sum, index_limits, summed_terms
from tinyc.dialects.gpu.cuda.types import is_float
from tinyc.dialects.region.verify import block_of
from tinyc.executors.tolerance import Rounding
from tinyc.mlir import nested
from tinyc.runtime.program import ExtentValue, Kernel, Pointer, Program

_UNIT_ROUNDOFF = {"f32": "0x1p-24", "f64": "0x1p-53"}
_SAME_EVERYWHERE = frozenset(("math.absf", "math.floor", "math.ceil", "math.trunc", "math.roundeven"))
_ROUNDING = frozenset(f"arith.{name}" for name in ("addf", "subf", "mulf", "divf", "remf"))


@dataclass(frozen=True)
class Step:
    """What one kernel adds: the float types that it computes with, and the terms of its sums."""

    types: tuple[str, ...]
    summed: tuple[str, ...]
    terms: Dim


def knowledge_of(
    program: Program, names: Mapping[str, str], kernels: Mapping[str, Any], references: Mapping[str, Any]
) -> Knowledge:
    """Return what is known of a program.

    Raises:
        TinycError: `UnboundSymbol`: no sizes were found at which it runs.
    """
    limits: dict[str, list[Dim]] = {}
    steps, before = [], {}
    for number, kernel in enumerate(program.kernels):
        arguments = list(block_of(kernels[kernel.symbol]).arguments)
        for parameter, argument in zip(kernel.parameters, arguments, strict=True):
            if isinstance(parameter, Pointer):
                found = limits.setdefault(parameter.buffer, [])
                found += [each for each in index_limits(argument, _symbols(kernel, arguments)) if each not in found]
        reference = references[kernel.symbol]
        steps.append(_step(reference, _symbols(kernel, list(block_of(reference).arguments))))
        earlier = frozenset().union(*(before.get(name, frozenset()) for name in (*kernel.reads, *kernel.writes)))
        before.update(dict.fromkeys(kernel.writes, earlier | {number}))
    base, terms, roundoff = {}, {}, {}
    for buffer in program.of_kind("output"):
        way = [steps[number] for number in sorted(before.get(buffer.name, ()))]
        types = [kind for step in way for kind in step.types]
        rounded = Rounding()
        for kind in types:
            rounded = rounded.merged(Rounding(kind))
        base[buffer.name] = rounded.tolerance(buffer.element).atol
        summed = {kind for step in way for kind in step.summed}
        terms[buffer.name] = extents_sum([step.terms for step in way]) if base[buffer.name] else 0
        roundoff[buffer.name] = _UNIT_ROUNDOFF["f64" if summed == {"f64"} else "f32"]
    return Knowledge(names, default_sizes(program), limits, base, terms, roundoff)


def _symbols(kernel: Kernel, arguments: list[Any]) -> dict[Any, str]:
    """Return which symbols the arguments of a kernel are."""
    pairs = zip(kernel.parameters, arguments, strict=True)
    extents_of = {argument: each.value for each, argument in pairs if isinstance(each, ExtentValue)}
    return {
        argument: str(value)
        for argument, value in extents_of.items()
        if not isinstance(value, int) and value == extents.symbol(extents.symbols(value)[0])
    }


def _step(function: Any, symbols: Mapping[Any, str]) -> Step:
    ops = nested(function)
    if not any(_rounds(op) for op in ops):
        return Step((), (), 0)
    values = [value for op in ops for value in (*op.operands, *op.results)]
    kinds = [getattr(value.type, "element_type", value.type) for value in values]
    carried = [result.type for op in ops if op.name == "scf.for" for result in op.results]
    return Step(
        tuple(dict.fromkeys(str(kind) for kind in kinds if is_float(kind))),
        tuple(dict.fromkeys(str(kind) for kind in carried if is_float(kind))),
        summed_terms(block_of(function), symbols),
    )


def _rounds(op: Any) -> bool:
    """Say whether an op may give another number on another machine."""
    return op.name in _ROUNDING or (op.name.startswith("math.") and op.name not in _SAME_EVERYWHERE)
