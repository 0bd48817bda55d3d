"""Contractions as formulas: `mul` and `reduce` over expanded operands, which the analyses recognise."""

from tinyc.diagnostics import TinycError
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value, broadcast_shape
from tinyc.vocabulary.element_type import ElementType


def matmul(a: Value, b: Value) -> Value:
    """The sum over k of `a[…, m, k] · b[…, k, n]`; leading axes broadcast, a vector is a row on the left, a column on the
    right. Accumulated in f32 for 16-bit floats, in 32 bits for small integers, and rounded to the type of the operands.
    """
    if not a.rank or not b.rank:
        raise TinycError("BroadcastMismatch", f"matmul takes vectors, matrices or stacks, not {a.type} and {b.type}")
    left = a.unsqueeze(0) if a.rank == 1 else a
    right = b.unsqueeze(1) if b.rank == 1 else b
    product = _product(left, right).to(a.element)
    dropped = {product.rank - 2} if a.rank == 1 else set[int]()
    dropped |= {product.rank - 1} if b.rank == 1 else set()
    return product.reshape(*(extent for axis, extent in enumerate(product.shape) if axis not in dropped))


def _product(a: Value, b: Value) -> Value:
    """The product of matrices, or stacks of them, in the accumulator's type."""
    a.builder.assume_equal(a.shape[-1], b.shape[-2])
    lead = broadcast_shape([a.shape[:-2], b.shape[:-2]])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    lhs = a.unsqueeze(-2).expand((*lead, m, n, k))
    rhs = b.permute(*range(b.rank - 2), b.rank - 1, b.rank - 2).unsqueeze(-3).expand((*lead, m, n, k))
    return (lhs * rhs).reduce("sum", -1, element=product_accumulator(a.element))


def product_accumulator(element: ElementType) -> ElementType:
    """The type in which products are added up: one that small numbers do not overflow."""
    if element.is_integer and element.bits < 32:
        return ElementType.I32 if element.is_signed else ElementType.UI32
    return element.accumulator


FORMULAS: dict[str, Function] = {"matmul": matmul}
