"""`tinyc verify`: run a program at every layer that has an executor, on the same inputs; find what goes wrong first.

In: a model and inputs. Out: one `LayerComparison` a layer, in walk order: the reference against the f64 oracle, and
then each lower layer against the reference, value by value as far as the layer has the value, down to what the target
runs: LLVM IR on the CPU, PTX on the simulator or on a GPU.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tinyc.analysis.graphs import body_block, main_function
from tinyc.diagnostics import TinycError
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.layer import layer_of
from tinyc.driver.listings import LAST_LISTING
from tinyc.driver.lowering import Lowering
from tinyc.driver.running import weights_apart
from tinyc.executors import reference
from tinyc.executors.compare import Comparison, compare, compare_all
from tinyc.executors.gpu.program import ThreadsExecutable
from tinyc.executors.tolerance import Tolerance
from tinyc.mlir import ir
from tinyc.mlir.locations import value_name
from tinyc.runtime.executable import Observer

_Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class LayerComparison:
    """One executor against another: what was compared, value by value in the order of the program, then the outputs.

    `fault` is what a kernel did that no kernel may, or a value of another type; then nothing was compared.
    """

    title: str
    comparisons: tuple[Comparison, ...]
    fault: TinycError | None = None

    @property
    def mismatch(self) -> Comparison | None:
        """The first value that is too far off."""
        return next((each for each in self.comparisons if not each.ok), None)

    @property
    def failure(self) -> str | None:
        """What went wrong first, None where all agrees."""
        found = self.fault or self.mismatch
        return None if found is None else f"{self.title}: {found}"


#: The layers whose values have names.
_GRAPHS = ("frontend", "tiny", "region")
#: Runs the program at one layer: takes inputs and who is told the values of nodes, gives the outputs.
_Execute = Callable[[_Arrays, Observer], _Arrays]


def verify_model(
    model: CompiledModel,
    inputs: _Arrays,
    against: ir.Module | None = None,
    onnxruntime: Callable[[_Arrays], _Arrays] | None = None,
) -> Iterator[LayerComparison]:
    """Compare the layers of a program on `inputs`, each when it is asked for.

    `against` is the program at a layer that the reference reads; without it the model's own is. Last, what the target
    gives, unless it failed, is compared with what `onnxruntime` does.

    Raises:
        TinycError: what keeps the reference from running, and what a target raises but for a kernel's fault.
    """
    lowering = model.lowering if against is None else Lowering(against, model.target)
    module = lowering.module(lowering.entry)
    modules = module, *(model.lowering.module(name) for name in _GRAPHS if model.lowering.has(name))
    ambiguous = frozenset(name for each in modules for name in _ambiguous_names(each))
    entry, truth = layer_of(module), _Truth(module, inputs, lowering.tolerances(inputs), ambiguous)
    yield LayerComparison(f"reference ({entry}) against the f64 oracle", truth.judged(module, inputs))
    layer = f"reference ({entry})"
    for layer, execute in _executors(model):
        yield truth.compared(f"{layer} against the reference ({entry})", execute, inputs)
    if onnxruntime is not None and truth.lowest is not None:
        yield truth.beside(f"{layer} against onnxruntime", truth.lowest, onnxruntime(inputs))


def _executors(model: CompiledModel) -> Iterator[tuple[str, _Execute]]:
    """What runs the layers below the one that was read, in walk order."""
    lowering, target = model.lowering, model.target
    if lowering.entry == "frontend":
        yield "reference (tiny)", _reference(lowering.module("tiny"))
    if lowering.has("tiny"):
        yield "reference (region)", _reference(lowering.module("region"))
    if target in ("sim", "cuda") and lowering.has("exec"):
        threads = _threads(lowering)
        yield "threads (gpu)", _with_weights(threads.program.weights, threads.pool.set, threads.run)
    if target in LAST_LISTING:
        yield f"{target} ({LAST_LISTING[target]})", _with_weights(model.weights, model.set_weights, model.run_named)


def _with_weights(
    names: Iterable[str], set_weights: Callable[[_Arrays], None], run: Callable[..., _Arrays]
) -> _Execute:
    """A run that takes the weights among its inputs."""

    def execute(arrays: _Arrays, observe: Observer) -> _Arrays:
        weights, inputs = weights_apart(names, arrays)
        set_weights(weights)
        return run(inputs, observe=observe)

    return execute


def _reference(module: ir.Module) -> _Execute:
    return lambda inputs, observe: reference.evaluate_module(module, inputs, observe=observe)


def _threads(lowering: Lowering) -> ThreadsExecutable:
    """The GPU layer."""
    return ThreadsExecutable(lowering.program(), lowering.module("exec"), lowering.constants())


def _ambiguous_names(module: ir.Module) -> list[str]:
    """The names that several values of a program have: which of them a layer means by one, nothing says."""
    results = (result for op in body_block(main_function(module)).operations for result in op.results)
    counts = Counter(name for each in results if (name := value_name(each)) is not None)
    return [name for name, count in counts.items() if count > 1]


class _Truth:
    """What the reference says of a program on one set of inputs: every named value, the outputs, the tolerances.

    A value whose name is `ambiguous`, of several values at some layer, is not compared.
    """

    def __init__(
        self, module: ir.Module, inputs: _Arrays, allowed: Mapping[str, Tolerance], ambiguous: Collection[str]
    ) -> None:
        self.ambiguous = ambiguous
        self.values: dict[str, np.ndarray] = {}
        self.allowed = allowed
        self.outputs = reference.evaluate_module(module, inputs, observe=self.values.__setitem__)
        self.lowest: _Arrays | None = self.outputs  # of the last layer, None where it failed

    def judged(self, module: ir.Module, inputs: _Arrays) -> tuple[Comparison, ...]:
        """The outputs against those of the oracle, and where one is too far off the values on the way, too.

        A value on the way may well be off where all outputs are right: comparisons and positions jump.
        """
        values: dict[str, np.ndarray] = {}
        outputs = reference.evaluate_module(module, inputs, oracle=True, observe=values.__setitem__)
        judged = compare_all(self.outputs, outputs, self.allowed)
        inner = () if all(each.ok for each in judged) else self._inner(self.values, values)
        return (*inner, *judged)

    def _inner(self, found: _Arrays, expected: _Arrays) -> list[Comparison]:
        """The values on the way to the outputs that both have."""
        return [
            compare(name, value, expected[name], self.allowed.get(name, Tolerance()), "value")
            for name, value in found.items()
            if name in expected
            and name not in self.outputs
            and name not in self.ambiguous
            and expected[name].shape == value.shape
        ]

    def compared(self, title: str, execute: _Execute, inputs: _Arrays) -> LayerComparison:
        """A layer against the reference."""
        found: dict[str, np.ndarray] = {}
        try:
            self.lowest = None
            self.lowest = actual = execute(inputs, found.__setitem__)
            outputs = compare_all(actual, self.outputs, self.allowed)
            return LayerComparison(title, (*self._inner(found, self.values), *outputs))
        except TinycError as error:
            if error.name not in ("SimulationFinding", "VerificationFailed"):
                raise
            return LayerComparison(title, (), error)

    def beside(self, title: str, found: _Arrays, expected: _Arrays) -> LayerComparison:
        """Outputs of the target against those of another runtime."""
        try:
            return LayerComparison(title, tuple(compare_all(found, expected, self.allowed)))
        except TinycError as error:  # of another type or shape
            return LayerComparison(title, (), error)
