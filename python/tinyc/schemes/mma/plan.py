"""Plans of scheme `mma`: every decision that its kernels need, from those that somebody has made.

In: a plan with some of the fields, a case. Out: the plan with all of them; what speaks against those that are given
goes to the refusals. `given` judges the fields by themselves, `choice` makes the decisions that are left; here they
become fields again.
"""

import dataclasses
from typing import Any

from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.schemes.contraction import check_split, guarded_axes, own_epilogue, staged_operands
from tinyc.schemes.mma.case import MMA_NAME, MmaCase
from tinyc.schemes.mma.choice import choice_of, chosen
from tinyc.schemes.mma.given import BOUND_UNITS, given_of
from tinyc.schemes.mma.orientation import orientation_of
from tinyc.schemes.mma.tiling import MmaTiling, tiling_of
from tinyc.schemes.search import PlanSearch, PrunedPlan, RankedPlan

MMA_FIELDS = (
    "tile",
    "stages",
    "pipeline",
    "warp_tile",
    "order",
    "split",
    "fuse",
    "unroll",
    "bind",
    "cache",
    "vectorize",
    "predicate_tail",
    "epilogue",
    "layout_hints",
    "split_k",
    "schedule",
    "cluster",
    "raster",
    "wait_depth",
    "registers",
    "async",
)
#: What the axis of tiles is called where m.o and n.o are one.
_WALK = "t"


def complete_mma(plan: Plan, case: MmaCase) -> Plan:
    """`plan` with every decision made."""
    given = given_of(plan, case)
    if case.refusals:
        return plan
    tiling = chosen(given, case)
    if tiling is None:
        return plan
    complete = _with_tiling(plan, tiling, case)
    assert complete.bind is not None
    _check_loops(plan, tiling, complete.bind, case)
    return complete


def _with_tiling(plan: Plan, tiling: MmaTiling, case: MmaCase) -> Plan:
    """`plan` with all fields that a tiling decides."""
    bound, fused = _bind(plan, tiling, case)
    return dataclasses.replace(
        plan,
        **tiling_fields(tiling),
        fuse=fused,
        bind=bound,
        cache=staged_operands(plan, tiling.stages, case),
        vectorize=plan.vectorize or {"axis": "n.i.i", "width": case.store_elements},
        predicate_tail=guarded_axes(plan, tiling.cluster_tile, case),
        epilogue=own_epilogue(plan, case),
        layout_hints={"A_swizzle": True, "B_swizzle": True, "C_stride": "row", **(plan.layout_hints or {})},
        algo_choice=_algorithms(plan, tiling, case),
        asynchronous=plan.asynchronous or {"enable": True},
    )


def tiling_fields(tiling: MmaTiling) -> dict[str, Any]:
    """The fields of a plan, as attributes, that a tiling decides alone."""
    return {
        "tile": tiling.tile,
        "stages": tiling.stages,
        "warp_tile": "x".join(map(str, tiling.unit_tile)),
        "split_k": tiling.slices,
        "schedule": tiling.schedule,
        "cluster": tiling.cluster,
        "raster": {"along": tiling.along, "group": tiling.group},
        "wait_depth": tiling.wait_depth,
        "registers": tiling.registers,
    }


def search_mma(plan: Plan, case: MmaCase) -> PlanSearch:
    """What `complete_mma` chooses from."""
    choice = choice_of(given_of(plan, case), case)
    axes = zip(case.product.extents.items(), case.lengths, case.sizes, strict=True)
    sides = (f"{axis} {'<=' if size == most and size != extent else '='} {size}" for (axis, extent), most, size in axes)
    problem = ", ".join([*(each for each in sides if case.is_batched or "batch" not in each), str(case.unit.factor)])
    ranked = (
        RankedPlan(
            _alone(each.tiling, case),
            each.prediction.seconds,
            each.prediction.limiter,
            {
                "shared_bytes": each.resources.shared_bytes,
                "registers_per_thread": each.resources.registers_per_thread,
                "ctas_per_sm": each.resources.ctas_per_sm,
            },
        )
        for each in choice.ranked
    )
    pruned = (PrunedPlan(_alone(each.tiling, case), each.faults) for each in choice.pruned)
    return PlanSearch(problem, tuple(ranked), tuple(pruned))


def _alone(tiling: MmaTiling, case: MmaCase) -> Plan:
    """The plan that asks for a tiling and leaves open what is not a number of it."""
    return Plan(scheme=MMA_NAME, algo_choice=_algorithms(Plan(), tiling, case), **tiling_fields(tiling))


def unaligned_plan(plan: Plan, case: MmaCase) -> Plan:
    """The plan of the kernel that is launched where the operands do not lie as a complete plan's loads need it.

    All of its warps load, so that it is in the schedule `simple`, and has no cluster. Its tile is chosen anew: what
    passes through registers leaves room for fewer accumulators. It is transposed where the other one is, with its rows:
    slices of k hand sums on alike. Where k is sliced it keeps its depth, so that each slice has something of k.
    """
    fields = (
        "tile",
        "warp_tile",
        "stages",
        "cluster",
        "registers",
        "bind",
        "fuse",
        "cache",
        "predicate_tail",
        "raster",
    )
    kept = dataclasses.replace(plan, **dict.fromkeys(fields), schedule="simple", wait_depth=0)
    given = given_of(kept, case)
    aligned = tiling_of(plan, case.unit.threads)
    rows, columns = aligned.unit_tile
    is_transposed, has_few_rows = orientation_of(case).transposes(rows, columns), not case.unit.admits(rows, columns)
    tile = (rows if is_transposed and has_few_rows else None, None, aligned.tile[2] if aligned.slices > 1 else None)
    loading = dataclasses.replace(given.loading, guarded=False)
    tiling = chosen(dataclasses.replace(given, tile=tile, loading=loading, is_transposed=is_transposed), case)
    assert tiling is not None, case.refusals.errors  # there is one for whatever tensor cores multiply
    return _with_tiling(kept, tiling, case)


def mma_grid(tiling: MmaTiling, plan: Plan, case: MmaCase) -> tuple[Dim, Dim, Dim]:
    """The CTAs of a complete plan along x, y and z."""
    assert plan.bind is not None
    rows_along_x = plan.bind["m.o"] == "block.x" if "m.o" in plan.bind else None
    return tiling.grid(case.product, case.target.sms, rows_along_x)


# --- fields from numbers ----------------------------------------------------------------------------------------------


def _bind(
    plan: Plan, tiling: MmaTiling, case: MmaCase
) -> tuple[dict[str, str], tuple[tuple[str, str, str], ...] | None]:
    """What the indices of CTAs and units run along, and the axis that m.o and n.o are fused to, if they are."""
    inner, outer = f"{tiling.along}.o", "m.o" if tiling.along == "n" else "n.o"
    given = plan.bind or {}
    fused = None
    rows_of_ctas = tiling.tiles_of(case.product)[0 if outer == "m.o" else 1]
    fits = not isinstance(rows_of_ctas, int) or rows_of_ctas <= case.target.ctas_per_grid_y
    plain = not tiling.is_persistent and tiling.group == 1 and fits and plan.fuse is None and _WALK not in given
    if plain or "m.o" in given or "n.o" in given:
        tiles = {outer: "block.y", inner: "block.x"}
    else:
        fused = plan.fuse or ((outer, inner, _WALK),)
        tiles = {fused[0][2]: "block.x"}
    batch = {"batch": "block.z"} if case.is_batched and not tiling.is_persistent else {}
    bound = {**tiles, **batch, **BOUND_UNITS}
    _check_counts(bound, tiling, case)
    return bound, fused


def _check_counts(bound: dict[str, str], tiling: MmaTiling, case: MmaCase) -> None:
    """Check that a grid has room; an extent that is not known is checked at the launch."""
    if tiling.is_persistent:
        return
    target, (m, n) = case.target, tiling.tiles_of(case.product)
    counts: dict[str, Dim] = {"m.o": m, "n.o": n, "batch": case.product.batch * tiling.slices}
    limits = {
        "block.x": (target.ctas_per_grid_x, "choose a larger tile"),
        "block.y": (target.ctas_per_grid_y, "fuse m.o and n.o, or choose a larger tile"),
        "block.z": (target.ctas_per_grid_z, "choose another scheme"),
    }
    for axis, index in bound.items():
        limit, remedy = limits.get(index, (0, ""))
        count = counts.get(axis, m * n)
        if limit and isinstance(count, int) and count > limit:
            message = f"has {axis} at {index}, {count} CTAs; {target.name} launches at most {limit} along {index[-1]}"
            case.refusals.add("ResourceExceeded", "bind", f"{message}; {remedy}")


def _algorithms(plan: Plan, tiling: MmaTiling, case: MmaCase) -> dict[str, str] | None:
    if case.pattern is None:
        return plan.algo_choice
    return {case.pattern: tiling.algorithm}


# --- loops: what the template nests -----------------------------------------------------------------------------------


def _check_loops(plan: Plan, tiling: MmaTiling, bound: dict[str, str], case: MmaCase) -> None:
    (bm, bn, bk), (wm, wn), depth = tiling.tile, tiling.unit_tile, case.unit.depth
    check_split(plan, {"m": bm, "n": bn, "k": bk, "m.i": wm, "n.i": wn, "k.i": depth}, case)
    _check_order(plan, bound, case)
    if plan.pipeline not in (None, "k.i", "k.o") and case.has_axis("pipeline", str(plan.pipeline)):
        message = f"is '{plan.pipeline}', and the template's circular buffer runs along k; write k.i"
        case.refusals.add("UnsupportedPlan", "pipeline", message)
    for axis, factor in (plan.unroll or {}).items():
        if factor != bk // depth:
            message = f"has {axis} by {factor}, and the template unrolls all {bk // depth} steps of a tile; write that"
            case.refusals.add("UnsupportedPlan", "unroll", message)


def _check_order(plan: Plan, bound: dict[str, str], case: MmaCase) -> None:
    """Check that the order is the template's nest, or that one with loops that are taken together."""
    walked = [axis for axis in bound if axis not in (*BOUND_UNITS, "batch")]
    fused = [axis for axis in walked if axis not in ("m.o", "n.o")]
    given = [axis for axis in plan.order or () if axis in fused or case.has_axis("order", axis)]
    tiles = [axis for axis in given if axis in ("m.o", "n.o")] or walked
    nests = [
        ["batch", *tiles, "k.o", *inner]
        for inner in (
            ["m.i.o", "n.i.o", "k.i.o", "m.i.i", "n.i.i", "k.i.i"],
            ["m.i.o", "n.i.o", "k.i", "m.i.i", "n.i.i"],
            ["k.i", "m.i", "n.i"],
            ["m.i", "n.i", "k.i"],
        )
    ]
    if any(given == [axis for axis in nest if axis in given] for nest in nests):
        return
    remedy = f"write {' '.join(axis for axis in nests[0] if axis != 'batch' or case.is_batched)}, or leave it out"
    message = f"is {' '.join(given)}, and scheme '{MMA_NAME}' nests its loops in another order; {remedy}"
    case.refusals.add("UnsupportedPlan", "order", message)
