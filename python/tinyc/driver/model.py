"""A program that is ready to run: what `tinyc.load` gives, and, with the texts of its layers, `tinyc.compile`.

No MLIR here: a model that was saved runs without it.
"""

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinyc.diagnostics import Remark, TinycError, collect_remarks, counted
from tinyc.driver.run_keys import RunKeys
from tinyc.runtime.artifact import Artifact, write_artifact
from tinyc.runtime.bound import BoundProgram
from tinyc.runtime.boundary import NamedTensor, Signature
from tinyc.runtime.cpu_features import checked_cpu
from tinyc.runtime.executable import LaunchClock, Observer, Timer
from tinyc.runtime.outputs import named_outputs
from tinyc.runtime.program import Program
from tinyc.runtime.sizes import RequiredMemory, required_memory
from tinyc.vocabulary.mapped_file import require_unchanged

if TYPE_CHECKING:  # what no run needs is imported where it is; the simulator takes longer than all the rest
    from tinyc.driver.profile import LaunchTimes, Prediction, Profile, WrittenNodes
    from tinyc.executors.compare import Comparison
    from tinyc.simulator import Report

Arrays = dict[str, np.ndarray]


#: How many kernels the `repr` of a model names.
_SHOWN_KERNELS = 4


class Executor(NamedTuple):
    """A way to run a program on arrays by name, and to give back what it holds on a device.

    `run` takes the inputs, the arrays to write outputs into, the key of the run's random numbers, and who is told the
    values of nodes. `program` is what it runs, where that has been lowered, `arch` the GPU's architecture that it is
    for; `reports` gives those of the last run's launches where they are simulated. `artifact` is what a file needs to
    have to run the same, `compiled_for` makes it for another CPU. `timed` takes inputs, and who is told the time of
    each launch, measured or by a clock. `set_weights` takes those over that are given, `weights` gives those that have
    been set, by buffer, `missing_weights` the names of the others. On the CPU a run has so many `threads`.
    """

    run: Callable[[Mapping[str, Any], Mapping[str, Any], int, Observer | None], Arrays]
    release: Callable[[], None] = lambda: None
    program: Program | None = None
    arch: str | None = None
    reports: Callable[[], "Sequence[Report]"] = tuple
    artifact: Artifact | None = None
    compiled_for: Callable[[str], Artifact] | None = None
    timed: Callable[[Mapping[str, Any], Timer, LaunchClock | None], Arrays] | None = None
    set_weights: Callable[[Any], None] = lambda _: None
    weights: Callable[[], Arrays] = dict
    missing_weights: Callable[[], tuple[str, ...]] = tuple
    threads: int | None = None


class Model:
    """A program that is ready to run; `remarks` are what was decided.

    `inputs` and `outputs` are the names of what each run takes and gives, `weights` of what is given once, in order.
    """

    #: The layers that the program went through on its way to the target; what was loaded has none.
    layers: tuple[str, ...] = ()

    def __init__(self, signature: Signature, target: str, executor: Executor, remarks: list[Remark]) -> None:
        self.signature, self.target, self.remarks = signature, target, remarks
        self._executor: Executor | None = executor
        self._self_test = None if executor.artifact is None else executor.artifact.self_test
        self._made_of, self._program = _made_of(executor), executor.program
        self._keys = RunKeys()
        self._noting = threading.Lock()  # of the remarks that runs leave behind

    @property
    def reports(self) -> "tuple[Report, ...]":
        """What each launch of the last run on the simulator has found and counted, in order; on other targets none."""
        return () if self._executor is None else tuple(self._executor.reports())

    @functools.cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs of a run, in order."""
        return tuple(each.name for each in self.signature.run_inputs)

    @property
    def weights(self) -> tuple[str, ...]:
        """The names of the weights in order."""
        return tuple(each.name for each in self.signature.weights)

    @functools.cached_property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs in order."""
        return tuple(each.name for each in self.signature.outputs)

    def __repr__(self) -> str:
        """Target, inputs, outputs and kernels, on one line."""
        inputs, outputs = (_listed(each) for each in (self.signature.run_inputs, self.signature.outputs))
        freed = ", freed" if self._executor is None else ""
        weights = f", weights ({_listed(self.signature.weights)})" if self.weights else ""
        return f"<tinyc.Model on {self.target}{self._made_of}{freed}{weights}: ({inputs}) -> ({outputs})>"

    @property
    def missing_weights(self) -> tuple[str, ...]:
        """The names of the weights that have not been set; a run needs all."""
        return self._ready().missing_weights()

    def set_weights(self, weights: Mapping[str, Any]) -> None:
        """Give weights, some or all, as arrays of exactly the declared types and shapes, by name; they are copied.

        All must have been set when the model is run. What kernels prepare of them is made anew by the next run. A
        self-test goes: what it expects is of other weights.

        Raises:
            TinycError: `InputMismatch`, and then all are as before; `OutOfMemory`, `ModelFreed`.
        """
        self._ready().set_weights(weights)
        if weights:
            self._self_test = None

    def self_test(self) -> "tuple[Comparison, ...]":
        """Run on the inputs that the model is saved with, and compare each output with what the reference gave.

        Raises:
            TinycError: `InvalidOption`: the model has no self-test; and what `run` raises.
        """
        from tinyc.executors.compare import compare_all

        test = self._self_test
        if test is None:
            message = "the model has no self-test; compile its program with --self-test, or add_self_test() before save"
            raise TinycError("InvalidOption", f"{message}, once its weights are set")
        for array in test.arrays:
            require_unchanged(array)
        return tuple(compare_all(self.run_named(test.inputs), test.outputs, test.tolerances))

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
                `IndexOutOfRange`, `ModelFreed`; `UnreadableFile`: a file that constants are in has changed; on a GPU
                also `NoDriver`, `UnsupportedTarget`, `LaunchTooLarge`, `DeviceFailure`.
        """
        if self._ambiguous:
            inputs, out, seed, offset = self._told_apart(inputs, out, seed, offset)
        return self.run_named(inputs, out, seed, offset)

    @functools.cached_property
    def _ambiguous(self) -> frozenset[str]:
        """The options that are called as an input is."""
        return frozenset(self.inputs) & {"out", "seed", "offset"}

    def _told_apart(self, inputs: dict[str, Any], *options: Any) -> tuple[dict[str, Any], Any, Any, Any]:
        """Inputs and options: what has the name of an input is one."""
        given: dict[str, Any] = dict(zip(("out", "seed", "offset"), options, strict=True))
        taken = {name: given.pop(name) for name in self._ambiguous if given[name] is not None}
        return {**inputs, **taken}, given.get("out"), given.get("seed"), given.get("offset")

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
        if seed is None and offset is None:
            return self._run(inputs, out, 0, observe)
        with self._keys.of(seed, offset) as key:
            return self._run(inputs, out, key, observe)

    def _ready(self) -> Executor:
        if self._executor is None:
            raise TinycError("ModelFreed", "the model has been freed; compile or load it again")
        return self._executor

    def _run(self, inputs: Mapping[str, Any], out: Any, key: int, observe: Observer | None) -> Arrays:
        executor = self._ready()
        with collect_remarks() as remarks:
            outputs = executor.run(inputs, named_outputs(self.outputs, out), key, observe)
        if remarks:
            with self._noting:
                self.remarks += [each for each in remarks if each not in self.remarks]  # the next run says it again
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
        if self._ambiguous:
            named, out, seed, offset = self._told_apart(named, out, seed, offset)
        given = dict(zip(names, arrays, strict=False))
        if named:
            given = _joined(given, named)
        results = tuple(self.run_named(given, out, seed, offset).values())
        return results[0] if len(results) == 1 else results

    def free(self) -> None:
        """Give back its code and what it has on a device; it keeps its texts, and cannot run any more."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.release()

    def emit_library(self, path: str | os.PathLike[str], prefix: str = "model", cpu: str | None = None) -> list[Path]:
        """Write a C library without Python to `path`, a name in .so, and its header beside it; return both paths.

        Its functions begin with `prefix`; `cpu` is the CPU that it is for, such as "x86-64-v3" or "aarch64", which
        the compiler must link for, and by default this machine's.

        Raises:
            TinycError: `UnsupportedTarget`: the target is not "cpu"; `NoCompiler`, `UnreadableFile`, `InvalidOption`.
        """
        if self.target != "cpu":
            message = f"a C library has code for the CPU, and this model is for '{self.target}'; compile it for 'cpu'"
            raise TinycError("UnsupportedTarget", message)
        from tinyc.c_library.build import write_library  # few models become one

        return write_library(self.artifact(cpu), Path(path), prefix)

    def profile(self, /, **inputs: Any) -> "Profile":
        """Run once more than to warm up, and measure each launch: a row for each region, and the outputs.

        Raises:
            TinycError: as `run`; `UnsupportedTarget`: the reference has no regions.
        """
        return self.profile_named(inputs)

    def profile_named(self, inputs: Mapping[str, Any], time_on: str | None = None) -> "Profile":
        """`profile` for inputs in a mapping, whatever they are called.

        With `time_on`, on target "sim", the clock says how long each launch would take on that device, such as "h100";
        "" is one of the architecture that the kernels are for.

        Raises:
            TinycError: as `profile`; `UnsupportedTarget`: the target is another one; `InputMismatch`: there is no such
                device, or no ptxas or nvdisasm, which the clock needs.
        """
        from tinyc.driver.profile import LaunchTimes, Profile, profile_rows

        executor = self._ready()
        if executor.timed is None:
            message = f"'{self.target}' has no regions to measure; compile for 'cpu', 'sim' or 'cuda'"
            raise TinycError("UnsupportedTarget", message)
        times = LaunchTimes()
        clock = None if time_on is None else LaunchClock(self._clocked(executor, time_on), times.estimate)
        if self.target != "sim":  # whose time is not measured
            executor.run(inputs, {}, 0, None)
        outputs = executor.timed(inputs, times.note, clock)
        rows = tuple(profile_rows(times, (self.target, executor.arch or ""), self._predicted))
        shares = None if executor.threads is None else _shares_of_peak(times, rows, executor.threads)
        return Profile(rows, outputs, tuple(times.estimates), shares)

    def _clocked(self, executor: Executor, device: str) -> str:
        """The device whose time is told."""
        if self.target != "sim":
            message = f"the clock times what the simulator runs, and the target is '{self.target}'; compile for 'sim'"
            raise TinycError("UnsupportedTarget", message)
        from tinyc.simulator import clocked_device

        return clocked_device(executor.arch or "", device or None)

    def _predicted(
        self, bound: BoundProgram, kernels: "Mapping[WrittenNodes, Sequence[str]]"
    ) -> "Mapping[WrittenNodes, Prediction]":
        """What was predicted of regions at the sizes of a run: nothing, where there is machine code only."""
        return {}

    def required_memory(self, /, **symbols: int) -> RequiredMemory:
        """The bytes that a run needs where the symbols of its inputs have these values.

        Raises:
            TinycError: `InvalidExtent`, `UnboundSymbol`, `AssumptionViolated`: no run has these sizes;
                `UnsupportedTarget`: the reference makes its arrays as it goes.
        """
        if self._program is None:
            message = f"'{self.target}' makes arrays as it goes and has no arena; compile for 'cpu', 'sim' or 'cuda'"
            raise TinycError("UnsupportedTarget", message)
        return required_memory(self._program, symbols)

    def text(self, layer: str) -> str:
        """The text of a layer; see `CompiledModel.text`.

        Raises:
            TinycError: `UnknownLayer`: the model was loaded.
        """
        message = f"a model that was loaded has code, and no layer {layer!r}; compile its program for that"
        raise TinycError("UnknownLayer", message)

    def save(self, path: str | os.PathLike[str], cpu: str | None = None) -> int:
        """Save the model to a file, by convention `*.tinyc`, which `tinyc.load` reads; the size of the file in bytes.

        The code of target "cpu" is for CPUs that have what this machine's has; `cpu` names others, by a level such as
        "x86-64-v3", or "host", this machine's. A file that is there is replaced when the new one is complete.

        Raises:
            TinycError: `UnreadableFile`: it cannot be written; `UnsupportedTarget`: the model has no code, or not for
                that CPU; `ModelFreed`.
        """
        if not isinstance(path, str | os.PathLike):
            raise TinycError("UnreadableFile", f"'path' is {path!r}, not a file; give a path")
        return write_artifact(Path(path), self.artifact(cpu))

    def artifact(self, cpu: str | None = None) -> Artifact:
        """What a file of the model has: program, code and arrays; `cpu` is that of `save`.

        Raises:
            TinycError: `UnsupportedTarget`, `ModelFreed`.
        """
        executor = self._ready()
        held, compiled_for = executor.artifact, executor.compiled_for
        if held is None:
            message = f"target '{self.target}' runs the program itself, and has no code; compile it for another target"
            raise TinycError("UnsupportedTarget", message)
        if self.target == "cpu":
            cpu = checked_cpu(cpu)
        if cpu is None:
            return self._complete(held, executor)
        if compiled_for is None:
            why = "the model was loaded, and its code is as it is" if self.target == "cpu" else "its code runs on a GPU"
            raise TinycError("UnsupportedTarget", f"'cpu' is {cpu!r}, and {why}; leave it out, or compile the program")
        return self._complete(compiled_for(cpu), executor)

    def _complete(self, made: Artifact, executor: Executor) -> Artifact:
        """An artifact with what the model was given since it was compiled."""
        return replace(made.with_arrays(executor.weights()), self_test=self._self_test)


def _shares_of_peak(times: "LaunchTimes", rows: Sequence[Sequence[object]], threads: int) -> tuple[str, ...]:
    """The shares of the peak that the regions of a profile have reached; it is measured if there are any."""
    from tinyc.driver.machine_peak import machine_peak  # with LLVM, which no run needs
    from tinyc.driver.roofline import peak_shares

    return tuple(peak_shares(times, rows, machine_peak(threads)))


def _joined(placed: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """Inputs by place and by name.

    Raises:
        TinycError: `InputMismatch`: one is given twice.
    """
    twice = [
        TinycError("InputMismatch", f"input '{name}' is given twice, by place ({place}) and by name; give it once")
        for place, name in enumerate(placed, 1)
        if name in named
    ]
    if twice:
        raise TinycError.several(twice)
    return {**placed, **named}


def _listed(tensors: tuple[NamedTensor, ...]) -> str:
    return ", ".join(f"{each.name}: {each.type}" for each in tensors)


def _made_of(executor: Executor) -> str:
    """Architecture and kernels as a `repr` has them."""
    launches = () if executor.program is None else executor.program.launches
    kernels = tuple(dict.fromkeys(kernel.symbol for kernel in launches))
    shown = ", ".join(kernels[:_SHOWN_KERNELS]) + (", …" if len(kernels) > _SHOWN_KERNELS else "")
    count = f"{counted(len(kernels), 'kernel')} [{shown}]" if kernels else ""
    return "".join(f", {each}" for each in (executor.arch, count) if each)
