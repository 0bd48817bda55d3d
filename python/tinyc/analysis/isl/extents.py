"""What isl can say of an extent: floor divisions by numbers; all else of a symbol or more is a parameter of its own."""

from collections.abc import Iterable

from tinyc.analysis.extents import Dim, Extent, FloorDiv, Monomial


def monomial_text(monomial: Monomial) -> str:
    """Return the canonical text of a product of symbols and floor divisions."""
    return str(Extent(((monomial, 1),)))


def division_of(monomial: Monomial) -> tuple[Extent, int] | None:
    """Return the numerator and the divisor of a monomial that isl can write as a floor, or None."""
    atom = monomial[0] if len(monomial) == 1 else None
    if isinstance(atom, FloorDiv) and isinstance(atom.divisor, int):
        return atom.numerator, atom.divisor
    return None


def opaque_extents(dim: Dim) -> Iterable[str]:
    """Yield the symbols and products in `dim` that isl takes as parameters, as canonical text."""
    if isinstance(dim, int):
        return
    for monomial, _ in dim.terms:
        division = division_of(monomial)
        if division is not None:
            yield from opaque_extents(division[0])
        elif monomial:
            yield monomial_text(monomial)
