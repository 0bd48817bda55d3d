"""Candidates for tests: facts as a fusion may propose them, no IR."""

from tinyc.analysis.candidate import Candidate, Epilogue, LocalEdge, MatrixProduct, ProductOperand
from tinyc.diagnostics import Where
from tinyc.expr import extents
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
) -> Candidate:
    """A matrix product of two tensors, or a batch of them, summed in f32 (f64 in its own type)."""
    m, n, k, batch = (extents.parse_extent(str(extent)) for extent in (m, n, k, batch))
    lhs, rhs = (ProductOperand(ElementType(element), each) for each in names)
    accumulator = ElementType.F64 if element == "f64" else ElementType.F32
    product = MatrixProduct(m, n, k, batch, lhs, rhs, accumulator, epilogue or Epilogue())
    return Candidate(name, Where(), ((batch, m, n),), product, pattern="matmul", local_edges=local_edges)


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
