"""What a plan is made for: the facts about one region that decide which scheme fits and what its limits are.

In: a `region.kernel`. Out: a frozen `Workload`; the IR stays as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.epilogue import EpilogueInput, epilogue_of
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.analysis.host_names import HostNames, host_names
from tinyc.analysis.patterns.contraction import Contraction, Rejected, detect, is_summed_product
from tinyc.analysis.tiled_reduction import tiled_reduction
from tinyc.diagnostics import Where
from tinyc.dialects.region.verify import block_of, yields_of
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.plan.fields import NAIVE
from tinyc.text import where


@dataclass(frozen=True)
class Operand:
    """One side of the product: the element type in which it is multiplied, and what the host calls the tensors.

    There are several names where the operand is computed from several inputs, and where launches share the kernel.
    """

    element: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Product:
    """A sum of products as a matrix product: ``[batch, m, k] × [batch, k, n]``.

    The extents are those of the axes of each role taken together; what neither operand is read along counts as batch.
    """

    contraction: Contraction
    m: Dim
    n: Dim
    k: Dim
    batch: Dim
    lhs: Operand
    rhs: Operand
    accumulator: str
    epilogue: tuple[str, ...]
    inputs: tuple[EpilogueInput, ...]

    @property
    def extents(self) -> dict[str, Dim]:
        """The extents by the names that a plan has for the axes."""
        return {"m": self.m, "n": self.n, "k": self.k, "batch": self.batch}


@dataclass(frozen=True)
class Workload:
    """The facts about a region; `product` is None where it is no contraction, for the `reason` that is given."""

    name: str
    where: Where
    product: Product | None
    reason: str = ""

    @property
    def scheme(self) -> str:
        """The scheme that fits: `naive_2x2_per_thread` for contractions, `generic` for anything else."""
        return NAIVE if self.product is not None else "generic"


def workload_of(kernel: Any, names: HostNames | None = None) -> Workload:
    """Return the facts about a `region.kernel`; `names` are `host_names` of its module, where they are at hand."""
    symbol = kernel.operation.attributes["sym_name"].value
    if names is None:
        names = host_names(kernel.operation.parent.opview)
    product, reason = _product(kernel, names.get(symbol, ()))
    return Workload(symbol, where(kernel.operation.location), product, reason)


def _product(kernel: Any, names: tuple[tuple[str, ...], ...]) -> tuple[Product | None, str]:
    """Return the matrix product that a kernel is, or why it is none."""
    reduction = tiled_reduction(kernel)
    if reduction is None:
        return None, "it is not one reduction whose result is written element by element"
    found = detect(reduction)
    if isinstance(found, Rejected):
        return None, f"its reduction is no contraction: {found.reason}"
    if not found.has_mma_shape:
        return None, f"no MMA fits its contraction: {found.misfit}"
    if not is_summed_product(reduction):
        return None, "its products are moved before they are summed"
    try:
        return _of_contraction(kernel, found, names), ""
    except ExtentError as error:
        return None, f"the product of its extents is beyond what an extent can say: {error}"


def _of_contraction(kernel: Any, found: Contraction, names: tuple[tuple[str, ...], ...]) -> Product:
    roles = found.axis_roles
    m, n, k, batch = (
        extents.product(found.domain[position] for position in positions)
        for positions in (roles.m, roles.n, roles.k, (*roles.batch, *roles.broadcast))
    )
    lhs, rhs = (_operand(kernel, operand, names) for operand in found.multiply.operands)
    (yielding,) = yields_of(kernel)
    epilogue = epilogue_of(found, yielding.operation.operands[0])
    accumulator = tensor_type(found.reduce.operation.results[0].type).element
    return Product(found, m, n, k, batch, lhs, rhs, accumulator, epilogue.ops, epilogue.inputs)


def _operand(kernel: Any, value: Any, names: tuple[tuple[str, ...], ...]) -> Operand:
    buffers = list(block_of(kernel).arguments)
    found: dict[str, None] = {}
    for buffer in _buffers_below(value):
        position = buffers.index(buffer)
        found.update(dict.fromkeys(names[position] if position < len(names) else ()))
    return Operand(tensor_type(value.type).element, tuple(found))


def _buffers_below(value: Any) -> Iterator[Any]:
    """Yield the buffers that `value` is computed from, in the order of its operands."""
    pending, seen = [value.owner.operation], set()
    while pending:
        op = pending.pop(0)
        if op in seen:
            continue
        seen.add(op)
        if op.name == "region.read":
            yield op.operands[0]
        else:
            pending.extend(operand.owner.operation for operand in op.operands)
