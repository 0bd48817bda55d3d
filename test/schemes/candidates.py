"""Candidates for tests: facts as a fusion may propose them, no IR."""

from tinyc.analysis.candidate import Candidate, Epilogue, LocalEdge, MatrixProduct, ProductOperand
from tinyc.analysis.strided_access import AxisRun, Side, StridedAccess
from tinyc.diagnostics import Where
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.vocabulary.broadcast import Broadcast
from tinyc.vocabulary.element_type import ElementType


def gemm(
    m: str | int = "M",
    n: str | int = "N",
    k: str | int = "K",
    element: str = "f16",
    batch: str | int = 1,
    names: tuple[tuple[str, ...], tuple[str, ...]] = (("A",), ("B",)),
    epilogue: Epilogue | None = None,
    name: str = "matmul",
    local_edges: tuple[LocalEdge, ...] = (LocalEdge("sum_k", "cast", "reg"),),
    layout: str = "nn",
    output: str = "",
) -> Candidate:
    """A matrix product of two tensors, or a batch of them, summed in f32 (f64 in its own type, i8 in i32).

    `layout` has a "t" for an operand that lies transposed; the elements of the output are `output`, else the operands'.
    """
    m, n, k, batch = (extents.parse_extent(str(extent)) for extent in (m, n, k, batch))
    held = ElementType(element)
    accumulator = {"f64": ElementType.F64, "i8": ElementType.I32}.get(element, ElementType.F32)
    factor = accumulator if held.is_integer else held  # integers are widened before they are multiplied
    exact = (factor,) if factor is held else (factor, held)
    sides = ((0, (m, k), layout[0]), (1, (k, n), layout[1]))
    accesses = [dense(buffer, held, *shape, batch, order) for buffer, shape, order in sides]
    c = dense(2, ElementType(output or element), m, n, batch, "n")
    lhs, rhs = (ProductOperand(factor, each, exact, access) for each, access in zip(names, accesses, strict=True))
    product = MatrixProduct(m, n, k, batch, lhs, rhs, accumulator, epilogue or Epilogue(), (c,))
    return Candidate(name, Where(), ((batch, m, n),), product, pattern="matmul", local_edges=local_edges)


def dense(buffer: int, element: ElementType, rows: Dim, columns: Dim, batch: Dim, order: str) -> StridedAccess:
    """Where a dense matrix is, or a batch of them; transposed where `order` is "t"."""

    def side(extent: Dim, stride: Dim) -> Side:
        return () if extent == 1 else (AxisRun(extent, stride),)

    strides = (1, rows) if order == "t" else (columns, 1)
    return StridedAccess(
        buffer, element, 0, side(rows, strides[0]), side(columns, strides[1]), side(batch, rows * columns)
    )


def gemm_bias_relu() -> Candidate:
    """The running example of the specification."""
    epilogue = Epilogue(("bias", "relu"), (Broadcast.COLUMN,))
    edges = (LocalEdge("sum_k", "relu", "reg"),)
    return gemm(names=(("X",), ("W",)), epilogue=epilogue, name="matmul_add_relu_cast", local_edges=edges)


def elementwise(*shape: str | int, name: str = "elementwise_neg") -> Candidate:
    """A kernel that is not a contraction."""
    reason = "it is not one reduction whose result is written element by element"
    return Candidate(
        name, Where(), (tuple(extents.parse_extent(str(extent)) for extent in shape or (4,)),), None, reason
    )
