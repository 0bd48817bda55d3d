"""An op of the Frontend layer on arrays, by each way that there is: what the tests of formulas share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tinyc
from frontend_modules import module_of
from tinyc.executors import reference
from tinyc.executors.elements import element_of
from tinyc.vocabulary.types import TensorType


def results_of(op: str, operands: Mapping[str, np.ndarray], target: str = "cpu", **attributes: Any) -> list[np.ndarray]:
    """The results of an op that has been compiled for a target, `"frontend"` for the numpy of its own layer."""
    module = module_of(
        op, {name: TensorType(element_of(x.dtype), x.shape) for name, x in operands.items()}, **attributes
    )
    if target == "frontend":
        return list(reference.evaluate_module(module, operands).values())
    return list(tinyc.compile(module, target).run_named(operands).values())


def assert_op_agrees(
    op: str,
    operands: Mapping[str, np.ndarray],
    expected: Sequence[np.ndarray] | np.ndarray | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **attributes: Any,
) -> None:
    """Assert that the CPU gives what numpy gives at the Frontend layer, and both what is `expected`."""
    reference_results = results_of(op, operands, "frontend", **attributes)
    found = results_of(op, operands, "cpu", **attributes)
    pairs = list(zip(found, reference_results, strict=True))
    if expected is not None:
        listed = [expected] if isinstance(expected, np.ndarray) else list(expected)
        pairs += zip(reference_results, listed, strict=True)
    for one, other in pairs:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        wide = np.float64 if one.dtype.kind == "f" or one.dtype.name == "bfloat16" else one.dtype
        np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol=rtol, atol=atol)
