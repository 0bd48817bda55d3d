"""A compiled program: what `tinyc.compile` gives, with the texts of its layers and the remarks of its compilation.

In: a program in any form that `sources` reads, a target, the values of symbols. Out: a `Model`. `reference` runs the
layer that was read in numpy; `cpu` lowers it to LLVM IR and runs that; `sim` and `cuda` lower it to PTX and run that,
one on the simulator, the other on a GPU. What can be refused without inputs is refused when the model is made.
"""

import functools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import Remark, TinycError, Where, collect_remarks
from tinyc.executors import reference
from tinyc.executors.signature import Signature, signature_of
from tinyc.layers import ENDS, TARGETS
from tinyc.sources import load
from tinyc.walk import Walk

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Executor:
    """What runs a program on arrays by name, and gives back what it holds on a device."""

    run: Callable[[Mapping[str, Any]], Arrays]
    release: Callable[[], None] = lambda: None


class Model:
    """A program that is ready to run; `inputs` and `outputs` are its names in order, `remarks` what was decided."""

    def __init__(self, walk: Walk, target: str, executor: Executor, remarks: list[Remark]) -> None:
        self.walk, self.target, self.remarks = walk, target, remarks
        self._executor: Executor | None = executor

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that the program went through on its way to the target."""
        return self.walk.way_to(ENDS[self.target]) if self.target in ENDS else (self.walk.entry,)

    @functools.cached_property
    def signature(self) -> Signature:
        """Names and types of the inputs and outputs."""
        return signature_of(main_function(self.walk.module(self.walk.entry)))

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
            message = f"the model takes {len(names)} inputs ({', '.join(names)}), not {len(arrays)}"
            raise TinycError("InputMismatch", message)
        results = tuple(self.run(**dict(zip(names, arrays, strict=True))).values())
        return results[0] if len(results) == 1 else results

    def free(self) -> None:
        """Give back its code and what it has on a device; it keeps its texts, and cannot run any more."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.release()

    def text(self, layer: str) -> str:
        """Return the text of a layer: "tiny", "indexbook", "poly_view", "region", and those of the target.

        They are "exec", "loops" and "llvm", and for a GPU "plan", "gpu", "exec", "nvvm", "ptx" and "cu".

        Raises:
            TinycError: `UnknownLayer`: there is no such layer, or the program was read at a later one.
        """
        return self.walk.text(layer)


def compile(
    source: Any,
    target: str = "cpu",
    arch: str | None = None,
    bind: Mapping[str, int] | None = None,
    plan: Any = None,
    dump: str | os.PathLike[str] | None = None,
) -> Model:
    """Compile a program.

    `source` is a path, Tiny JSON (text or dict), IR text of the Tiny, Region, Plan or GPU layer, or an `ir.Module`.
    `arch` is the GPU's architecture, "sm_80" (default) or "sm_90a"; `plan` a plan or a table of plans for its kernels:
    a path, JSON or DSL text, a dict, or None, which leaves the choice to the compiler. `bind` gives symbols their
    values; an extent that stays symbolic is taken from the inputs of each run. `dump` is a folder that the text of
    every layer is written to.

    Raises:
        TinycError: what is wrong with the program (`errors` has all of it), or `UnsupportedTarget`.
    """
    options = pass_options(target, arch, plan)
    if not isinstance(dump, str | os.PathLike | None):
        raise TinycError("UnreadableFile", f"dump={dump!r} is no folder; give a path")
    with collect_remarks() as remarks:
        walk = Walk(program_of(source, bind), target, options)
        _check_plan(walk)
        model = Model(walk, target, _EXECUTORS[target](walk), remarks)
        if dump is not None:
            walk.dump(Path(dump))
    return model


def program_of(source: Any, bind: Mapping[str, int] | None = None) -> Any:
    """Return the module that `source` means, which has a function to run.

    Raises:
        TinycError: what is wrong with the program; it names the file.
    """
    module = load(source, bind)
    try:
        main_function(module)
    except TinycError as error:
        is_path = isinstance(source, os.PathLike) or (isinstance(source, str) and not {"{", "\n"} & set(source))
        raise error.at(Where(file=str(source)) if is_path else Where()) from None
    return module


def pass_options(target: str, arch: str | None = None, plan: Any = None) -> dict[str, str]:
    """Return the options of the passes, as texts, that the user has given for a target.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such target or architecture, or the target takes no such option;
            what is wrong with the plan.
    """
    known = " or ".join(map(repr, TARGETS))
    if target not in TARGETS:
        raise TinycError("UnsupportedTarget", f"there is no target {target!r}; use {known}")
    if target in ("sim", "cuda"):
        return _gpu_options(arch, plan)
    for name, value in (("arch", arch), ("plan", plan)):
        if value is not None:
            raise TinycError("UnsupportedTarget", f"target '{target}' takes no {name}; leave {name}={value!r} out")
    return {}


def _gpu_options(arch: str | None, plan: Any) -> dict[str, str]:
    from tinyc.plan import json_text
    from tinyc.plan.source import load as load_plan
    from tinyc.target import target_of

    options = {} if arch is None else {"arch": target_of(arch).name}
    loaded = load_plan(plan)
    return options if loaded is None else {**options, "plan": json_text.to_text(loaded)}


def _check_plan(walk: Walk) -> None:
    """Check that plans are not given where they are realised already."""
    if walk.entry == "gpu" and "plan" in walk.options:
        message = "the program was read at layer 'gpu', where its plans are realised; leave plan= out"
        raise TinycError("UnsupportedTarget", message)


def _reference(walk: Walk) -> Executor:
    module = walk.module(walk.entry)
    signature_of(main_function(module))
    return Executor(lambda inputs: reference.evaluate(module, inputs))


def _cpu(walk: Walk) -> Executor:
    from tinyc.dialects.exec.to_program import program_of
    from tinyc.runtime.cpu import CpuExecutable

    return Executor(CpuExecutable(program_of(walk.module("exec")), walk.text("llvm")).run)


def _sim(walk: Walk) -> Executor:
    from tinyc.dialects.exec.to_program import program_of
    from tinyc.runtime.sim import SimExecutable

    ptx, _ = _ptx(walk)
    return Executor(SimExecutable(program_of(walk.module("exec")), ptx).run)


def _cuda(walk: Walk) -> Executor:
    from tinyc.dialects.exec.to_program import program_of
    from tinyc.runtime.cuda import CudaExecutable

    executable = CudaExecutable(program_of(walk.module("exec")), *_ptx(walk))
    return Executor(executable.run, executable.release)


def _ptx(walk: Walk) -> tuple[str, str]:
    """Return the PTX of a program, and the architecture that it is for."""
    ptx = walk.text("ptx")
    asked, arch = walk.options.get("arch"), re.findall(r"^\.target (\w+)", ptx, re.MULTILINE)[0]
    if asked not in (None, arch):
        message = f"the program's kernels are for {arch} already; leave arch={asked!r} out"
        raise TinycError("UnsupportedTarget", message)
    return ptx, arch


_EXECUTORS = {"reference": _reference, "cpu": _cpu, "sim": _sim, "cuda": _cuda}


def model_init(source: Any, **options: Any) -> Model:
    """Compile a program: `compile` under the name of specification 000 §8."""
    return compile(source, **options)


def model_run(model: Model, inputs: Mapping[str, Any]) -> Arrays:
    """Run a model: `Model.run` under the name of specification 000 §8."""
    if not isinstance(inputs, Mapping) or not all(isinstance(name, str) for name in inputs):
        raise TinycError("InputMismatch", "the inputs are no mapping from names to arrays; give {name: array, …}")
    return model.run(**inputs)


def model_free(model: Model) -> None:
    """Free a model: `Model.free` under the name of specification 000 §8."""
    model.free()
