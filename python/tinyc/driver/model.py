"""A compiled program: what `tinyc.compile` gives, with the texts of its layers and the remarks of its compilation."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyc.diagnostics import Remark, TinycError, collect_remarks
from tinyc.driver.listings import LAST_LISTING
from tinyc.driver.lowering import Lowering
from tinyc.executors.philox import run_key
from tinyc.executors.signature import NamedTensor, Signature, boundary_of
from tinyc.expr.extents import natural
from tinyc.runtime.executable import Observer
from tinyc.runtime.outputs import named_outputs

if TYPE_CHECKING:  # the simulator takes longer to import than all the rest
    from tinyc.simulator import Report

Arrays = dict[str, np.ndarray]


#: How many numbers a seed may be.
_WORDS = 2**64
#: How many kernels the `repr` of a model names.
_SHOWN_KERNELS = 4


@dataclass(frozen=True)
class Executor:
    """A way to run a program on arrays by name, and to give back what it holds on a device.

    `run` takes the inputs, the arrays to write outputs into, the key of the run's random numbers, and who is told the
    values of nodes. `kernels` are what it launches, `arch` the GPU's architecture that they are for; `reports` gives
    those of the last run's launches where they are simulated. `set_weights` takes those over that are given.
    """

    run: Callable[[Mapping[str, Any], Mapping[str, Any], int, Observer | None], Arrays]
    release: Callable[[], None] = lambda: None
    kernels: tuple[str, ...] = ()
    arch: str | None = None
    reports: Callable[[], "Sequence[Report]"] = tuple
    set_weights: Callable[[Any], None] = lambda _: None


class Model:
    """A program that is ready to run; `remarks` are what was decided.

    `inputs` and `outputs` are the names of what each run takes and gives, `weights` of what is given once, in order.
    """

    def __init__(self, lowering: Lowering, target: str, executor: Executor, remarks: list[Remark]) -> None:
        self.lowering, self.target, self.remarks = lowering, target, remarks
        self._executor: Executor | None = executor
        self._made_of = _made_of(executor)
        self._next_offset: dict[int, int] = {}  # how many runs there have been, by their seed

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that the program went through on its way to the target."""
        last = LAST_LISTING.get(self.target, self.lowering.entry)  # the reference runs what was read
        return self.lowering.way_to(last)

    @property
    def reports(self) -> "tuple[Report, ...]":
        """What each launch of the last run on the simulator has found and counted, in order; on other targets none."""
        return () if self._executor is None else tuple(self._executor.reports())

    @functools.cached_property
    def signature(self) -> Signature:
        """Names and types of the inputs and outputs."""
        return boundary_of(self.lowering.module(self.lowering.entry)).signature

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs of a run, in order."""
        return tuple(each.name for each in self.signature.run_inputs)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the weights in order."""
        return tuple(each.name for each in self.signature.weights)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs in order."""
        return tuple(each.name for each in self.signature.outputs)

    def __repr__(self) -> str:
        """Target, inputs, outputs and kernels, on one line."""
        inputs, outputs = (_listed(each) for each in (self.signature.run_inputs, self.signature.outputs))
        freed = ", freed" if self._executor is None else ""
        weights = f", weights ({_listed(self.signature.weights)})" if self.weights else ""
        return f"<tinyc.Model on {self.target}{self._made_of}{freed}{weights}: ({inputs}) -> ({outputs})>"

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Give weights, some or all, as arrays of exactly the declared types and shapes, by name; they are copied.

        All must have been set when the model is run. What kernels prepare of them is made anew by the next run.

        Raises:
            TinycError: `InputMismatch`, and then all are as before; `OutOfMemory`, `ModelFreed`.
        """
        if self._executor is None:
            raise TinycError("ModelFreed", "the model has been freed; compile the program again")
        self._executor.set_weights(weights)

    def run(self, /, *, out: Any = None, seed: Any = None, offset: Any = None, **inputs: Any) -> Arrays:
        """Run on arrays of exactly the declared types, by name; return arrays by output name.

        They are fresh, or those in `out`, which are filled: an array for the only output, a tuple or list of one for
        each, or a mapping by name, which may leave some out. An array in `out` may be one of the inputs. Where a run
        fails, what they hold is not defined.

        Without `seed`, a program's random numbers are those of its own seeds, the same in each run. With it, they are
        new in each run, and the same for the same seed and `offset`, on every target. `offset` is the number of the
        run: by default 0 for the first one with that seed, and one more than before from then on.

        An input that is called `out`, `seed` or `offset` takes the place of the option; `run_named` has both.

        Raises:
            TinycError: `InputMismatch`, `OutputMismatch`, `UnboundSymbol`, `AssumptionViolated`, `OutOfMemory`,
                `IndexOutOfRange`, `ModelFreed`; on a GPU also `NoDriver`, `UnsupportedTarget`, `LaunchTooLarge`,
                `DeviceFailure`.
        """
        named, options = self._told_apart(inputs, out=out, seed=seed, offset=offset)
        return self.run_named(named, **options)

    def _told_apart(self, inputs: Mapping[str, Any], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Inputs and options: what has the name of an input is one."""
        given = {name: value for name, value in options.items() if value is not None}
        taken = {name: given.pop(name) for name in self.inputs if name in given}
        return {**inputs, **taken}, given

    def run_named(
        self,
        inputs: Mapping[str, Any],
        out: Any = None,
        seed: Any = None,
        offset: Any = None,
        observe: Observer | None = None,
    ) -> Arrays:
        """`run` for inputs in a mapping, whatever they are called.

        `observe` is told of the program's nodes whose values exist on the target, after each kernel that writes to one:
        the name and an array of its own. A value that two kernels write is told twice.

        Raises:
            TinycError: as `run`.
        """
        if self._executor is None:
            raise TinycError("ModelFreed", "the model has been freed; compile the program again")
        number = None if seed is None else _word("seed", seed)
        if number is None and offset is not None:
            raise TinycError("InputMismatch", f"offset is {offset!r}, and there is no seed that it is for; give one")
        place = self._next_offset.get(number or 0, 0) if offset is None else _word("offset", offset)
        key = 0 if number is None else run_key(number, place)
        with collect_remarks() as remarks:
            outputs = self._executor.run(inputs, named_outputs(self.outputs, out), key, observe)
        if number is not None:
            self._next_offset[number] = (place + 1) % _WORDS
        self.remarks += [each for each in remarks if each not in self.remarks]  # the next run says the same again
        return outputs

    def __call__(
        self, /, *arrays: Any, out: Any = None, seed: Any = None, offset: Any = None, **named: Any
    ) -> np.ndarray | tuple[np.ndarray, ...]:
        """Run on arrays in the order of the inputs, and by name; return the one output, or a tuple; see `run`.

        Raises:
            TinycError: `InputMismatch`: there are too many, or one is given twice; and what `run` raises.
        """
        names = self.inputs
        if len(arrays) > len(names):
            message = f"the model takes {len(names)} inputs ({', '.join(names)}), not {len(arrays)}; leave the rest out"
            raise TinycError("InputMismatch", message)
        placed = dict(zip(names, arrays, strict=False))
        given, options = self._told_apart(named, out=out, seed=seed, offset=offset)
        twice = [
            TinycError("InputMismatch", f"input '{name}' is given twice, by place ({place}) and by name; give it once")
            for place, name in enumerate(placed, 1)
            if name in given
        ]
        if twice:
            raise TinycError.several(twice)
        results = tuple(self.run_named({**placed, **given}, **options).values())
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


def _word(name: str, value: Any) -> int:
    """A seed or an offset.

    Raises:
        TinycError: `InputMismatch`.
    """
    number = natural(value, _WORDS - 1)
    if number is None:
        raise TinycError("InputMismatch", f"{name} is {value!r}; give an integer in 0 … 2^64 - 1")
    return number


def _listed(tensors: tuple[NamedTensor, ...]) -> str:
    return ", ".join(f"{each.name}: {each.type}" for each in tensors)


def _made_of(executor: Executor) -> str:
    """Architecture and kernels as a `repr` has them."""
    kernels = tuple(dict.fromkeys(executor.kernels))
    shown = ", ".join(kernels[:_SHOWN_KERNELS]) + (", …" if len(kernels) > _SHOWN_KERNELS else "")
    count = f"{len(kernels)} kernel{'' if len(kernels) == 1 else 's'} [{shown}]" if kernels else ""
    return "".join(f", {each}" for each in (executor.arch, count) if each)
