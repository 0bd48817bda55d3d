"""Sizes in generated CUDA text: extents as C++ expressions, sizes to try a program at, and what kernels say of sizes.

In: extents and a `runtime.Program`, kernels at the scalar level. Out: text and numbers.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim, ExtentError, FloorDiv
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.cuda.folding import inner_blocks, loop_variables
from tinyc.dialects.gpu.cuda.types import is_float
from tinyc.mlir import ir
from tinyc.runtime.program import Program
from tinyc.runtime.sizes import check

#: The sizes of the specification's GEMM (002 §7).
_GEMM = {"M": 150, "N": 130, "K": 70}
#: Odd, and different from each other, so that an index in the wrong place is a wrong result.
_DISTINCT = (
    (150, 130, 70, 35, 21, 13, 11, 7, 5, 3),
    (37, 21, 13, 11, 7, 5, 3, 9, 6, 4),
    (9, 8, 7, 6, 5, 4, 3, 2, 10, 11),
    (7, 5, 3, 2, 4, 6, 8, 9, 10, 11),
)
_EQUAL = (64, 32, 16, 12, 8, 6, 4, 3, 2, 1)
_MIXED = (1, 2, 3, 4, 6, 9)
_MOST_MIXED = 5_000
#: What a CPU loop does in seconds: elements of buffers, and the product of all sizes, which bounds what is computed.
_MOST_ELEMENTS, _MOST_WORK = 2**24, 2**24


def extent_text(dim: Dim, names: Mapping[str, str]) -> str:
    """Return an extent as a C++ expression over the variables `names` of its symbols."""
    if isinstance(dim, int):
        return str(dim)
    text = ""
    for monomial, coefficient in dim.terms:
        factors = [names[atom] if isinstance(atom, str) else _division_text(atom, names) for atom in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        product = " * ".join(factors)
        text = f"{text} {sign} {product}" if text else f"{'-' if sign == '-' else ''}{product}"
    return text


def _division_text(atom: FloorDiv, names: Mapping[str, str]) -> str:
    return f"floor_div({extent_text(atom.numerator, names)}, {extent_text(atom.divisor, names)})"


# --- sizes to try -----------------------------------------------------------------------------------------------------


def default_sizes(program: Program) -> dict[str, int]:
    """Return a size for each symbol, such that everything holds that the program relies on, and the CPU is done soon.

    Raises:
        TinycError: `UnboundSymbol`: none of the sizes that are tried does.
    """
    if not program.symbols:
        return {}  # however large: there is no choice
    for sizes in _candidates(program.symbols):
        values = dict(zip(program.symbols, sizes, strict=True))
        if _fits(program, values):
            return values
    names = ", ".join(f"'{name}'" for name in program.symbols)
    raise TinycError(
        "UnboundSymbol",
        f"none of the sizes that were tried for {names} meets what the program relies on "
        f"({'; '.join(map(str, program.assumptions))}); bind some of them when the program is read",
    )


def _candidates(symbols: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    count = len(symbols)
    if _GEMM.keys() >= set(symbols):
        yield tuple(_GEMM[symbol] for symbol in symbols)
    for sizes in _DISTINCT:
        yield tuple(sizes[position % len(sizes)] for position in range(count))
    for size in _EQUAL:
        yield (size,) * count
    yield from itertools.islice(itertools.product(_MIXED, repeat=count), _MOST_MIXED)


def _fits(program: Program, values: Mapping[str, int]) -> bool:
    if math.prod(values.values()) > _MOST_WORK:
        return False
    try:
        check(program, values)
        shapes = [[extents.evaluate(extent, values) for extent in buffer.shape] for buffer in program.buffers]
    except (TinycError, ExtentError):
        return False
    return all(math.prod(shape) <= _MOST_ELEMENTS for shape in shapes)


# --- what kernels say -------------------------------------------------------------------------------------------------

_ARITHMETIC = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    **dict.fromkeys(("arith.floordivsi", "arith.divsi", "arith.divui"), extents.floordiv),
}
_CONVERSIONS = frozenset(f"arith.{name}" for name in ("index_cast", "index_castui", "extsi", "extui", "trunci"))


def dim_of(value: Any, symbols: Mapping[Any, str]) -> Dim | None:
    """Return the extent that an `index` is, from the names of the kernel's extents; None where it is something else."""
    if isinstance(value, ir.BlockArgument):
        return extents.symbol(symbols[value]) if value in symbols else None
    op = value.owner.operation
    if op.name == "arith.constant":
        return op.attributes["value"].value
    if op.name not in _ARITHMETIC:
        return None
    left, right = (dim_of(operand, symbols) for operand in op.operands)
    if left is None or right is None:
        return None
    try:
        return _ARITHMETIC[op.name](left, right)
    except ExtentError:
        return None


def index_limits(buffer: Any, symbols: Mapping[Any, str]) -> list[Dim]:
    """Return the sizes of the axes that a buffer's elements are checked to be indices of."""
    limits: list[Dim] = []
    pending = [use.owner.operation.results[0] for use in buffer.uses if use.owner.operation.name == "memref.load"]
    while pending:
        for use in pending.pop().uses:
            op = use.owner.operation
            if op.name in _CONVERSIONS:
                pending.append(op.results[0])
            elif op.name == "arith.cmpi" and use.operand_number == 0 and isinstance(op.operands[1].type, ir.IndexType):
                limit = dim_of(op.operands[1], symbols)
                if limit is not None and str(op.attributes["predicate"]).startswith("6"):
                    limits.append(limit)
    return list(dict.fromkeys(limits))


def summed_terms(block: Any, symbols: Mapping[Any, str]) -> Dim:
    """Return how many terms the longest float sums of a function have: the iterations of loops that carry floats."""
    longest: list[Dim] = [0]
    for each in block.operations:
        op = each.operation
        inner = [summed_terms(body, symbols) for body in inner_blocks(op)]
        if op.name == "scf.for" and any(is_float(variable.type) for variable in loop_variables(op)):
            low, high = (dim_of(operand, symbols) for operand in list(op.operands)[:2])
            length = 1 if low is None or high is None else high - low
            inner = [length * max(1, part) if isinstance(part, int) else length * part for part in inner]
        longest += inner
    symbolic = [each for each in dict.fromkeys(longest) if not isinstance(each, int)]
    return extents_sum([max(each for each in longest if isinstance(each, int)), *symbolic])


def extents_sum(dims: list[Dim]) -> Dim:
    """Return the sum of extents, which bounds each of them."""
    total: Dim = 0
    for dim in dims:
        total = total + dim
    return total
