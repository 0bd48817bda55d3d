"""Extents as code: i64 arithmetic that computes sizes, offsets and trip counts at run time.

In: extents over symbols whose values are at hand as i64 values. Out: `arith` ops at the insertion point, each distinct
extent computed once.
"""

from collections.abc import Mapping
from typing import Any

from tinyc.analysis.extents import Dim, Extent, FloorDiv
from tinyc.mlir import arith, ir


class ExtentCode:
    """Writes extents at one insertion point; `symbols` are the i64 values of the symbols."""

    def __init__(self, symbols: Mapping[str, Any]) -> None:
        self.symbols = symbols
        self.i64 = ir.IntegerType.get_signless(64)
        self._written: dict[Dim, Any] = {}

    def value(self, dim: Dim) -> Any:
        """Return `dim` as an i64 value."""
        if dim not in self._written:
            self._written[dim] = self._sum(dim) if isinstance(dim, Extent) else arith.constant(self.i64, dim)
        return self._written[dim]

    def _sum(self, dim: Extent) -> Any:
        total = None
        for monomial, coefficient in dim.terms:
            factors = [self._atom(atom) for atom in monomial]
            if coefficient != 1 or not factors:
                factors.append(self.value(coefficient))
            term = factors[0]
            for factor in factors[1:]:
                term = arith.muli(term, factor)
            total = term if total is None else arith.addi(total, term)
        return total

    def _atom(self, atom: str | FloorDiv) -> Any:
        if isinstance(atom, str):
            return self.symbols[atom]
        return arith.floordivsi(self.value(atom.numerator), self.value(atom.divisor))
