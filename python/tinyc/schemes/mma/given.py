"""What a plan says already of the tiling: each field judged by itself, and as numbers that a choice has to keep.

In: a plan with some of the fields. Out: `Given`; what speaks against a field goes to the refusals, whose messages name
one of three reasons: the hardware, the structure of the template, or a field that says otherwise.
"""

from dataclasses import dataclass, replace
from typing import cast

from tinyc.plan.fields import Plan
from tinyc.schemes.mma.case import MMA_NAME, MmaCase
from tinyc.schemes.mma.loads import Loading, loading_of
from tinyc.schemes.mma.tiling import Algorithm, Along, Schedule, unit_sides

_PERSISTENT: tuple[Schedule, ...] = ("cooperative", "pingpong")
#: The units' places in a CTA.
BOUND_UNITS = {"m.i.o": "warp.y", "n.i.o": "warp.x"}
#: The CTA indices of tiles, either way, and what is bound in one way alone.
_TILES = {"m.o": ("block.y", "block.x"), "n.o": ("block.x", "block.y")}
_FIXED = {"batch": "block.z", **BOUND_UNITS}


@dataclass(frozen=True)
class Given:
    """The numbers that a plan has; None where a choice is free.

    `tile` has a None for each side that is free. `schedules` are those that the plan leaves. `is_transposed` says which
    orientation another kernel of the same product has.
    """

    tile: tuple[int | None, int | None, int | None]
    unit_tile: tuple[int, int] | None
    stages: int | None
    schedules: tuple[Schedule, ...]
    cluster: tuple[int, int] | None
    along: Along | None
    group: int | None
    wait_depth: int | None
    registers: tuple[int, int] | None
    algorithm: Algorithm | None
    slices: int | None
    loading: Loading
    is_transposed: bool | None = None

    @property
    def transposed(self) -> "Given":
        """The same numbers of the transposed output: m and n, A and B exchanged."""
        bm, bn, bk = self.tile
        along: dict[Along | None, Along] = {"m": "n", "n": "m"}
        return replace(
            self,
            tile=(bn, bm, bk),
            unit_tile=self.unit_tile and self.unit_tile[::-1],
            cluster=self.cluster and self.cluster[::-1],
            along=along.get(self.along),
            loading=self.loading.transposed,
        )


def given_of(plan: Plan, case: MmaCase) -> Given:
    """The numbers of a plan, after its fields are judged."""
    split = plan.split or {}
    bm, bn, bk = plan.tile or (None, None, None)
    algorithm, slices = _algorithm(plan, case)
    _check_unroll_axes(plan, case)
    _check_hints(plan, case)
    _check_vectorize_axis(plan, case)
    along, group = _walk(plan, case)
    return Given(
        tile=(bm or split.get("m"), bn or split.get("n"), bk or split.get("k")),
        unit_tile=None if plan.warp_tile is None else unit_sides(plan.warp_tile),
        stages=_stages(plan, case),
        schedules=_schedules(plan, case),
        cluster=_cluster(plan, case),
        along=along,
        group=group,
        wait_depth=_wait_depth(plan, case),
        registers=plan.registers,
        algorithm=algorithm,
        slices=slices,
        loading=loading_of(plan),
    )


def _stages(plan: Plan, case: MmaCase) -> int | None:
    if plan.stages == 1:
        message = "is 1, and the template's circular buffer is filled while another stage is multiplied; give 2 to 8"
        case.refusals.add("UnsupportedPlan", "stages", message)
    return plan.stages


def _schedules(plan: Plan, case: MmaCase) -> tuple[Schedule, ...]:
    """The schedules that the hardware has and that other fields leave."""
    target, schedule = case.target.name, cast("Schedule | None", plan.schedule)
    if not case.unit.is_wgmma:
        if schedule in _PERSISTENT:
            message = f"is '{schedule}', and {target} has no TMA and no wgmma for warps with roles; write \"simple\""
            case.refusals.add("UnsupportedPlan", "schedule", message)
        if plan.registers is not None:
            message = f"are set per role, and {target} has no setmaxnreg, which sm_90a has; leave it out"
            case.refusals.add("UnsupportedPlan", "registers", message)
        return ("simple",)
    left: tuple[Schedule, ...] = (schedule,) if schedule else ("simple", *_PERSISTENT)
    if plan.registers is not None:
        left = tuple(each for each in left if each in _PERSISTENT)
        if not left:
            message = "are set per role, and in the schedule 'simple' all warps have one; leave it out"
            case.refusals.add("PlanMismatch", "registers", message)
    if "batch" in (plan.bind or {}):
        left = tuple(each for each in left if each == "simple")
        if not left:
            message = f"has batch at block.z, and in the schedule '{schedule}' the walk over tiles has the batches too"
            case.refusals.add("PlanMismatch", "bind", f"{message}; leave it out")
    return left


def _cluster(plan: Plan, case: MmaCase) -> tuple[int, int] | None:
    if plan.cluster in (None, (1, 1)):
        return plan.cluster
    assert plan.cluster is not None
    m, n = plan.cluster
    shown = f"is {m}x{n}"
    if case.target.ctas_per_cluster == 1:
        message = f"{shown}, and {case.target.name} has no clusters; write [1, 1]"
    elif m * n != 2:
        message = f"{shown}, and the template shares loads between two CTAs; write [2, 1], [1, 2] or [1, 1]"
    elif plan.asynchronous == {"enable": False}:
        message = f"{shown}, and what is shared is loaded by TMA, which 'async' switches off; write [1, 1]"
    else:
        return plan.cluster
    case.refusals.add("UnsupportedPlan", "cluster", message)
    return plan.cluster


def _wait_depth(plan: Plan, case: MmaCase) -> int | None:
    if plan.wait_depth and not case.unit.is_wgmma:
        message = f"is {plan.wait_depth}, and {case.target.name} multiplies by mma.sync, which is not in flight"
        case.refusals.add("UnsupportedPlan", "wait_depth", f"{message}; write 0")
    return plan.wait_depth


def _algorithm(plan: Plan, case: MmaCase) -> tuple[Algorithm | None, int | None]:
    """The algorithm and the slices of k."""
    algorithm, slices = (plan.algo_choice or {}).get("matmul"), plan.split_k
    if slices is not None and slices > 1:
        if case.pattern == "conv":
            message = f"is {slices}, and slices of k of a convolution come with convolution; write 1"
            case.refusals.add("UnsupportedPlan", "split_k", message)
        elif algorithm == "implicit_gemm":
            message = f"is {slices}, and 'algo_choice' has implicit_gemm, which does not slice k; write splitk_serial"
            case.refusals.add("PlanMismatch", "split_k", f"{message} or splitk_parallel, or split_k 1")
    if slices == 1 and algorithm in ("splitk_serial", "splitk_parallel"):
        message = f"is 1, and 'algo_choice' has {algorithm}; give at least 2, or write implicit_gemm"
        case.refusals.add("PlanMismatch", "split_k", message)
    return cast("Algorithm | None", algorithm), slices


# --- the walk over tiles: bind, fuse, order and raster say it ---------------------------------------------------------


def _walk(plan: Plan, case: MmaCase) -> tuple[Along | None, int | None]:
    """The axis that tiles are walked along, and in bands of how many."""
    said: dict[str, str] = {}
    group = None
    if plan.raster is not None:
        said["raster"], group = plan.raster["along"], plan.raster["group"]
    if plan.fuse is not None and (fused := _fused(plan, case)):
        said["fuse"] = fused
    bound = _bound(plan, case)
    if bound is not None:
        said["bind"] = bound
        if group not in (None, 1):
            message = f"has m.o and n.o at a CTA index each, and 'raster' has bands of {group}, which are one walk"
            case.refusals.add("PlanMismatch", "bind", f"{message}; fuse m.o n.o -> t and bind t to block.x")
        group = 1
    ordered = [axis for axis in plan.order or () if axis in ("m.o", "n.o")]
    if len(ordered) == 2:
        said["order"] = ordered[1][0]
    ((first, along), *others) = list(said.items()) or [("", None)]
    for field, other in others:
        if other != along:
            message = f"walks along {other}, and '{first}' along {along}; they must agree"
            case.refusals.add("PlanMismatch", field, message)
    return cast("Along | None", along), group


def _fused(plan: Plan, case: MmaCase) -> str | None:
    """The axis that a fused axis of tiles runs along: the inner one."""
    ((outer, inner, _), *others) = plan.fuse or [("", "", "")]
    if others or {outer, inner} != {"m.o", "n.o"}:
        message = f"is not m.o with n.o, the one axis of tiles that scheme '{MMA_NAME}' has"
        case.refusals.add("UnsupportedPlan", "fuse", f'{message}; write [["m.o", "n.o", "t"]]')
        return None
    return inner[0]


def _bound(plan: Plan, case: MmaCase) -> str | None:
    """The axis whose tiles are CTAs along x, where m.o and n.o are bound."""
    tiles = {axis: index for axis, index in (plan.bind or {}).items() if axis in _TILES}
    fused = [axis for _, _, axis in plan.fuse or ()]
    for axis, index in (plan.bind or {}).items():
        allowed = (*_TILES.get(axis, ()), *([_FIXED[axis]] if axis in _FIXED else ()))
        if axis in fused:
            allowed = ("block.x",)
        elif not case.has_axis("bind", axis):
            continue
        if index not in allowed:
            message = (
                f"has {axis} at {index}, and scheme '{MMA_NAME}' binds m.o and n.o to block.y and block.x, either way, "
                "or what they are fused to to block.x, batch to block.z, m.i.o to warp.y and n.i.o to warp.x; "
                "leave it out"
            )
            case.refusals.add("UnsupportedPlan", "bind", message)
    if tiles and fused:
        message = f"has {' and '.join(tiles)} at a CTA index, and 'fuse' makes {fused[0]} of them; bind that"
        case.refusals.add("PlanMismatch", "bind", message)
    if len(set(tiles.values())) < len(tiles):
        message = f"has both m.o and n.o at {tiles['m.o']}; bind one to block.x and one to block.y"
        case.refusals.add("PlanMismatch", "bind", message)
    if not tiles or fused:
        return None
    axis, index = next(iter(tiles.items()))
    other = "n" if axis == "m.o" else "m"
    return axis[0] if index == "block.x" else other


# --- fields that say how, not how much --------------------------------------------------------------------------------


def _check_hints(plan: Plan, case: MmaCase) -> None:
    hints = plan.layout_hints or {}
    for side in ("A_swizzle", "B_swizzle"):
        if case.unit.is_wgmma and not hints.get(side, True):
            message = f"has {side} off, and wgmma reads shared memory by descriptors of swizzled tiles; leave it out"
            case.refusals.add("UnsupportedPlan", "layout_hints", message)
    if hints.get("C_stride", "row") != "row":
        message = "has C_stride col, and the template writes rows of neighbouring elements; write row"
        case.refusals.add("UnsupportedPlan", "layout_hints", message)


def _check_vectorize_axis(plan: Plan, case: MmaCase) -> None:
    if plan.vectorize is None:
        return
    axis, width = plan.vectorize["axis"], plan.vectorize["width"]
    if axis not in ("n", "n.i", "n.i.i"):
        message = f"has the axis {axis}, and the template writes neighbours along n.i.i; write that"
        case.refusals.add("UnsupportedPlan", "vectorize", message)
    widest = case.store_elements
    if width > widest:
        message = (
            f"has width {width}, and a global store takes 16 bytes, {widest} elements of the output; write {widest}"
        )
        case.refusals.add("UnsupportedPlan", "vectorize", message)


def _check_unroll_axes(plan: Plan, case: MmaCase) -> None:
    for axis in plan.unroll or {}:
        if axis not in ("k.i", "k.i.o") and case.has_axis("unroll", axis):
            message = f"has the axis {axis}, and the template unrolls the steps of a tile along k.i; leave it out"
            case.refusals.add("UnsupportedPlan", "unroll", message)
