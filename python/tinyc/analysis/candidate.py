"""A candidate: the facts about one kernel, existing or proposed, by which a scheme says whether it can build it.

Frozen data without IR, so that it can be made of a `region.kernel` (`kernel_candidate`) and of what a fusion proposes,
and judged where no MLIR is installed.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tinyc.analysis.strided_access import StridedAccess
from tinyc.diagnostics import Where
from tinyc.expr.extents import Dim
from tinyc.vocabulary.broadcast import Broadcast
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

if TYPE_CHECKING:  # candidates are judged where MLIR is not installed
    from tinyc.analysis.poly_core.fused_loops import FusedLoops
    from tinyc.dialects.region.ops import KernelOp


@dataclass(frozen=True)
class Epilogue:
    """The ops between a reduction and the output: `bias`, `residual`, `relu`, `silu`, `gelu`, others as in Tiny.

    A bias is an operand added along the rows or the columns only, a residual one that is added in full; casts are not
    listed. `inputs` has an entry for each `region.read`, in the order of these.
    """

    ops: tuple[str, ...] = ()
    inputs: tuple[Broadcast, ...] = ()


@dataclass(frozen=True)
class ProductOperand:
    """One side of a matrix product: the element type in which it is multiplied, and what the host calls the tensors.

    There are several names where the operand is computed from several inputs, and where launches share the kernel.
    `exact` are the element types that hold each of its elements: `element`, and those that the kernel widens to it,
    the narrowest last. `access` is where the elements are before that, or why they are not the elements of a buffer:
    it completes "since …". `source` is where the elements of the one tensor are that those of the operand are computed
    from, each from one of its own, by whatever element-wise ops; None where there is no such tensor.
    """

    element: ElementType
    names: tuple[str, ...]
    exact: tuple[ElementType, ...] = ()
    access: StridedAccess | str = "it is not known how it is read"
    source: StridedAccess | None = None

    @property
    def transposed(self) -> "ProductOperand":
        """The transposed matrix, of the same elements."""
        source = self.source and self.source.transposed
        return replace(self, access=_transposed(self.access), source=source)


@dataclass(frozen=True)
class MatrixProduct:
    """A contraction as ``[batch, m, k] × [batch, k, n]``.

    The extents are those of the axes of each role taken together; what neither operand is read along counts as batch.
    `accumulator` is the element type in which the reduction runs. `results` says for each output of the kernel where
    what becomes of accumulator (row, column) is written, or why this is not regular. `residuals` are where the elements
    are that the epilogue reads beside the accumulators, one for each, at regular distances.
    """

    m: Dim
    n: Dim
    k: Dim
    batch: Dim
    lhs: ProductOperand
    rhs: ProductOperand
    accumulator: ElementType
    epilogue: Epilogue
    results: tuple[StridedAccess | str, ...] = ()
    residuals: tuple[StridedAccess, ...] = ()

    @property
    def stored(self) -> tuple[StridedAccess, ...]:
        """The `results` that are written at regular distances."""
        return tuple(each for each in self.results if isinstance(each, StridedAccess))

    @property
    def extents(self) -> dict[str, Dim]:
        """The extents by the names that a plan has for the axes."""
        return {"m": self.m, "n": self.n, "k": self.k, "batch": self.batch}

    @property
    def transposed(self) -> "MatrixProduct":
        """The product of the transposed operands, in the other order: of the same sums, whose transpose it computes."""
        along = {Broadcast.ROW: Broadcast.COLUMN, Broadcast.COLUMN: Broadcast.ROW}
        inputs = tuple(along.get(each, each) for each in self.epilogue.inputs)
        return replace(
            self,
            m=self.n,
            n=self.m,
            lhs=self.rhs.transposed,
            rhs=self.lhs.transposed,
            epilogue=replace(self.epilogue, inputs=inputs),
            results=tuple(map(_transposed, self.results)),
            residuals=tuple(each.transposed for each in self.residuals),
        )


def _transposed(access: StridedAccess | str) -> StridedAccess | str:
    return access if isinstance(access, str) else access.transposed


@dataclass(frozen=True)
class ScatteredUpdates:
    """The updates that a kernel puts into a copy of its data, or adds to it."""

    extents: tuple[Dim, ...]
    adds: bool


@dataclass(frozen=True)
class LocalEdge:
    """An edge inside of a kernel, by the ops at its ends as a plan calls them, and what holds its elements.

    `buffer` is "reg", "smem_ring" of `depth` stages, or "gmem" where a step is more than a CTA can hold.
    """

    source: str
    target: str
    buffer: str
    depth: int | None = None

    @property
    def values(self) -> dict[str, str | int]:
        """The edge as a plan has it."""
        depth = {} if self.depth is None else {"depth": self.depth}
        return {"from": self.source, "to": self.target, "buffer": self.buffer, **depth}


@dataclass(frozen=True)
class Candidate:
    """One kernel, by its name and its place for messages.

    `product` is None where it is not a matrix product that tiles can compute, for the reason `no_product`; `loops` are
    its fused loops, or why there are none. `top_k` has the extents of the axes that are searched independently,
    `tensors` what the buffers hold, the outputs last. `pattern` is that of its one contraction; `local_edges` are only
    known of a kernel that exists, and so are its `op`, and the buffers `kept`, by position, that hold the same in all
    runs of a program. `limits` are what symbols are at most where it is launched.
    """

    name: str
    where: Where
    outputs: tuple[tuple[Dim, ...], ...]
    product: MatrixProduct | None
    no_product: str = ""
    loops: "FusedLoops | str" = "it is not known by its loops"
    scatter: ScatteredUpdates | None = None
    top_k: tuple[Dim, ...] | None = None
    tensors: tuple[TensorType, ...] = ()
    pattern: str | None = None
    local_edges: tuple[LocalEdge, ...] = ()
    limits: tuple[tuple[str, int], ...] = ()
    op: "KernelOp | None" = field(default=None, compare=False, repr=False)
    kept: frozenset[int] = frozenset()
