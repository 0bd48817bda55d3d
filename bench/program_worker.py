"""The worker of `program.py`: calls programs of few and small kernels, and says how long a call takes.

It is asked for `{"program": Tiny JSON, "options": options of tinyc.compile}` and answers the least microseconds of each
way to call it. A symbol is 8: what takes time is the way to the kernels.
"""

import functools
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import tinyc
from checkout import answer_with

#: A window of calls is so short that many of them meet no other work on the machine.
CALLS, WINDOWS = 100, 300
AXIS = 8


def microseconds(work: Callable[[], object]) -> float:
    """Return the least time of one call."""
    work()
    return min(timeit.repeat(work, number=CALLS, repeat=WINDOWS)) / CALLS * 1e6


def answer(question: dict[str, Any]) -> dict[str, float]:
    """Return the microseconds of a call by place, by name, and with an array for the output."""
    model = tinyc.compile(question["program"], **question["options"])
    shapes = [
        [extent if isinstance(extent, int) else AXIS for extent in each.type.shape] for each in model.signature.inputs
    ]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    by_name = dict(zip(model.inputs, arrays, strict=True))
    out = model(*arrays)
    return {
        "model(x)": microseconds(functools.partial(model, *arrays)),
        "model.run(x=x)": microseconds(functools.partial(model.run, **by_name)),
        "model(x, out=y)": microseconds(functools.partial(model, *arrays, out=out)),
    }


if __name__ == "__main__":
    answer_with(answer)
