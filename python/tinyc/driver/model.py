"""A compiled program: what `tinyc.compile` gives, with the texts of its layers and the remarks of its compilation."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import Remark, TinycError, collect_remarks
from tinyc.driver.listings import LAST_LISTING
from tinyc.driver.lowering import Lowering
from tinyc.executors.signature import Signature, signature_of

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Executor:
    """A way to run a program on arrays by name, and to give back what it holds on a device."""

    run: Callable[[Mapping[str, Any]], Arrays]
    release: Callable[[], None] = lambda: None


class Model:
    """A program that is ready to run; `inputs` and `outputs` are its names in order, `remarks` what was decided."""

    def __init__(self, lowering: Lowering, target: str, executor: Executor, remarks: list[Remark]) -> None:
        self.lowering, self.target, self.remarks = lowering, target, remarks
        self._executor: Executor | None = executor

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that the program went through on its way to the target."""
        last = LAST_LISTING.get(self.target, self.lowering.entry)  # the reference runs what was read
        return self.lowering.way_to(last)

    @functools.cached_property
    def signature(self) -> Signature:
        """Names and types of the inputs and outputs."""
        return signature_of(main_function(self.lowering.module(self.lowering.entry)))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs in order."""
        return tuple(each.name for each in self.signature.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs in order."""
        return tuple(each.name for each in self.signature.outputs)

    def run(self, /, **inputs: Any) -> Arrays:
        """Run on arrays of exactly the declared types, by name; return fresh arrays by output name.

        Raises:
            TinycError: `InputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`, `IndexOutOfRange`,
                `ModelFreed`; on a GPU also `NoDriver`, `UnsupportedTarget`, `LaunchTooLarge`, `DeviceFailure`.
        """
        if self._executor is None:
            raise TinycError("ModelFreed", "the model has been freed; compile the program again")
        with collect_remarks() as remarks:
            outputs = self._executor.run(inputs)
        self.remarks += [each for each in remarks if each not in self.remarks]  # the next run says the same again
        return outputs

    def __call__(self, *arrays: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """Run on arrays in the order of the inputs; return the one output, or a tuple."""
        names = self.inputs
        if len(arrays) != len(names):
            message = (
                f"the model takes {len(names)} inputs ({', '.join(names)}), not {len(arrays)}; give an array for each"
            )
            raise TinycError("InputMismatch", message)
        results = tuple(self.run(**dict(zip(names, arrays, strict=True))).values())
        return results[0] if len(results) == 1 else results

    def free(self) -> None:
        """Give back its code and what it has on a device; it keeps its texts, and cannot run any more."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.release()

    def text(self, layer: str) -> str:
        """The text of a layer: "tiny", "indexbook", "poly_view", "region", and those of the target.

        They are "exec", "loops" and "llvm", and for a GPU "plan", "gpu", "exec", "nvvm", "ptx" and "cu".

        Raises:
            TinycError: `UnknownLayer`: there is no such layer, or the program was read at a later one.
        """
        return self.lowering.text(layer)
