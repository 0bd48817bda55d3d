"""`tinyc verify`: run a program at several layers on the same inputs and find the first that goes wrong.

In: a lowering and inputs. Out: one `LayerComparison` a layer, in walk order: the reference against the f64 oracle, the
Region layer in numpy against the Tiny layer in numpy, value by value, and the CPU against the reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tinyc.analysis.graphs import main_function
from tinyc.driver.lowering import Lowering
from tinyc.executors import reference
from tinyc.executors.compare import Comparison, compare, compare_all
from tinyc.executors.elements import REFERENCE, cast_array
from tinyc.executors.signature import signature_of, symbol_values
from tinyc.executors.tolerance import Tolerance, tolerances
from tinyc.mlir import ir
from tinyc.runtime.sizes import extent_value
from tinyc.vocabulary.element_type import ElementType

_Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class LayerComparison:
    """One executor against another: what was compared, value by value in the order of the program."""

    title: str
    comparisons: tuple[Comparison, ...]

    @property
    def first_mismatch(self) -> Comparison | None:
        """The first value that is too far off."""
        return next((each for each in self.comparisons if not each.ok), None)


def output_tolerances(module: ir.Module, inputs: _Arrays) -> dict[str, Tolerance]:
    """The tolerance of each named value and output of a program on inputs of these shapes."""
    symbols = symbol_values(signature_of(main_function(module)).inputs, inputs)
    return tolerances(module, lambda extent: extent_value(extent, symbols))


def verify_program(lowering: Lowering, inputs: _Arrays, run_cpu: Callable[[_Arrays], _Arrays]) -> list[LayerComparison]:
    """Compare the layers of a program on `inputs`; `run_cpu` runs its lowest one."""
    module = lowering.module(lowering.entry)
    allowed = output_tolerances(module, inputs)
    values: dict[str, np.ndarray] = {}
    expected = reference.evaluate_module(module, inputs, observe=_keep(values))
    oracle = reference.evaluate_module(module, inputs, oracle=True)
    title = f"reference ({lowering.entry}) against the f64 oracle"
    steps = [LayerComparison(title, tuple(compare_all(expected, oracle, allowed)))]
    if lowering.entry == "tiny":
        steps.append(_region_step(lowering, inputs, values, expected, allowed))
    actual = run_cpu(inputs)
    return [*steps, LayerComparison("cpu against the reference", tuple(compare_all(actual, expected, allowed)))]


def _region_step(
    lowering: Lowering, inputs: _Arrays, values: _Arrays, expected: _Arrays, allowed: Mapping[str, Tolerance]
) -> LayerComparison:
    """Compare the values that keep their name in the Region layer, in its order, and then the outputs."""
    found: dict[str, np.ndarray] = {}
    actual = reference.evaluate_module(lowering.module("region"), inputs, observe=_keep(found))
    inner = [
        compare(f"{name}", value, values[name], allowed.get(name, Tolerance()))
        for name, value in found.items()
        if name in values and name not in expected and values[name].shape == value.shape
    ]
    return LayerComparison(
        "reference (region) against the reference (tiny)", (*inner, *compare_all(actual, expected, allowed))
    )


def _keep(values: dict[str, np.ndarray]) -> reference.Observer:
    def observe(name: str, value: np.ndarray, element: ElementType) -> None:
        values[name] = cast_array(value, element, REFERENCE)

    return observe
