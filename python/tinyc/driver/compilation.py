"""From a program to what runs it, through all layers: what `tinyc.compile` does where nothing was kept.

In: a program in any form that `sources` reads, and a `CompileRequest`. Out: a `CompiledModel`. `reference` runs the
layer that was read in numpy; `cpu` lowers it to LLVM IR and runs that; `sim` and `cuda` lower it to PTX and run that,
one on the simulator, the other on a GPU.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyc.analysis.graphs import main_function
from tinyc.cache.objects import object_of
from tinyc.diagnostics import InternalError, Remark, TinycError, Where, collect_remarks
from tinyc.dialects.nvvm.to_ptx import chip_in, ptx_text
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.layer import SHARED_LAYERS
from tinyc.driver.listings import LAST_LISTING
from tinyc.driver.load import executor_of
from tinyc.driver.lowering import Lowering
from tinyc.driver.model import Arrays, Executor
from tinyc.driver.request import CompileRequest
from tinyc.driver.sources import read_program
from tinyc.driver.weights import declare_weights
from tinyc.executors import reference
from tinyc.executors.signature import boundary_of, check_inputs, signature_of, symbol_values
from tinyc.mlir import ir
from tinyc.runtime.artifact import Artifact
from tinyc.runtime.const_pool import Weights
from tinyc.runtime.cpu_features import architecture_of
from tinyc.runtime.executable import Observer
from tinyc.runtime.object_code import ObjectError
from tinyc.runtime.outputs import check_outputs, handed_out, outputs_at
from tinyc.runtime.threads import require_no_threads


def compiled(
    source: object,
    request: CompileRequest,
    threads: int | None = None,
    line_info: str | os.PathLike[str] | None = None,
    inspect: Callable[[ir.Module], None] | None = None,
) -> CompiledModel:
    """Compile a program as it is asked for; `inspect` is shown what has been read.

    Raises:
        TinycError: as `tinyc.compile`.
    """
    with collect_remarks() as remarks:
        lowerings = lowerings_of(source, request, line_info, inspect)
        executor = _executor_for(request.target, [*lowerings.values()], threads)
    return model_of(lowerings, request.target, executor, remarks)


def model_of(
    lowerings: Mapping[str | None, Lowering], target: str, executor: Executor, remarks: list[Remark]
) -> CompiledModel:
    """The model of a program that has been lowered."""
    lowering = next(iter(lowerings.values())) if len(lowerings) == 1 else lowerings[executor.arch]
    boundary = boundary_of(lowering.module(lowering.entry))
    layers = lowering.way_to(LAST_LISTING.get(target, lowering.entry))  # the reference runs what was read
    return CompiledModel(boundary, target, executor, remarks, layers, lambda: lowerings)


def lowerings_of(
    source: object,
    request: CompileRequest,
    line_info: str | os.PathLike[str] | None = None,
    inspect: Callable[[ir.Module], None] | None = None,
) -> dict[str | None, Lowering]:
    """A program on its way to each architecture that is asked for.

    Raises:
        TinycError: it cannot be read, or something is asked for that is behind it already.
    """
    module = read_program(source, request.bind, request.constants)
    if inspect is not None:
        inspect(module)
    module = declare_weights(module, request.weights)
    found = {
        arch: Lowering(
            module, request.target, given, _line_folder(line_info, arch if len(request.options) > 1 else None)
        )
        for arch, given in request.options.items()
    }
    for lowering in found.values():
        _check_options(lowering)
    return found


def _line_folder(line_info: str | os.PathLike[str] | None, arch: str | None) -> Path | None:
    """Where the text goes that .loc points into: of several architectures a folder for each."""
    return None if line_info is None else Path(line_info) / (arch or "")


def _executor_for(target: str, lowerings: Sequence[Lowering], threads: int | None) -> Executor:
    if target == "cpu":
        return _cpu(lowerings, threads)
    require_no_threads(target, threads)
    return _EXECUTORS[target](lowerings)


def _check_options(lowering: Lowering) -> None:
    """Check that nothing is asked for that is behind the program already."""
    if "sizes" in lowering.options and not lowering.has("tiny"):
        message = f"the program was read at layer '{lowering.entry}', where its kernels are formed; leave 'sizes' out"
        raise TinycError("UnsupportedTarget", message)
    if lowering.entry not in SHARED_LAYERS and "plan" in lowering.options:
        message = f"the program was read at layer '{lowering.entry}', where its plans are realised; leave 'plan' out"
        raise TinycError("UnsupportedTarget", message)
    if not lowering.has("tiny") and {"fuse", "no_fuse", "fusion"} & set(lowering.options):
        message = f"the program was read at layer '{lowering.entry}', where its regions are formed; leave 'fusion' out"
        raise TinycError("UnsupportedTarget", message)
    if lowering.line_info is not None and not lowering.has("gpu"):
        message = f"the program was read at layer '{lowering.entry}', and .loc is of layer 'gpu'; leave 'line_info' out"
        raise TinycError("UnsupportedTarget", message)


def _reference(lowerings: Sequence[Lowering]) -> Executor:
    (lowering,) = lowerings
    module = lowering.module(lowering.entry)
    signature = signature_of(main_function(module))
    declared = {each.name: each.type for each in signature.outputs}
    weights = Weights({each.name: each.type for each in signature.weights})

    def run(inputs: Mapping[str, Any], out: Mapping[str, Any], run_key: int, observe: Observer | None) -> Arrays:
        weights.require(inputs)
        arrays = check_inputs(signature.inputs, {**weights.arrays, **inputs})
        if out:  # what is wrong with it is told before the run
            check_outputs(outputs_at(declared, symbol_values(signature.inputs, arrays)), out)
        return handed_out(reference.evaluate_module(module, arrays, observe=observe, run_key=run_key), out)

    return Executor(run, set_weights=weights.set, missing_weights=weights.missing)


def cpu_artifact(lowering: Lowering, cpu: str | None = None) -> Artifact:
    """What runs a program on the CPU: on this one, on one of a level of x86-64, or on one of aarch64.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such CPU, or this machine compiles for none.
    """
    lowering = lowering if cpu is None else lowering.for_cpu(cpu)
    made = object_of(lowering.llvm_units(), cpu)
    return Artifact(
        "cpu", lowering.program(), made.image, architecture_of(cpu), made.cpu, made.flags, lowering.constants()
    )


def _cpu(lowerings: Sequence[Lowering], threads: int | None) -> Executor:
    (lowering,) = lowerings
    try:
        executor = executor_of(cpu_artifact(lowering), threads)
        return executor._replace(compiled_for=lambda cpu: cpu_artifact(lowering, cpu))
    except (InternalError, ObjectError) as error:
        if lowering.entry != "llvm":
            raise error if isinstance(error, InternalError) else InternalError(f"{error}") from error
        said = str(error.__cause__ or error)
        place = re.search(r"<string>:(\d+):(\d+): ", said)
        at = Where() if place is None else Where(line=int(place[1]), column=int(place[2]))
        shown = said.replace(place[0] if place else "", "")
        raise TinycError("InvalidIr", f"LLVM does not take the kernels: {shown}", at) from None


def _on_gpu(lowerings: Sequence[Lowering]) -> Executor:
    first, *others = map(_gpu_artifact, lowerings)
    return executor_of(replace(first, others=tuple(others)))


def _gpu_artifact(lowering: Lowering) -> Artifact:
    (ptx, arch), program = _ptx(lowering), lowering.program()
    return Artifact(lowering.target, program, ptx.encode(), arch, arrays=lowering.constants())


def _ptx(lowering: Lowering) -> tuple[str, str]:
    """The PTX of a program, and the architecture that it is for."""
    ptx = ptx_text(lowering.module("ptx"))
    asked, arch = lowering.options.get("arch"), chip_in(ptx)
    if asked not in (None, arch):
        message = f"the program's kernels are for {arch} already; leave 'arch', which is {asked!r}, out"
        raise TinycError("UnsupportedTarget", message)
    return ptx, arch


_EXECUTORS: dict[str, Callable[[Sequence[Lowering]], Executor]] = {
    "reference": _reference,
    "sim": _on_gpu,
    "cuda": _on_gpu,
}
