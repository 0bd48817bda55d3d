"""Random plans for contractions on the CPU, beside a program that is compiled with one or refuses it."""

import random

from hypothesis import strategies as st

from programs.one_contraction import contraction_of
from tinyc.diagnostics import TinycError

#: Why a kernel may not have a plan that is one.
REFUSALS = {"PlanMismatch", "ResourceExceeded", "UnsupportedPlan"}
#: How many plans are drawn for a contraction: most have a field that some contractions cannot have.
TRIES = 3
_SIZES = (1, 2, 3, 5, 6, 7, 12, 16, 20, 64, 100)
#: Columns of a tile: more of them than by chance are of whole panels of weights.
_COLUMNS = (*_SIZES, 32, 32, 64, 64, 96, 128, 256)


def random_plan(draw: random.Random) -> dict:
    """A plan for a contraction, some fields of which a given one may not be able to have."""
    fields = {
        "tile": [draw.choice(_SIZES), draw.choice(_COLUMNS), draw.choice([1, 3, 4, 9, 16, 40, 1000])],
        "order": draw.choice([["m.o", "n.o", "k.o"], ["n.o", "m.o", "k.o"]]),
        "vectorize": {"axis": "n", "width": draw.choice([4, 8, 16])},
        "unroll": {"k.i": draw.choice([1, 2, 3, 8])},
        "pack": {side: draw.random() < 0.5 for side in "AB" if draw.random() < 0.5},
        "layout_hints": {"C_stride": draw.choice(["row", "col"])},
        "loop": {"parallelize": [*range(draw.randrange(4))]},
    }
    return {"scheme": "cpu_contraction"} | {name: each for name, each in fields.items() if draw.random() < 0.6}


def planned_contractions():
    """The strategy of programs of one contraction, each with the plans to try in turn: None, the default, is last."""
    return st.integers(0, 2**32 - 1).map(_planned_contraction)


def _planned_contraction(seed: int):
    draw = random.Random(f"plans {seed}")
    return contraction_of(seed), [*(random_plan(draw) for _ in range(draw.choice([0, TRIES, TRIES, TRIES]))), None]


def unless_refused(build, plan: dict | None):
    """What is built with a plan, or None where that is refused as a plan may be; the default never is."""
    try:
        return build(plan)
    except TinycError as error:
        if plan is None or not {each.name for each in error.errors} <= REFUSALS:
            raise
        return None
