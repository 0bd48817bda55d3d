"""Sizes in generated CUDA text: extents as C++ expressions, sizes to try a program at, and what kernels say of sizes.

In: extents and a `runtime.Program`, kernels at the scalar level. Out: text and numbers.
"""

import itertools
import math
from collections.abc import Iterator, Mapping

from tinyc.diagnostics import TinycError
from tinyc.dialects.cuda.printer.folding import inner_blocks
from tinyc.dialects.cuda.printer.types import is_float_type, value_of
from tinyc.expr import extents
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.terms import Notation
from tinyc.mlir import arith, ir, memref, scf
from tinyc.runtime.program import Program
from tinyc.runtime.sizes import check_sizes

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


def c_notation(names: Mapping[str, str]) -> Notation:
    """Extents as C++ expressions over the variables `names` of their symbols."""
    return Notation(" * ", names.__getitem__, divide="floor_div({}, {})".format)


# --- sizes to try -----------------------------------------------------------------------------------------------------


def default_sizes(program: Program) -> dict[str, int]:
    """A size for each symbol, such that everything holds that the program relies on, and the CPU is done soon.

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
        check_sizes(program, values)
        shapes = [[extents.evaluate(extent, values) for extent in buffer.shape] for buffer in program.buffers]
    except (TinycError, ExtentError):
        return False
    return all(math.prod(shape) <= _MOST_ELEMENTS for shape in shapes)


# --- what kernels say -------------------------------------------------------------------------------------------------

_Arithmetic = arith.AddIOp | arith.SubIOp | arith.MulIOp | arith.FloorDivSIOp | arith.DivSIOp | arith.DivUIOp
_Conversion = arith.IndexCastOp | arith.IndexCastUIOp | arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp


def dim_of(value: ir.Value, symbols: Mapping[ir.Value, str]) -> Dim | None:
    """The extent that an `index` is, from the names of the kernel's extents; None where it is something else."""
    op = value.owner
    if isinstance(op, ir.Block):
        return extents.symbol(symbols[value]) if value in symbols else None
    if isinstance(op, arith.ConstantOp):
        number = value_of(op.value)
        return number if isinstance(number, int) else None
    if not isinstance(op, _Arithmetic):
        return None
    left, right = dim_of(op.lhs, symbols), dim_of(op.rhs, symbols)
    if left is None or right is None:
        return None
    try:
        if isinstance(op, arith.AddIOp):
            return left + right
        if isinstance(op, arith.SubIOp):
            return left - right
        return left * right if isinstance(op, arith.MulIOp) else extents.floordiv(left, right)
    except ExtentError:
        return None


def index_limits(buffer: ir.Value, symbols: Mapping[ir.Value, str]) -> list[Dim]:
    """The sizes of the axes that a buffer's elements are checked to be indices of."""
    limits: list[Dim] = []
    pending: list[ir.Value] = [use.owner.results[0] for use in buffer.uses if isinstance(use.owner, memref.LoadOp)]
    while pending:
        for use in pending.pop().uses:
            op = use.owner
            if isinstance(op, _Conversion):
                pending.append(op.out)
            elif isinstance(op, arith.CmpIOp) and use.operand_number == 0 and isinstance(op.rhs.type, ir.IndexType):
                limit, predicate = dim_of(op.rhs, symbols), ir.IntegerAttr(op.predicate).value
                if limit is not None and predicate == arith.CmpIPredicate.ult:
                    limits.append(limit)
    return list(dict.fromkeys(limits))


def summed_terms(block: ir.Block, symbols: Mapping[ir.Value, str]) -> Dim:
    """How many terms the longest float sums of a function have: the iterations of loops that carry floats."""
    longest: list[Dim] = [0]
    for op in block.operations:
        inner = [summed_terms(body, symbols) for body in inner_blocks(op)]
        if isinstance(op, scf.ForOp) and any(is_float_type(variable.type) for variable in op.inner_iter_args):
            low, high = dim_of(op.lowerBound, symbols), dim_of(op.upperBound, symbols)
            length: Dim = 1 if low is None or high is None else high - low
            inner = [length * max(1, part) if isinstance(part, int) else length * part for part in inner]
        longest += inner
    symbolic = [each for each in dict.fromkeys(longest) if not isinstance(each, int)]
    return extents_sum([max(each for each in longest if isinstance(each, int)), *symbolic])


def extents_sum(dims: list[Dim]) -> Dim:
    """The sum of extents, which bounds each of them."""
    total: Dim = 0
    for dim in dims:
        total = total + dim
    return total
