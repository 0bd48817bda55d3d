"""Exact division of extents, by sums too: what a reshape of symbolic sizes is matched by."""

from tinyc.expr import extents
from tinyc.expr.extents import Dim, Extent, ExtentError


def quotient(dim: Dim, divisor: Dim) -> Dim | None:
    """The extent q with ``q * divisor == dim`` for all sizes, or None where there is no such polynomial.

    Floor divisions are taken as symbols. Of sums the leading terms are divided until nothing is left: extents keep
    their terms in a monomial order (by degree, then by name), so that a product leads with the product of the leads.
    """
    if isinstance(divisor, int) or len(divisor.terms) == 1:
        return extents.divide(dim, divisor)
    found: Dim = 0
    try:
        while isinstance(dim, Extent):
            step = extents.divide(_leading(dim), _leading(divisor))
            if step is None:
                return None
            found, dim = found + step, dim - divisor * step
    except ExtentError:  # too many terms on the way: not known
        return None
    return found if dim == 0 else None


def _leading(dim: Extent) -> Extent:
    return Extent(dim.terms[:1])
