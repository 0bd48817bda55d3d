"""The choice of a tiling: of all that a plan leaves, those that the target has room for by their predicted time.

In: a case, what a plan has given. Out: a `TilingChoice`, data from which a plan is taken and a table is made. It is the
same on every machine: ties go to the one that `tilings` yields first.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.cost import PredictedTime, Walk, best_walk, least_seconds, predicted
from tinyc.schemes.mma.given import Given
from tinyc.schemes.mma.loads import Load, tile_loads
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.orientation import orientation_of
from tinyc.schemes.mma.registers import registers_of_copies
from tinyc.schemes.mma.resources import MmaResources, mma_resources, resource_faults
from tinyc.schemes.mma.space import structure_faults, tilings
from tinyc.schemes.mma.tiling import MmaTiling

#: What keeps a tiling from being built: the error's name, the field, and the message that goes on after it.
Fault = tuple[str, str, str]

#: Lines after which each swizzle repeats: a box of TMA begins at a multiple.
_BOX_LINES = 8
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
    """A tiling that cannot be built, and each reason; its predicted time where room is all that is missing."""

    tiling: MmaTiling
    faults: tuple[Fault, ...]
    seconds: float = math.inf


@dataclass(frozen=True)
class TilingChoice:
    """What there was to choose from: `ranked`, the fastest first, and what was `pruned`, in the order of the search."""

    ranked: tuple[RankedTiling, ...]
    pruned: tuple[PrunedTiling, ...]

    @property
    def without_room(self) -> PrunedTiling | None:
        """The tiling that would be the fastest, if the target had room for it; None where it has for the fastest."""
        chosen = self.ranked[0].prediction.seconds if self.ranked else 0.0
        faster = (each for each in self.pruned if each.seconds < chosen)
        return min(faster, key=lambda each: each.seconds, default=None)


@functools.lru_cache(maxsize=256)
def choice_of(given: Given, case: MmaCase) -> TilingChoice:
    """All tilings that keep what is given, judged; remembered, for layers repeat."""
    ranked: list[RankedTiling] = []
    pruned: list[PrunedTiling] = []
    for raw, judge in _to_judge(given, case):
        judged = judge.judged(raw)
        if isinstance(judged, PrunedTiling):
            pruned.append(judged)
        else:
            ranked.append(judged)
    ranked.sort(key=lambda each: each.prediction.seconds)  # a stable sort
    return TilingChoice(tuple(ranked), tuple(pruned))


@functools.lru_cache(maxsize=1024)
def fastest_of(given: Given, case: MmaCase) -> RankedTiling | None:
    """The first that `choice_of` ranks, found without judging what is slower for sure; None where it ranks none."""
    unjudged = [(judge.least_seconds(raw), raw, judge) for raw, judge in _to_judge(given, case)]
    fastest: tuple[float, int, RankedTiling] | None = None
    for place, (least, raw, judge) in sorted(enumerate(unjudged), key=lambda each: each[1][0]):
        if fastest is not None and least > fastest[0]:
            break
        judged = judge.judged(raw)
        if isinstance(judged, RankedTiling):
            found = judged.prediction.seconds, place, judged
            fastest = min(fastest or found, found)
    return fastest and fastest[2]


def chosen(given: Given, case: MmaCase) -> MmaTiling | None:
    """The fastest tiling; None where there is none, and then the refusals have the reasons."""
    fastest = fastest_of(given, case)
    if fastest is not None:
        return fastest.tiling
    nearest = min(choice_of(given, case).pruned, key=lambda each: (each.seconds == math.inf, len(each.faults)))
    for name, field, message in nearest.faults:
        case.refusals.add(name, field, message)
    return None


def _to_judge(given: Given, case: MmaCase) -> Iterator[tuple[MmaTiling, "_Judge"]]:
    """Yield the tilings that keep what is given, each with its judge."""
    upright, transposed = (_Judge(given, case, is_transposed) for is_transposed in (False, True))
    orientation = orientation_of(case)
    for raw in tilings(given, case):
        yield raw, transposed if orientation.transposes(*raw.unit_tile) else upright


def _load_faults(tiling: MmaTiling, loads: tuple[Load, Load], unit: MatrixUnit, better_turned: bool) -> Iterator[Fault]:
    """Yield that CTAs cannot share an operand, producers cannot load it, or warpgroups cannot read what is loaded.

    `better_turned`: producers could load both operands if the transposed ones were multiplied.
    """
    for number, (side, load) in enumerate(zip("AB", loads, strict=True)):
        length, shared = tiling.tile[number], tiling.cluster[1 - number]
        if shared > 1 and length % (_BOX_LINES * shared):
            message = (
                f"is {tiling.cluster[0]}x{tiling.cluster[1]}, and of the {length} lines of {side} that {shared} CTAs "
                f"share each loads a multiple of {_BOX_LINES}; write [1, 1]"
            )
            yield "UnsupportedPlan", "cluster", message
        if tiling.is_persistent and load.kind != "tma":
            turned = f"choose a 'warp_tile' whose columns are a multiple of {unit.rows}, or " if better_turned else ""
            message = (
                f"is '{tiling.schedule}', whose producer loads by TMA, and {side} is not loaded so, since {load.reason}"
                f'; {turned}write "simple"'
            )
            yield "UnsupportedPlan", "schedule", message
        if tiling.wait_depth and load.source is not None:
            message = (
                f"is {tiling.wait_depth}, and the factors of {side} are made in registers, which products in flight "
                "read until they are waited for; write 0"
            )
            yield "UnsupportedPlan", "wait_depth", message
        if unit.is_wgmma and not load.swizzle and load.source is None:
            message = (
                f"is {'x'.join(map(str, tiling.unit_tile))}, and lines of {side} in shared memory are no multiple of "
                f"{_LEAST_SWIZZLE} bytes, which wgmma reads swizzled; choose a multiple of 16 along the other side "
                "than k"
            )
            yield "UnsupportedPlan", "warp_tile", message


class _Judge:
    """Judges tilings by what is multiplied: the operands of a case, or the transposed ones.

    Many tilings share loads, or a walk.
    """

    def __init__(self, given: Given, case: MmaCase, is_transposed: bool) -> None:
        self._is_transposed = is_transposed
        self._given, self._case = (given.transposed, case.transposed) if is_transposed else (given, case)
        self._better_turned = not is_transposed and orientation_of(case).prefers_transposed
        self._loads: dict[object, tuple[Load, Load]] = {}
        self._walks: dict[object, Walk] = {}

    def judged(self, raw: MmaTiling) -> RankedTiling | PrunedTiling:
        """A tiling of a plan with its time, or why there is none; messages and result have m and n as the plan has."""
        given, case, tiling = self._given, self._case, raw.transposed if self._is_transposed else raw
        loads = left, right = self._loads_of(tiling)
        as_planned = (right, left) if self._is_transposed else loads
        faults = (*structure_faults(raw, case), *_load_faults(raw, as_planned, case.unit, self._better_turned))
        if faults:
            return PrunedTiling(raw, faults)
        resources = mma_resources(tiling, case, loads)
        spared = 0 if given.unit_tile is None else registers_of_copies(tiling, case, loads)
        missing = resource_faults(raw, resources, case, as_planned, spared)
        exceeded = tuple(("ResourceExceeded", *fault) for fault in missing)
        if exceeded:  # it is predicted as if it had room
            resources = replace(resources, ctas_per_sm=max(1, resources.ctas_per_sm))
        key = tiling.tile, resources.ctas_per_sm
        if key not in self._walks:
            self._walks[key] = best_walk(tiling, resources, given.along, given.group, case)
        tiling = replace(tiling, **self._walks[key])
        prediction = predicted(tiling, resources, loads, case)
        if exceeded:
            return PrunedTiling(raw, exceeded, prediction.seconds)
        return RankedTiling(tiling.transposed if self._is_transposed else tiling, resources, prediction)

    def least_seconds(self, raw: MmaTiling) -> float:
        """What the predicted time of a tiling is never less than; infinite where it does not fill the template."""
        if any(structure_faults(raw, self._case)):
            return math.inf
        tiling = raw.transposed if self._is_transposed else raw
        return least_seconds(tiling, self._loads_of(tiling), self._case)

    def _loads_of(self, tiling: MmaTiling) -> tuple[Load, Load]:
        key = tiling.tile, tiling.unit_tile
        if key not in self._loads:
            self._loads[key] = tile_loads(tiling, self._given.loading, self._case.product, self._case.unit)
        return self._loads[key]
