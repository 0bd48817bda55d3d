"""What the kernels of a program tell `main`: which inputs are indices, and how far the outputs may be off.

In: a `runtime.Program`, its kernels at the scalar level and the sequential functions that compute the same. Out: a
`Knowledge`.

A kernel and its sequential function round alike, op by op and in the same order, except where nvcc contracts a product
and a sum into one fma, and in the functions of the mathematical library. So an output that no float arithmetic goes
into must be equal. Any other may be off, times the largest magnitude of the output or 1 where that is less, by

    max(base, 2 n u)

with `base` = 1e-3 where a 16-bit float is on the way to it (2^-7 for bf16), 1e-5 for f32, 1e-12 for f64, `n` = the
terms of the sums on the way to it, and `u` = the unit roundoff of their type: the rule of `executors.rounding`. Tensor
cores that multiply f32 as tf32, of 10 bits, count as computing with bf16, of 7: the CPU does not round its factors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tinyc.dialects.cuda.main.host import Knowledge
from tinyc.dialects.cuda.main.sizes import default_sizes, extents_sum, index_limits, summed_terms
from tinyc.dialects.cuda.printer.types import is_float_type
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.executors.rounding import Rounding
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import arith, func, ir, math, scf
from tinyc.mlir.bodies import nested
from tinyc.runtime.program import ExtentValue, KernelLaunch, Pointer, Program
from tinyc.vocabulary.element_type import BY_NAME, ElementType

_UNIT_ROUNDOFF = {"f32": "0x1p-24", "f64": "0x1p-53"}
_SameEverywhere = math.AbsFOp | math.FloorOp | math.CeilOp | math.TruncOp | math.RoundEvenOp
_Rounding = arith.AddFOp | arith.SubFOp | arith.MulFOp | arith.DivFOp | arith.RemFOp


@dataclass(frozen=True)
class KernelRounding:
    """The rounding that one kernel adds: the float types that it computes with, and the terms of its sums."""

    types: tuple[str, ...]
    summed: tuple[str, ...]
    terms: Dim


def knowledge_of(
    program: Program,
    names: Mapping[str, str],
    kernels: Mapping[str, GpuKernel],
    references: Mapping[str, func.FuncOp],
) -> Knowledge:
    """The facts about a program.

    Raises:
        TinycError: `UnboundSymbol`: no sizes were found at which it runs.
    """
    limits: dict[str, list[Dim]] = {}
    steps: list[KernelRounding] = []
    before: dict[str, frozenset[int]] = {}
    for number, kernel in enumerate(each for each in program.kernels if not each.is_idle):
        arguments = kernels[kernel.symbol].arguments
        for parameter, argument in zip(kernel.parameters, arguments, strict=True):
            if isinstance(parameter, Pointer):
                found = limits.setdefault(parameter.buffer, [])
                found += [each for each in index_limits(argument, _symbols(kernel, arguments)) if each not in found]
        reference = references[kernel.symbol]
        step = _step(reference, _symbols(kernel, reference.arguments))
        if _is_tf32(kernels[kernel.symbol]):
            step = replace(step, types=(*step.types, str(ElementType.BF16)))
        steps.append(step)
        earlier = {each for name in (*kernel.reads, *kernel.writes) for each in before.get(name, ())}
        before.update(dict.fromkeys(kernel.writes, frozenset({*earlier, number})))
    base: dict[str, float] = {}
    terms: dict[str, Dim] = {}
    roundoff: dict[str, str] = {}
    for buffer in program.of_kind("output"):
        way = [steps[number] for number in sorted(before.get(buffer.name, ()))]
        types = [kind for step in way for kind in step.types]
        rounded = Rounding()
        for kind in types:
            rounded = rounded.merged(Rounding(BY_NAME[kind]))
        base[buffer.name] = rounded.tolerance(buffer.element).atol
        summed = {kind for step in way for kind in step.summed}
        terms[buffer.name] = extents_sum([step.terms for step in way]) if base[buffer.name] else 0
        roundoff[buffer.name] = _UNIT_ROUNDOFF["f64" if summed == {"f64"} else "f32"]
    return Knowledge(names, default_sizes(program), limits, base, terms, roundoff)


def _is_tf32(kernel: GpuKernel) -> bool:
    precision = kernel.plan["precision"] if kernel.plan is not None and "precision" in kernel.plan else None
    return isinstance(precision, ir.StringAttr) and precision.value == "tf32"


def _symbols(kernel: KernelLaunch, arguments: Sequence[ir.Value]) -> dict[ir.Value, str]:
    """Which symbols the arguments of a kernel are."""
    pairs = zip(kernel.parameters, arguments, strict=True)
    extents_of = {argument: each.value for each, argument in pairs if isinstance(each, ExtentValue)}
    return {
        argument: str(value)
        for argument, value in extents_of.items()
        if not isinstance(value, int) and value == extents.symbol(extents.symbols(value)[0])
    }


def _step(function: func.FuncOp, symbols: Mapping[ir.Value, str]) -> KernelRounding:
    ops: list[ir.OpView] = [op.opview for op in nested(function)]
    if not any(_rounds(op) for op in ops):
        return KernelRounding((), (), 0)
    values = [value for op in ops for value in (*op.operands, *op.results)]
    kinds = [value.type.element_type if isinstance(value.type, ir.MemRefType) else value.type for value in values]
    carried = [result.type for op in ops if isinstance(op, scf.ForOp) for result in op.results]
    return KernelRounding(
        tuple(dict.fromkeys(str(kind) for kind in kinds if is_float_type(kind))),
        tuple(dict.fromkeys(str(kind) for kind in carried if is_float_type(kind))),
        summed_terms(function.entry_block, symbols),
    )


def _rounds(op: ir.OpView) -> bool:
    """Whether an op may give another number on another machine."""
    is_function = op.operation.name.startswith("math.") and not isinstance(op, _SameEverywhere)
    return isinstance(op, _Rounding) or is_function
