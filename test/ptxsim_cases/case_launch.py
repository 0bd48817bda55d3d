"""Launches a case of the corpus on the simulator, as it is or mutated, and compares what came out.

In: `Case`, `Mutation`. Out: `Outcome`: the report, and the outputs that are not as expected. A launch is made once: all
tests that ask for it share what came out.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ptxsim
from ptxsim import CHECKS, Module, Report, TensorMap
from ptxsim_cases.case import Arrays, Case, Im2col, Mutation, Tiled


@dataclass(frozen=True)
class Outcome:
    """What a launch found, and the names of the outputs that are `wrong`, each with its first wrong elements."""

    report: Report
    wrong: dict[str, str]

    @property
    def kinds(self) -> set[str]:
        """The kinds of what was found."""
        return {finding.kind for finding in self.report.findings}


def launch(case: Case, module: Module, arrays: Arrays, checks: Sequence[str] = CHECKS) -> Report:
    """Launch `case` on its arrays, which are updated in place, and return the report."""
    return module.launch(case.entry, **shape_and_arguments(case, arrays), checks=checks)


def shape_and_arguments(case: Case, arrays: Arrays) -> dict[str, Any]:
    """What a launch of `case` on its arrays takes, checks aside."""
    return {
        "grid": case.grid,
        "block": case.block,
        "args": [_argument(argument, arrays) for argument in case.arguments],
        "dynamic_shared_bytes": case.dynamic_shared_bytes,
        "cluster": case.cluster,
    }


def run(case: Case, text: str | None = None) -> tuple[Report, Arrays]:
    """Launch `case`, or what another text makes of it, and return the report and all arrays afterwards."""
    arrays = case.arrays()
    report = launch(case, ptxsim.load(case.text() if text is None else text), arrays)
    return report, arrays


@functools.cache
def outcome(case: Case, mutation: Mutation | None = None) -> Outcome:
    """What comes out of a case with all checks, unchanged or with a mutation."""
    text = case.text()
    report, arrays = run(case, text if mutation is None else mutation.apply(text, case.entry))
    return Outcome(report, differences(case, arrays))


def differences(case: Case, arrays: Arrays) -> dict[str, str]:
    """The outputs that are not as expected, within the case's tolerance, by name."""
    found = {}
    for name, expected in case.expected(case.arrays()).items():
        got = arrays[name]
        close = np.isclose(_numbers(got), _numbers(expected), rtol=case.rtol, atol=case.atol, equal_nan=True)
        if not close.all():
            at = tuple(np.argwhere(~close)[0])
            found[name] = f"{(~close).sum()} of {close.size} differ; at {list(map(int, at))}: {got[at]}, {expected[at]}"
    return found


def _numbers(values: np.ndarray) -> np.ndarray:
    """The values in a type that numpy compares: integers as they are, f64 for all floating-point types."""
    return values if values.dtype.kind in "iub" else values.astype(np.float64)


def _argument(argument: object, arrays: Arrays) -> object:
    if isinstance(argument, str):
        return arrays[argument]
    if isinstance(argument, Tiled):
        return TensorMap.tiled(
            argument.tensor_rank,
            arrays[argument.array],
            argument.global_dim,
            argument.global_strides,
            argument.box_dim,
            argument.element_strides,
            swizzle=argument.swizzle,
        )
    if isinstance(argument, Im2col):
        return TensorMap.im2col(
            argument.tensor_rank,
            arrays[argument.array],
            argument.global_dim,
            argument.global_strides,
            argument.pixel_box_lower_corner,
            argument.pixel_box_upper_corner,
            argument.channels_per_pixel,
            argument.pixels_per_column,
            argument.element_strides,
        )
    return argument
