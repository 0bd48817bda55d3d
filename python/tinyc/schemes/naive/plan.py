"""Plans of scheme `naive_2x2_per_thread`: their fields, the defaults, and what the hardware has room for.

In: a plan with some of the fields, a matrix product, a target. Out: the plan with all of them; what speaks against
those that are given goes to the refusals.
"""

import dataclasses

from tinyc.analysis.candidate import MatrixProduct
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.schemes.contraction import (
    STAGED_AT,
    ContractionCase,
    CtaTile,
    check_split,
    guarded_axes,
    own_epilogue,
    staged_operands,
)
from tinyc.schemes.scheme import Resources

NAME = "naive_2x2_per_thread"
NAIVE_FIELDS = ("tile", "stages", "pipeline", "order", "split", "bind", "cache", "predicate_tail", "epilogue", "async")

#: Threads of a CTA along n and along m, and the side of each square of accumulators that a thread has.
THREADS = (16, 16)
MICRO = 2
#: Both sides of a tile are multiples of what a CTA covers with one square for each thread.
GRAIN = THREADS[0] * MICRO


def complete_naive(plan: Plan, case: ContractionCase) -> Plan:
    """`plan` with every decision made."""
    tile, stages = _tile_and_stages(plan, case)
    bound = _bind(plan, tile, case)
    check_split(plan, dict(zip("mnk", tile, strict=True)), case)
    _check_order(plan, bound, case)
    _check_pipeline(plan, case)
    return dataclasses.replace(
        plan,
        tile=tile,
        stages=stages,
        bind=bound,
        cache=staged_operands(plan, stages, case),
        predicate_tail=guarded_axes(plan, tile, case),
        epilogue=own_epilogue(plan, case),
        asynchronous=_asynchronous(plan, case),
    )


def resources_of(plan: Plan, product: MatrixProduct) -> Resources:
    """The resources of a kernel with a complete plan."""
    assert plan.tile is not None
    assert plan.stages is not None
    threads = THREADS[0] * THREADS[1]
    return Resources(
        grid=contraction_grid(plan, product),
        threads_per_cta=threads,
        shared_bytes=_shared_bytes(plan.tile, plan.stages, product),
        product_tile=plan.tile[:2],
        accumulator_registers_per_thread=plan.tile[0] * plan.tile[1] // threads * _words(product),
    )


def contraction_grid(plan: Plan, product: MatrixProduct) -> tuple[Dim, Dim, Dim]:
    """The CTAs of a complete plan along x, y and z: one for each tile of the output, batches along z."""
    assert plan.tile is not None
    assert plan.bind is not None
    tiles = {"m.o": extents.ceildiv(product.m, plan.tile[0]), "n.o": extents.ceildiv(product.n, plan.tile[1])}
    along = {plan.bind[axis]: count for axis, count in tiles.items()}
    return along["block.x"], along["block.y"], product.batch


# --- tile and stages: what registers and shared memory have room for --------------------------------------------------

_TILE = (64, 64, 32)
_STAGES = 2
#: What a thread has in registers besides accumulators and factors: pointers, indices and loop counters.
_OTHER_REGISTERS = 32


def _tile_and_stages(plan: Plan, case: ContractionCase) -> tuple[CtaTile, int]:
    """As given, else the default that shared memory has room for."""
    tile = plan.tile or _default_tile(plan, case)
    stages = plan.stages or (_STAGES if _fits(tile, _STAGES, case) else 1)
    _check_sides(tile, case)
    _check_registers(tile, case)
    _check_shared(tile, stages, case)
    return tile, stages


def _default_tile(plan: Plan, case: ContractionCase) -> CtaTile:
    """The tile that `split` says; what it leaves open is as usual, with shorter steps of k for wide elements."""
    split = plan.split or {}
    bm, bn, bk = (split.get(axis, size) for axis, size in zip("mnk", _TILE, strict=True))
    while "k" not in split and bk > 1 and not _fits((bm, bn, bk), plan.stages or _STAGES, case):
        bk //= 2
    return bm, bn, bk


def _check_sides(tile: CtaTile, case: ContractionCase) -> None:
    bm, bn, _ = tile
    if bm % GRAIN or bn % GRAIN:
        below = (bm // GRAIN * GRAIN, bn // GRAIN * GRAIN)
        above = (-(-bm // GRAIN) * GRAIN, -(-bn // GRAIN) * GRAIN)
        choices = " or ".join(f"{m}x{n}" for m, n in (below, above) if m and n)
        message = (
            f"has accumulator tile {bm}x{bn}, not divisible by {GRAIN}x{GRAIN} "
            f"({THREADS[0]}x{THREADS[1]} threads, {MICRO}x{MICRO} each); choose {choices}"
        )
        case.refusals.add("UnsupportedPlan", "tile", message)


def _check_registers(tile: CtaTile, case: ContractionCase) -> None:
    """Check that the accumulators of a thread, with a column and a row of factors and what goes with each column, fit.

    An estimate: of the tiles that pass, wide or high, none made ptxas spill when tried; of those beyond, some do.
    """
    bm, bn, _ = tile
    rows, columns = -(-bm // THREADS[1]), -(-bn // THREADS[0])
    needed = (rows * columns + rows + 2 * columns) * _words(case.product) + _OTHER_REGISTERS
    limit = case.target.registers_per_thread
    if needed > limit:
        message = (
            f"has accumulator tile {bm}x{bn}, about {needed} registers per thread ({rows}x{columns} accumulators in "
            f"{case.product.accumulator}); {case.target.name} has {limit}; choose a smaller tile"
        )
        case.refusals.add("ResourceExceeded", "tile", message)


def _check_shared(tile: CtaTile, stages: int, case: ContractionCase) -> None:
    if _fits(tile, stages, case):
        return
    (bm, bn, bk), product, target = tile, case.product, case.target
    message = (
        f"and 'stages' take {stages} x ({bm}x{bk} {product.lhs.element} + {bk}x{bn} {product.rhs.element}) = "
        f"{_shared_bytes(tile, stages, product)} bytes of static shared memory per CTA; {target.name} has "
        f"{target.shared_bytes_per_cta_static}; choose a smaller tile or fewer stages"
    )
    case.refusals.add("ResourceExceeded", "tile", message)


def _fits(tile: CtaTile, stages: int, case: ContractionCase) -> bool:
    return _shared_bytes(tile, stages, case.product) <= case.target.shared_bytes_per_cta_static


def _shared_bytes(tile: CtaTile, stages: int, product: MatrixProduct) -> int:
    bm, bn, bk = tile
    return stages * bk * (bm * product.lhs.element.size_bytes + bn * product.rhs.element.size_bytes)


def _words(product: MatrixProduct) -> int:
    """Registers of an accumulator."""
    return max(1, product.accumulator.bits // 32)


# --- the grid: which CTA index runs along which axis, and how far it may ----------------------------------------------

_USUAL = {"m.o": "block.y", "n.o": "block.x", "batch": "block.z"}
_SWAPPED = {"m.o": "block.x", "n.o": "block.y", "batch": "block.z"}


def _bind(plan: Plan, tile: CtaTile, case: ContractionCase) -> dict[str, str]:
    """The CTA index of each axis: as given, else m along y, or along x where y is too short for it."""
    given = plan.bind or {}
    _check_bind(given, case)
    counts: dict[str, Dim] = {
        "m.o": extents.ceildiv(case.product.m, tile[0]),
        "n.o": extents.ceildiv(case.product.n, tile[1]),
        "batch": case.product.batch,
    }
    usual = not _exceeds(counts["m.o"], case.target.ctas_per_grid_y)
    order = (_USUAL, _SWAPPED) if usual else (_SWAPPED, _USUAL)
    bound = next((each for each in order if given.items() <= each.items()), order[0])
    if "batch" not in case.axes:
        bound = {axis: index for axis, index in bound.items() if axis != "batch"}
    _check_counts(bound, counts, case)
    return dict(bound)


def _check_bind(given: dict[str, str], case: ContractionCase) -> None:
    for axis, index in given.items():
        if case.has_axis("bind", axis) and index not in (_USUAL.get(axis), _SWAPPED.get(axis)):
            message = (
                f"has {axis} at {index}, and scheme '{NAME}' binds m.o and n.o to block.y and block.x, either way, "
                "batch to block.z, and nothing else; leave it out"
            )
            case.refusals.add("UnsupportedPlan", "bind", message)
    if "m.o" in given and given["m.o"] == given.get("n.o"):
        message = f"has both m.o and n.o at {given['m.o']}; bind one to block.x and one to block.y"
        case.refusals.add("PlanMismatch", "bind", message)


def _check_counts(bound: dict[str, str], counts: dict[str, Dim], case: ContractionCase) -> None:
    target = case.target
    limits = {
        "block.x": (target.ctas_per_grid_x, "choose a larger tile"),
        "block.y": (target.ctas_per_grid_y, "bind it to block.x, or choose a larger tile"),
        "block.z": (target.ctas_per_grid_z, "choose another scheme"),
    }
    for axis, index in bound.items():
        limit, remedy = limits[index]
        if _exceeds(counts[axis], limit):
            message = (
                f"has {axis} at {index}, {counts[axis]} CTAs; {target.name} launches at most {limit} along "
                f"{index[-1]}; {remedy}"
            )
            case.refusals.add("ResourceExceeded", "bind", message)


def _exceeds(count: Dim, limit: int) -> bool:
    """Whether there are more CTAs than the limit; an extent that is not known is checked at the launch."""
    return isinstance(count, int) and count > limit


# --- loops ------------------------------------------------------------------------------------------------------------

#: The loops that the scheme makes in a CTA, outermost first; around them is the grid, batches outermost.
_LOOPS = ("k.o", "k.i", "m.i", "n.i")


def _check_order(plan: Plan, bound: dict[str, str], case: ContractionCase) -> None:
    """Check that the order is that of the scheme's loops; CTAs along block.x are next to each other."""
    order = [axis for axis in plan.order or () if case.has_axis("order", axis)]
    loops = ["batch", *sorted(("m.o", "n.o"), key=lambda axis: bound.get(axis, ""), reverse=True), *_LOOPS]
    remedy = f"write {' '.join(axis for axis in loops if axis != 'batch' or axis in order)}, or leave it out"
    foreign = [axis for axis in order if axis not in loops]
    if foreign:
        message = f"has {' '.join(foreign)}, which scheme '{NAME}' has no loops for; {remedy}"
        case.refusals.add("UnsupportedPlan", "order", message)
    nested = [axis for axis in order if axis in loops]
    if nested != sorted(nested, key=loops.index):
        message = f"is {' '.join(order)}, and scheme '{NAME}' nests its loops in another order; {remedy}"
        case.refusals.add("UnsupportedPlan", "order", message)


def _check_pipeline(plan: Plan, case: ContractionCase) -> None:
    if plan.pipeline is not None and plan.pipeline != STAGED_AT and case.has_axis("pipeline", plan.pipeline):
        message = f"is '{plan.pipeline}', and scheme '{NAME}' fills its stages for {STAGED_AT}; write {STAGED_AT}"
        case.refusals.add("UnsupportedPlan", "pipeline", message)


# --- what the scheme has decided already ------------------------------------------------------------------------------


def _asynchronous(plan: Plan, case: ContractionCase) -> dict[str, bool]:
    if plan.asynchronous is not None and plan.asynchronous["enable"]:
        message = f"is enabled, and scheme '{NAME}' copies by plain loads and stores; write {{\"enable\": false}}"
        case.refusals.add("UnsupportedPlan", "async", message)
    return {"enable": False}
