"""The rules of scheme `naive_2x2_per_thread`: which of its plans a region and a target bear, and its defaults.

A block of 16 × 16 threads computes a tile [BM, BN] of sums, 2 × 2 at a time; it goes along k in steps of BK, through a
ring of `stages` tiles of each operand in static shared memory. Block indices are m and n tiles and the batch.

**Source:** 002 §5-7.
"""

import dataclasses

from tinyc.analysis import extents
from tinyc.plan.fields import NAIVE, Plan
from tinyc.plan.validate_cache import STAGED_AT, cache
from tinyc.plan.validate_case import Case
from tinyc.plan.validate_grid import bind
from tinyc.plan.validate_tile import Tile, tile_and_stages

#: The loops that the scheme makes in a block, outermost first; around them is the grid, batches outermost.
_LOOPS = ("k.o", "k.i", "m.i", "n.i")


def complete_naive(plan: Plan, case: Case) -> Plan:
    """Return `plan` with every decision made; what speaks against it goes to the refusals of `case`."""
    tile, stages = tile_and_stages(plan, case)
    bound = bind(plan, tile, case)
    _check_split(plan, tile, case)
    _check_order(plan, bound, case)
    _check_pipeline(plan, case)
    return dataclasses.replace(
        plan,
        tile=tile,
        stages=stages,
        bind=bound,
        cache=cache(plan, stages, case),
        predicate_tail=_predicate_tail(plan, tile, case),
        epilogue=_epilogue(plan, case),
        asynchronous=_asynchronous(plan, case),
    )


def _check_split(plan: Plan, tile: Tile, case: Case) -> None:
    sizes = dict(zip("mnk", tile, strict=True))
    for axis, size in (plan.split or {}).items():
        if not case.has_axis("split", axis):
            continue
        if axis not in sizes:
            message = f"has the axis {axis}, and scheme '{NAIVE}' splits m, n and k only; leave it out"
            case.refuse("UnsupportedPlan", "split", message)
        elif sizes[axis] != size:
            message = f"has {size} along {axis}, and 'tile' has {sizes[axis]}; they must agree: leave it out"
            case.refuse("PlanMismatch", "split", message)


def _check_order(plan: Plan, bound: dict[str, str], case: Case) -> None:
    """Check that the order is that of the scheme's loops; blocks along block.x are next to each other."""
    order = [axis for axis in plan.order or () if case.has_axis("order", axis)]
    loops = ["batch", *sorted(("m.o", "n.o"), key=lambda axis: bound.get(axis, ""), reverse=True), *_LOOPS]
    remedy = f"write {' '.join(axis for axis in loops if axis != 'batch' or axis in order)}, or leave it out"
    foreign = [axis for axis in order if axis not in loops]
    if foreign:
        message = f"has {' '.join(foreign)}, which scheme '{NAIVE}' has no loops for; {remedy}"
        case.refuse("UnsupportedPlan", "order", message)
    nested = [axis for axis in order if axis in loops]
    if nested != sorted(nested, key=loops.index):
        message = f"is {' '.join(order)}, and scheme '{NAIVE}' nests its loops in another order; {remedy}"
        case.refuse("UnsupportedPlan", "order", message)


def _check_pipeline(plan: Plan, case: Case) -> None:
    if plan.pipeline is not None and plan.pipeline != STAGED_AT and case.has_axis("pipeline", plan.pipeline):
        message = f"is '{plan.pipeline}', and scheme '{NAIVE}' fills its ring for {STAGED_AT}; write {STAGED_AT}"
        case.refuse("UnsupportedPlan", "pipeline", message)


def _predicate_tail(plan: Plan, tile: Tile, case: Case) -> tuple[str, ...]:
    """Return the guarded axes: those that are listed, or those that must be."""
    sizes = dict(zip("mnk", tile, strict=True))
    extent = case.product.extents
    needed = [axis for axis, size in sizes.items() if extents.divide(extent[axis], size) is None]
    if plan.predicate_tail is None:
        return tuple(needed)
    given = [axis.partition(".")[0] for axis in plan.predicate_tail if case.has_axis("predicate_tail", axis)]
    if "batch" in given:
        case.refuse("UnsupportedPlan", "predicate_tail", "has batch, which has no tiles; list m, n and k only")
    for axis in needed:
        if axis not in given:
            message = (
                f"lacks {axis}, whose extent {extent[axis]} is not known to be a multiple of its tile {sizes[axis]}; "
                f"list {axis}, or choose a tile that divides it"
            )
            case.refuse("PlanMismatch", "predicate_tail", message)
    return tuple(axis for axis in sizes if axis in given)


def _epilogue(plan: Plan, case: Case) -> tuple[str, ...]:
    own = case.product.epilogue
    if plan.epilogue not in (None, own):
        written, computed = (" ".join(ops) or "nothing" for ops in (plan.epilogue or (), own))
        message = f"is {written}, and the region does {computed} after the sum; a plan cannot change that: leave it out"
        case.refuse("PlanMismatch", "epilogue", message)
    return own


def _asynchronous(plan: Plan, case: Case) -> dict[str, bool]:
    if plan.asynchronous is not None and plan.asynchronous["enable"]:
        message = f"is enabled, and scheme '{NAIVE}' copies by plain loads and stores; write {{\"enable\": false}}"
        case.refuse("UnsupportedPlan", "async", message)
    return {"enable": False}
