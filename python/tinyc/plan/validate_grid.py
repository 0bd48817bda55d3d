"""The grid of scheme `naive_2x2_per_thread`: which block index runs along which axis, and how far it may."""

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim
from tinyc.plan.fields import NAIVE, Plan
from tinyc.plan.validate_case import Case
from tinyc.plan.validate_tile import Tile

_USUAL = {"m.o": "block.y", "n.o": "block.x", "batch": "block.z"}
_SWAPPED = {"m.o": "block.x", "n.o": "block.y", "batch": "block.z"}


def bind(plan: Plan, tile: Tile, case: Case) -> dict[str, str]:
    """Return the block index of each axis: as given, else m along y, or along x where y is too short for it."""
    given = plan.bind or {}
    _check_bind(given, case)
    counts = {
        "m.o": extents.ceildiv(case.product.m, tile[0]),
        "n.o": extents.ceildiv(case.product.n, tile[1]),
        "batch": case.product.batch,
    }
    usual = not _exceeds(counts["m.o"], case.target.blocks_per_grid_y)
    order = (_USUAL, _SWAPPED) if usual else (_SWAPPED, _USUAL)
    bound = next((each for each in order if given.items() <= each.items()), order[0])
    if "batch" not in case.axes:
        bound = {axis: index for axis, index in bound.items() if axis != "batch"}
    _check_counts(bound, counts, case)
    return dict(bound)


def _check_bind(given: dict[str, str], case: Case) -> None:
    for axis, index in given.items():
        if case.has_axis("bind", axis) and index not in (_USUAL.get(axis), _SWAPPED.get(axis)):
            message = (
                f"has {axis} at {index}, and scheme '{NAIVE}' binds m.o and n.o to block.y and block.x, either way, "
                "batch to block.z, and nothing else; leave it out"
            )
            case.refuse("UnsupportedPlan", "bind", message)
    if "m.o" in given and given["m.o"] == given.get("n.o"):
        message = f"has both m.o and n.o at {given['m.o']}; bind one to block.x and one to block.y"
        case.refuse("PlanMismatch", "bind", message)


_REMEDIES = {
    "block.x": "choose a larger tile",
    "block.y": "bind it to block.x, or choose a larger tile",
    "block.z": "choose scheme generic",
}


def _check_counts(bound: dict[str, str], counts: dict[str, Dim], case: Case) -> None:
    target = case.target
    limits = {
        "block.x": target.blocks_per_grid_x,
        "block.y": target.blocks_per_grid_y,
        "block.z": target.blocks_per_grid_z,
    }
    for axis, index in bound.items():
        if _exceeds(counts[axis], limits[index]):
            message = (
                f"puts {axis} at {index}, which makes {counts[axis]} blocks; {target.name} launches at most "
                f"{limits[index]} blocks along {index[-1]}; {_REMEDIES[index]}"
            )
            case.refuse("ResourceExceeded", "bind", message)


def _exceeds(count: Dim, limit: int) -> bool:
    """Say whether there are more blocks than the limit; an extent that is not known is checked at the launch."""
    return isinstance(count, int) and count > limit
