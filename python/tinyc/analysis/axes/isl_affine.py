"""Axis expressions as isl's affine functions, by its builders: no text is made or read.

Importing this module loads islpy, which takes its time: whoever does not always need it imports it where it does.
"""

from collections.abc import Sequence
from typing import Any

import islpy as isl

from tinyc.analysis.axes.expression import Axis, AxisExpr, FloorDiv, Index
from tinyc.analysis.extents import Dim
from tinyc.analysis.isl.extents import division_of, monomial_text


class AffineFunctions:
    """Builds functions on an isl set space, whose dimension k is the axis `i<k>`.

    `parameters` are the symbols, and products of symbols, that the parameters of the space stand for, as text.
    """

    def __init__(self, space: Any, parameters: Sequence[str]) -> None:
        self._space, self._local = space, isl.LocalSpace.from_space(space)
        self._positions = {text: position for position, text in enumerate(parameters)}
        self._quotients: dict[FloorDiv, Any] = {}

    def constant(self, value: int) -> Any:
        """Return a number as an `isl.Aff`."""
        # Numbers go in as text: isl's integers have no limit, those of its Python interface have.
        return isl.Aff.val_on_domain(self._local, isl.Val(str(value)))

    def extent(self, dim: Dim) -> Any:
        """Return an extent as an `isl.Aff`."""
        if isinstance(dim, int):
            return self.constant(dim)
        total = self.constant(0)
        for monomial, coefficient in dim.terms:
            division = division_of(monomial)
            if not monomial:
                term = self.constant(1)
            elif division is not None:
                numerator, divisor = division
                term = _floor(self.extent(numerator), divisor)
            else:
                position = self._positions[monomial_text(monomial)]
                term = isl.Aff.var_on_domain(self._local, isl.dim_type.param, position)
            total = total.add(_scaled(term, coefficient))
        return total

    def affine(self, expression: AxisExpr) -> Any:
        """Return an axis expression as an `isl.Aff`; each division is built once."""
        total = self.extent(expression.constant)
        for atom, coefficient in expression.terms:
            if isinstance(atom, Axis):
                term = isl.Aff.var_on_domain(self._local, isl.dim_type.set, atom.position)
            else:
                term = self._quotient(atom)
            total = total.add(_scaled(term, coefficient))
        return total

    def _quotient(self, atom: FloorDiv) -> Any:
        if atom not in self._quotients:
            self._quotients[atom] = _floor(self.affine(atom.numerator), atom.divisor)
        return self._quotients[atom]

    def multi_affine(self, index: Index, tensor: str) -> Any:
        """Return an index as an `isl.MultiAff` to the elements of `tensor`."""
        rows = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(index))
        for row in index:
            rows = rows.add(self.affine(row))
        elements = self._space.params().set_from_params().add_dims(isl.dim_type.set, len(index))
        space = self._space.map_from_domain_and_range(elements.set_tuple_name(isl.dim_type.set, tensor))
        return isl.MultiAff.from_aff_list(space, rows)


def _scaled(term: Any, coefficient: int) -> Any:
    return term.scale_val(isl.Val(str(coefficient)))


def _floor(numerator: Any, divisor: int) -> Any:
    return numerator.scale_down_val(isl.Val(str(divisor))).floor()
