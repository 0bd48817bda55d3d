"""Expressions as isl's affine functions, by its builders: no text is made or read. And a limit on what isl does.

Importing this module loads islpy, which takes its time: whoever does not always need it imports it where it does.
"""

import contextlib
from collections.abc import Generator, Sequence

import islpy as isl

from tinyc.expr.axes import Index
from tinyc.expr.interpretation import Interpretation
from tinyc.expr.isl import TooHard
from tinyc.expr.isl.parameters import parameter_of

#: Of isl's own steps, a second's worth at most; a question that takes more is not answered.
MAX_OPERATIONS = 20_000


@contextlib.contextmanager
def bounded() -> Generator[None]:
    """Raise `TooHard` where what is asked of isl inside the `with` block takes too long.

    isl fails in many ways once its steps are used up, so that the error does not tell; that it does nothing more does.
    """
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(MAX_OPERATIONS)
    try:
        yield
        spent = _is_spent()
    except Exception:
        spent = _is_spent()
        if not spent:
            raise
    finally:
        context.reset_operations()
        context.set_max_operations(0)
    if spent:
        raise TooHard(f"isl needs more than {MAX_OPERATIONS} steps")


def _is_spent() -> bool:
    try:
        isl.Val("1")
    except isl.Error:
        return True
    return False


class AffineFunctions(Interpretation[isl.Aff]):
    """Builds functions on an isl set space, whose dimension k is the axis `i<k>`; each division is built once.

    `parameters` are the symbols, and products of symbols, that the parameters of the space stand for, as text.
    """

    def __init__(self, space: isl.Space, parameters: Sequence[str]) -> None:
        self._space = space
        local, positions = isl.LocalSpace.from_space(space), {text: place for place, text in enumerate(parameters)}

        def dimension(kind: isl.dim_type, position: int) -> isl.Aff:
            return isl.Aff.var_on_domain(local, kind, position)

        super().__init__(
            # Numbers go in as text: isl's integers have no limit, those of its Python interface have.
            lambda value: isl.Aff.val_on_domain(local, isl.Val(str(value))),
            lambda _, numerator, divisor: numerator.div(divisor).floor(),
            symbol=lambda name: dimension(isl.dim_type.param, positions[name]),
            axis=lambda position: dimension(isl.dim_type.set, position),
            add=isl.Aff.add,
            multiply=isl.Aff.mul,
            parameter=parameter_of,
        )

    def multi_affine(self, index: Index, tensor: str) -> isl.MultiAff:
        """An index as a function to the elements of `tensor`."""
        rows = isl.AffList.alloc(isl.DEFAULT_CONTEXT, len(index))
        for row in index:
            rows = rows.add(self.of(row))
        elements = self._space.params().set_from_params().add_dims(isl.dim_type.set, len(index))
        space = self._space.map_from_domain_and_range(elements.set_tuple_name(isl.dim_type.set, tensor))
        return isl.MultiAff.from_aff_list(space, rows)
