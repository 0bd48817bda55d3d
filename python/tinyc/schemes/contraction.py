"""What the schemes for contractions judge alike: fields of a plan that say what the region or the tile says already.

In: a plan with some of the fields, a matrix product, a target. Out: the completed fields; what speaks against those
that are given goes to the refusals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tinyc.analysis.candidate import MatrixProduct
from tinyc.expr import extents
from tinyc.plan.fields import Plan
from tinyc.plan.refusals import PlanRefusals
from tinyc.target.target import Target

CtaTile = tuple[int, int, int]
#: The axis whose loop reads what is staged.
STAGED_AT = "k.i"


@dataclass(frozen=True)
class ContractionCase:
    """A contraction that a plan of a scheme is completed for."""

    scheme: str
    product: MatrixProduct
    target: Target
    refusals: PlanRefusals = field(compare=False)

    @property
    def axes(self) -> list[str]:
        """The axes that the product has."""
        return ["m", "n", "k", *(["batch"] if self.product.batch != 1 else [])]

    def has_axis(self, field: str, axis: str) -> bool:
        """Whether the product has the axis that `axis`, such as `m.o`, is a part of; refuse the plan if not."""
        if axis.partition(".")[0] in self.axes:
            return True
        message = f"has the axis '{axis}', and the region's axes are {', '.join(self.axes)}; name one of them"
        self.refusals.add("PlanMismatch", field, message)
        return False


def check_split(plan: Plan, sizes: Mapping[str, int], case: ContractionCase) -> None:
    """Check that `split` says what the tile says: the `sizes` of the axes that the scheme splits."""
    for axis, size in (plan.split or {}).items():
        if not case.has_axis("split", axis):
            continue
        if axis not in sizes:
            *others, last = sizes
            message = f"has the axis {axis}, and scheme '{case.scheme}' splits {', '.join(others)} and {last} only"
            case.refusals.add("UnsupportedPlan", "split", f"{message}; leave it out")
        elif sizes[axis] != size:
            message = f"has {size} along {axis}, and 'tile' has {sizes[axis]}; they must agree: leave it out"
            case.refusals.add("PlanMismatch", "split", message)


def guarded_axes(plan: Plan, tile: CtaTile, case: ContractionCase) -> tuple[str, ...]:
    """The guarded axes: those that are listed, or those that must be."""
    sizes = dict(zip("mnk", tile, strict=True))
    extent = case.product.extents
    needed = [axis for axis, size in sizes.items() if extents.divide(extent[axis], size) is None]
    if plan.predicate_tail is None:
        return tuple(needed)
    given = [axis.partition(".")[0] for axis in plan.predicate_tail if case.has_axis("predicate_tail", axis)]
    if "batch" in given:
        case.refusals.add("UnsupportedPlan", "predicate_tail", "has batch, which has no tiles; list m, n and k only")
    for axis in needed:
        if axis not in given:
            message = (
                f"lacks {axis}, whose extent {extent[axis]} is not known to be a multiple of its tile {sizes[axis]}; "
                f"list {axis}, or choose a tile that divides it"
            )
            case.refusals.add("PlanMismatch", "predicate_tail", message)
    return tuple(axis for axis in sizes if axis in given)


def staged_operands(plan: Plan, stages: int, case: ContractionCase) -> tuple[dict[str, Any], ...]:
    """The staged operands: as given, else both operands, called as the host does where that is one name."""
    sides = {"A": case.product.lhs.names, "B": case.product.rhs.names}  # a plan may call them A and B too
    names = {side: names[0] if len(names) == 1 else side for side, names in sides.items()}
    if plan.cache is None:
        return tuple({"tensor": name, "where": "smem", "at": STAGED_AT} for name in dict.fromkeys(names.values()))
    staged: set[str] = set()
    for entry in plan.cache:
        found = [side for side, known in sides.items() if entry["tensor"] in (*known, side)]
        staged.update(found)
        if not found:
            operands = ", ".join(dict.fromkeys(name for side, known in sides.items() for name in (*known, side)))
            message = f"has '{entry['tensor']}', which is not an operand of the contraction; name one of {operands}"
            case.refusals.add("PlanMismatch", "cache", message)
        _check_staged(entry, stages, case)
    for side in sides:
        if side not in staged:
            message = f"lacks the operand {names[side]}, and scheme '{case.scheme}' stages both; list it"
            case.refusals.add("UnsupportedPlan", "cache", message)
    return plan.cache


def _check_staged(entry: dict[str, Any], stages: int, case: ContractionCase) -> None:
    if entry["at"] != STAGED_AT:
        message = f"has '{entry['tensor']}' at {entry['at']}, and scheme '{case.scheme}' stages at {STAGED_AT}"
        case.refusals.add("UnsupportedPlan", "cache", f"{message}; write that")
    if entry.get("pingpong", stages > 1) != (stages > 1):
        message = f"has pingpong {str(entry['pingpong']).lower()} for '{entry['tensor']}', and 'stages' is {stages}"
        remedy = "a circular buffer is ping-pong from two stages on: leave it out"
        case.refusals.add("PlanMismatch", "cache", f"{message}; {remedy}")


def own_epilogue(plan: Plan, case: ContractionCase) -> tuple[str, ...]:
    """The region's epilogue, which a plan may repeat."""
    own = case.product.epilogue.ops
    if plan.epilogue not in (None, own):
        written, computed = (" ".join(ops) or "empty" for ops in (plan.epilogue or (), own))
        message = f"is {written}, and the region's epilogue is {computed}; a plan cannot change that: leave it out"
        case.refusals.add("PlanMismatch", "epilogue", message)
    return own
