"""What a plan says of the loops of a kernel on a CPU, where it says something, and the defaults where it does not.

In: a plan, the defaults of a nest of loops, and whom to tell what speaks against the plan. Out: the decisions. Axes of
the plan's field `loop` are counted from 0: the loops of the kernel, outermost first. Source: 003, LoopStrategy.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tinyc.diagnostics import InternalError
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan

#: Told the name of an error, the field that it is about, and the message that goes on after the field's name.
Refuse: TypeAlias = Callable[[str, str, str], None]


@dataclass(frozen=True)
class LoopChoices:
    """The decisions of a plan; what it cannot have is told to `refuse`, and the default stands in its place.

    A default may depend on which buffers of the kernel hold the same in all runs: those at the positions `kept`.
    """

    plan: Plan
    refuse: Refuse
    kept: frozenset[int] = frozenset()

    def parallel(self, loops: Sequence[Dim], default: int, axes: Sequence[int] | None = None) -> int:
        """How many of the leading `loops` are in the parallel one; `axes` are their numbers, 0, 1, … if not given."""
        given, numbers = (self.plan.loop or {}).get("parallelize"), [*(range(len(loops)) if axes is None else axes)]
        if given is None:
            return default
        if [*given] == numbers[: len(given)]:
            return len(given)
        known = ", ".join(str(numbers[:count]) for count in range(len(loops) + 1))
        message = f"parallelizes {[*given]}, and the parallel loop is made of the leading loops; choose {known}"
        self.refuse("PlanMismatch", "loop", message)
        return default

    def tile_size(self, axes: tuple[int, ...], default: int) -> int:
        """How many turns of the loops at `axes`, all of them, are computed together."""
        given: dict[int, int] = {}
        for entry in (self.plan.loop or {}).get("tile", ()):
            axis, size = entry["axis"], entry["size"]
            if axis not in axes:
                where = f"axes {', '.join(map(str, axes))}" if axes else "no axis"
                message = f"has a tile along axis {axis}, and its steps are computed together along {where}"
                self.refuse("PlanMismatch", "loop", f"{message}; leave it out")
            elif size < 2:
                self.refuse("PlanMismatch", "loop", f"has a tile of {size} steps; choose 2 or more, or leave it out")
            elif axis in given:
                self.refuse("PlanMismatch", "loop", f"has two tiles along axis {axis}; leave one out")
            else:
                given[axis] = size
        if len({*given.values()}) > 1:
            shown = " and ".join(map(str, given.values()))
            self.refuse("PlanMismatch", "loop", f"has tiles of {shown}, and a block has one size along both its sides")
        return next(iter(given.values()), default)

    def refuse_tiles(self) -> None:
        """Refuse tiles of steps that are computed one by one."""
        self.tile_size((), 0)

    def check_axes(self, loops: Shape | None, fields: Collection[str]) -> None:
        """Check what is said of the loops along some axes, of these extents.

        None of a kernel in tiles of its own, for which a plan has these `fields`.
        """
        given = self.plan.loop or {}
        if given.get("use_shared_memory"):
            self.refuse("UnsupportedPlan", "loop", "asks for shared memory, which a CPU has none of; leave it out")
        for what in [each for each in ("vectorize", "unroll", "tile") if each in given]:
            if loops is None:
                why = ", and its tiles have fields of their own" if what in fields else ", which its tiles cannot have"
                self.refuse("UnsupportedPlan", "loop", f"has '{what}'{why}; leave it out")
            elif what != "tile":
                self._check_axis(what, given[what], loops)

    def _check_axis(self, what: str, given: Mapping[str, int], loops: Shape) -> None:
        axis = given["axis"]
        if axis >= len(loops):
            known = f"axes of {' × '.join(map(str, loops))}, counted from 0" if loops else "no axis for that"
            message = f"has '{what}' of axis {axis}, and the kernel has {known}; choose another one, or leave it out"
            self.refuse("PlanMismatch", "loop", message)
        elif given.get("factor") == 0 and not isinstance(loops[axis], int):
            message = f"unrolls axis {axis} in full, and its extent {loops[axis]} is no number; bind it"
            self.refuse("PlanMismatch", "loop", message)

    @property
    def product_tile(self) -> tuple[int, int, int] | None:
        """The rows, columns and products of a tile of a contraction, as `tile` or `pack` says; None where none does."""
        tile, block = self.plan.tile, (self.plan.pack or {}).get("block")
        if tile is not None and block is not None and tile != tuple(block):
            message = f"has a block {[*block]}, and 'tile' is {[*tile]}; what is packed is for a tile: leave one out"
            self.refuse("PlanMismatch", "pack", message)
        if tile is not None or block is None:
            return tile
        rows, columns, products = block
        return rows, columns, products


def leading_axes(count: int) -> list[int]:
    """The axes of the leading loops, so many of them, as a plan counts them."""
    return [*range(count)]


def enough_loops(loops: Sequence[Dim], turns: int) -> int:
    """How many of the leading loops have enough turns together."""
    for count in range(len(loops)):
        if extents.is_nonnegative(extents.product(loops[:count]) - turns):
            return count
    return len(loops)


def _no_refusal(_name: str, field: str, message: str) -> None:
    """Nothing is refused of a plan that says nothing."""
    raise InternalError(f"a default is refused: '{field}' {message}")


#: All defaults.
NO_CHOICES = LoopChoices(Plan(), _no_refusal)
Decisions: TypeAlias = Mapping[str, object]
