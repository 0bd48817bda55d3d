"""A compiled program: what `tinyc.compile` gives, a model with the texts of its layers.

The layers need MLIR, which is imported where one is asked for.
"""

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tinyc.diagnostics import Remark, TinycError, either, without_remarks
from tinyc.driver.listings import FOR_EVERY_ARCH
from tinyc.driver.model import Executor, Model
from tinyc.runtime.bound import BoundProgram
from tinyc.runtime.boundary import Boundary
from tinyc.runtime.cpu_features import checked_cpu

if TYPE_CHECKING:
    from tinyc.driver.lowering import Lowering
    from tinyc.driver.profile import Prediction, WrittenNodes
    from tinyc.runtime.self_test import SelfTest


class CompiledModel(Model):
    """A model with its `lowering`, the program at every layer, of the architecture that it runs on.

    `boundary` says all of its inputs and outputs, `lower` gives the program on its way to each architecture by its
    name; off a GPU there is one, of None. `from_cache` is true where the program was compiled before.
    """

    from_cache = False

    def __init__(
        self,
        boundary: Boundary,
        target: str,
        executor: Executor,
        remarks: list[Remark],
        layers: tuple[str, ...],
        lower: "Callable[[], Mapping[str | None, Lowering]]",
    ) -> None:
        super().__init__(boundary.signature, target, executor, remarks)
        self.boundary, self.layers = boundary, layers
        self._lower, self._arch = lower, executor.arch

    @functools.cached_property
    def lowerings(self) -> "Mapping[str | None, Lowering]":
        """The program on its way to all architectures that it is compiled for, by their names."""
        found = self._lower()
        return {self._arch: next(iter(found.values()))} if len(found) == 1 else found

    @property
    def lowering(self) -> "Lowering":
        """The program on its way to what the model runs on."""
        return self.lowerings[self._arch]

    def _told_before(self) -> contextlib.AbstractContextManager[None]:
        """Where layers are made: the remarks of a program from the cache have been made."""
        return without_remarks() if self.from_cache else contextlib.nullcontext()

    def _predicted(
        self, bound: BoundProgram, kernels: "Mapping[WrittenNodes, Sequence[str]]"
    ) -> "Mapping[WrittenNodes, Prediction]":
        from tinyc.driver.predictions import predictions

        try:
            with self._told_before():
                return predictions(self.lowering, bound, kernels)
        except TinycError as error:
            if self.from_cache and error.name == "UnreadableFile":  # the source is gone; what was measured is not
                return {}
            raise

    def add_self_test(
        self, inputs: Mapping[str, np.ndarray] | None = None, sizes: Mapping[str, int] | None = None, seed: int = 0
    ) -> "SelfTest":
        """Give the model a self-test, which is saved with it: inputs, and the outputs of the reference for them.

        The inputs are those that are given, or random ones by `seed`, in which symbols have the values in `sizes`.
        Weights are set before.

        Raises:
            TinycError: `UnsupportedTarget`: the reference does not read the program; `InputMismatch`: a weight is not
                set, or an input is another; `UnboundSymbol`; `InvalidOption`: the arrays are too large.
        """
        from tinyc.driver.layer import require_reference
        from tinyc.executors import reference
        from tinyc.executors.random_inputs import random_inputs
        from tinyc.runtime.self_test import SelfTest, require_within_limit

        artifact = self.artifact()  # which the reference has none of
        module = self.lowering.module(self.lowering.entry)
        require_reference(module, "self-test")
        if self.missing_weights:
            message = f"self-test: the weights {', '.join(self.missing_weights)} are not set, and outputs depend on "
            raise TinycError("InputMismatch", f"{message}them; set them first, by --weights FILE or set_weights")
        if inputs is None:
            inputs = random_inputs(module, seed, sizes)
        tested = {name: np.array(inputs[name]) for name in self.inputs if name in inputs}
        require_within_limit(tested, {})
        weights = artifact.program.named("weight")
        arrays = {**tested, **{name: artifact.arrays[buffer.name] for name, buffer in weights.items()}}
        outputs = reference.evaluate_module(module, arrays)
        require_within_limit(tested, outputs)
        allowed = self.lowering.tolerances(arrays)
        test = SelfTest(tested, outputs, {name: allowed[name] for name in outputs})
        self._self_test = test
        return test

    def text(self, layer: str, arch: str | None = None) -> str:
        """The text of a layer: "tiny", "indexbook", "poly_view", "region", and those of the target.

        They are "exec", "loops" and "llvm", and for a GPU "plan", "gpu", "exec", "nvvm", "ptx" and "cu". From "region"
        on they are others for each architecture: where there are several, `arch` says which.

        Raises:
            TinycError: `UnknownLayer`: there is no such layer, or the program was read at a later one;
                `UnsupportedTarget`: it is not said for which architecture, or it is not compiled for that.
        """
        with self._told_before():
            return self._text(layer, arch)

    def _text(self, layer: str, arch: str | None) -> str:
        if arch is None and (len(self.lowerings) == 1 or layer in FOR_EVERY_ARCH):
            return self.lowering.text(layer)
        from tinyc.target import target_of  # with the table of devices, which a CPU has no use of

        if arch is None or target_of(arch).name not in self.lowerings:
            known = either(repr(each) for each in self.lowerings)
            message = f"'arch' is {arch!r}, and layer '{layer}' is there for {known}; give one of these"
            raise TinycError("UnsupportedTarget", message)
        return self.lowerings[target_of(arch).name].text(layer)

    def dump(
        self,
        folder: Path,
        names: tuple[str, ...] | None = None,
        stock: bool = False,
        constants: bool = False,
        cpu: str | None = None,
    ) -> list[Path]:
        """Write the texts of layers as `Lowering.dump` does, of several architectures each to a folder of its name.

        They are those on the way to this machine's CPU, or to the `cpu` that is given.
        """
        with self._told_before():
            several, name = len(self.lowerings) > 1, checked_cpu(cpu)
            found = {arch: each if name is None else each.for_cpu(name) for arch, each in self.lowerings.items()}
            return [
                path
                for arch, lowering in found.items()
                for path in lowering.dump(folder / arch if several and arch else folder, names, stock, constants)
            ]
