"""A contraction as plain data, axes by their names: the attributes of its block in the Poly-View.

Source: specification 000 §12.3; `batch_idx`, `form` and `digits` are tinyc's own.
"""

from collections.abc import Sequence
from typing import Any

from tinyc.analysis.patterns.contraction.pattern import Contraction


def contraction_facts(found: Contraction, axes: Sequence[str]) -> dict[str, Any]:
    """The facts about a contraction whose joint axes are called `axes`.

    A part of an axis goes by the axis and its number, the coarsest being `.0`; `digits` has the extents of the parts.
    """
    roles, names = found.roles, found.digits.names(axes)
    groups = {
        "lhs_idx": (*roles.batch, *roles.m, *roles.k),
        "rhs_idx": (*roles.batch, *roles.k, *roles.n),
        "out_idx": sorted((*roles.batch, *roles.m, *roles.n, *roles.broadcast)),
        "reduce_idx": roles.k,
        "batch_idx": roles.batch,
    }
    split = {axis: of for axis, of in zip(axes, found.digits.of, strict=True) if len(of) > 1}
    digits = {axis: [str(found.digits.shape[position]) for position in of] for axis, of in split.items()}
    return {
        **{group: [names[position] for position in positions] for group, positions in groups.items()},
        "pattern": found.pattern,
        "form": found.form,
        "affine_offsets": [
            {
                "operand": window.operand,
                "axis": window.row,
                "outer": names[window.outer],
                "kernel": names[window.kernel],
                "stride": window.stride,
                "dilation": window.dilation,
                "pad": window.pad,
            }
            for window in found.windows
        ],
        **({"digits": digits} if digits else {}),
    }
