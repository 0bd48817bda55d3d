"""The choice of a tiling: of all that a plan leaves, those that the target has room for by their predicted time.

In: a case, what a plan has given. Out: a `TilingChoice`, data from which a plan is taken and a table is made. It is the
same on every machine: ties go to the one that `tilings` yields first.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.cost import PredictedTime, Walk, best_walk, predicted
from tinyc.schemes.mma.given import Given
from tinyc.schemes.mma.loads import Load, tile_loads
from tinyc.schemes.mma.resources import MmaResources, mma_resources, resource_faults
from tinyc.schemes.mma.space import structure_faults, tilings
from tinyc.schemes.mma.tiling import MmaTiling

#: What keeps a tiling from being built: the error's name, the field, and the message that goes on after it.
Fault = tuple[str, str, str]


#: Threads of a unit that multiplies by mma.sync; of wgmma it is a warpgroup.
_WARP_THREADS = 32
#: Bytes of a line that the narrowest swizzle takes.
_LEAST_SWIZZLE = 32


@dataclass(frozen=True)
class RankedTiling:
    """A tiling that can be built, what it takes, and its predicted time."""

    tiling: MmaTiling
    resources: MmaResources
    prediction: PredictedTime


@dataclass(frozen=True)
class PrunedTiling:
    """A tiling that cannot be built, and each reason."""

    tiling: MmaTiling
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class TilingChoice:
    """What there was to choose from: `ranked`, the fastest first, and what was `pruned`, in the order of the search."""

    ranked: tuple[RankedTiling, ...]
    pruned: tuple[PrunedTiling, ...]


@functools.lru_cache(maxsize=256)
def choice_of(given: Given, case: MmaCase) -> TilingChoice:
    """All tilings that keep what is given, judged; remembered, for layers repeat."""
    ranked: list[RankedTiling] = []
    pruned: list[PrunedTiling] = []
    loads: dict[object, tuple[Load, Load]] = {}
    walks: dict[object, Walk] = {}
    for raw in tilings(given, case):
        key = raw.tile, raw.unit_tile
        if key not in loads:
            loads[key] = tile_loads(raw, given.loading, case.product, case.unit)
        judged = _judged(raw, loads[key], walks, given, case)
        if isinstance(judged, PrunedTiling):
            pruned.append(judged)
        else:
            ranked.append(judged)
    ranked.sort(key=lambda each: each.prediction.seconds)  # a stable sort
    return TilingChoice(tuple(ranked), tuple(pruned))


def chosen(given: Given, case: MmaCase) -> MmaTiling | None:
    """The fastest tiling; None where there is none, and then the refusals have the reasons."""
    choice = choice_of(given, case)
    if choice.ranked:
        return choice.ranked[0].tiling
    fewest = min(choice.pruned, key=lambda each: len(each.faults))
    for name, field, message in fewest.faults:
        case.refusals.add(name, field, message)
    return None


def _load_faults(tiling: MmaTiling, loads: tuple[Load, Load]) -> Iterator[Fault]:
    """Yield that producers cannot load an operand, or that warpgroups cannot read what is loaded."""
    for side, load in zip("AB", loads, strict=True):
        if tiling.is_persistent and load.kind != "tma":
            message = (
                f"is '{tiling.schedule}', whose producer loads by TMA, and {side} is not loaded so, since {load.reason}"
                '; write "simple"'
            )
            yield "UnsupportedPlan", "schedule", message
        if tiling.wait_depth and load.source is not None:
            message = (
                f"is {tiling.wait_depth}, and the factors of {side} are made in registers, which products in flight "
                "read until they are waited for; write 0"
            )
            yield "UnsupportedPlan", "wait_depth", message
        if tiling.unit_threads > _WARP_THREADS and not load.swizzle and load.source is None:
            message = (
                f"is {'x'.join(map(str, tiling.unit_tile))}, and lines of {side} in shared memory are no multiple of "
                f"{_LEAST_SWIZZLE} bytes, which wgmma reads swizzled; choose a multiple of 16 along the other side "
                "than k"
            )
            yield "UnsupportedPlan", "warp_tile", message


def _judged(
    raw: MmaTiling, loads: tuple[Load, Load], walks: dict[object, Walk], given: Given, case: MmaCase
) -> RankedTiling | PrunedTiling:
    """A tiling with its time, or why there is none; `walks` are those that are known, by tile and CTAs of an SM."""
    faults = (*structure_faults(raw, case), *_load_faults(raw, loads))
    if faults:
        return PrunedTiling(raw, faults)
    resources = mma_resources(raw, case, loads)
    exceeded = tuple(("ResourceExceeded", *fault) for fault in resource_faults(raw, resources, case, loads))
    if exceeded:
        return PrunedTiling(raw, exceeded)
    key = raw.tile, resources.ctas_per_sm
    if key not in walks:
        walks[key] = best_walk(raw, resources, given.along, given.group, case)
    tiling = replace(raw, **walks[key])
    return RankedTiling(tiling, resources, predicted(tiling, resources, loads, case))
