"""`tinyc.compile`: a program, a target and options become a model; and the same as the functions of specification 000.

In: a program in any form that `sources` reads, a target, the values of symbols. Out: a `Model`. `reference` runs the
layer that was read in numpy; `cpu` lowers it to LLVM IR and runs that; `sim` and `cuda` lower it to PTX and run that,
one on the simulator, the other on a GPU. What can be refused without inputs is refused when the model is made.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyc.analysis.graphs import main_function
from tinyc.diagnostics import InternalError, TinycError, Where, collect_remarks, either
from tinyc.dialects.nvvm.to_ptx import chip_in, ptx_text
from tinyc.dialects.region.size_sets import sizes_text
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.layer import SHARED_LAYERS
from tinyc.driver.listings import LISTINGS
from tinyc.driver.load import executor_of
from tinyc.driver.lowering import Lowering
from tinyc.driver.model import Arrays, Executor, Model
from tinyc.driver.sources import checked_sizes, in_file, is_path, read_program
from tinyc.driver.weights import declare_weights
from tinyc.executors import reference
from tinyc.executors.signature import check_inputs, signature_of, symbol_values
from tinyc.fusion.request import request_of
from tinyc.plan.json_text import plan_to_json
from tinyc.plan.source import load_plan, split_plan
from tinyc.runtime.artifact import Artifact
from tinyc.runtime.const_pool import Weights
from tinyc.runtime.executable import Observer
from tinyc.runtime.jit import compile_object
from tinyc.runtime.object_code import ObjectError
from tinyc.runtime.outputs import check_outputs, handed_out, outputs_at
from tinyc.runtime.threads import require_no_threads
from tinyc.target import target_of, targets_of


def compile(
    source: object,
    target: str = "cpu",
    arch: str | Sequence[str] | None = None,
    bind: Mapping[str, int] | None = None,
    plan: object = None,
    dump: str | os.PathLike[str] | None = None,
    line_info: str | os.PathLike[str] | None = None,
    fusion: object = None,
    sizes: Sequence[Mapping[str, int | str]] = (),
    weights: object = None,
    constants: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> CompiledModel:
    """Compile a program.

    `source` is a path, Tiny JSON (text or dict), the text of any layer, an ONNX model, or an `ir.Module`.
    `arch` is the GPU's architecture, "sm_80" (default) or "sm_90a"; of target "cuda" also several, ["sm_80", "sm_90a"]
    or "sm_80,sm_90a": the model has code for each, of which the GPU decides where it is made or loaded. `plan` is a
    plan or a table of plans for its kernels: a path, JSON or DSL text, a dict, or None, which leaves the choice to the
    compiler; a table may ask for `fusion`, too. `bind` gives symbols their values; an extent that stays symbolic is
    taken from the inputs of each run. `dump` is a folder that the text of every layer is written to; `line_info` one
    for the text of the GPU layer: the PTX says by `.loc` which line of that text each instruction comes from; of
    several architectures each has a folder of its name there. `fusion` asks for edges to be fused or kept, by the names
    of the two values,
    {"fuse": [("a", "b")], "no_fuse": [("c", "d")]}, or "none" for a kernel for each op. `sizes` are sets of sizes that
    runs are expected to have, [{"M": 1}, {"M": "<=64"}]: kernels have alternatives for them, which know these sizes, or
    have plans for what is no larger; the first set that a run has decides.
    `weights` declares inputs as weights, which are given once and kept, beside those that the program declares itself:
    names, or arrays by name, which are set at once; the others with `Model.set_weights`. `constants` fixes inputs of an
    ONNX model, {"axes": [1]}: they are no inputs of the compiled model then. Runs on the CPU have so many `threads`,
    and the same numbers with any: by default as many as TINYC_THREADS says, else one for each CPU that this process may
    use.

    Raises:
        TinycError: what is wrong with the program (`errors` has all of it), or `UnsupportedTarget`.
    """
    own, edges = split_plan(plan)
    asked = request_of(fusion).with_edges(edges).options()
    sets = checked_sizes(sizes)
    asked |= {"sizes": sizes_text(sets)} if sets else {}
    options = {each: {**pass_options(target, each, own, line_info), **asked} for each in architectures_of(target, arch)}
    for name, folder in (("dump", dump), ("line_info", line_info)):
        if not isinstance(folder, str | os.PathLike | None):
            raise TinycError("UnreadableFile", f"'{name}' is {folder!r}, not a folder; give a path")
    with collect_remarks() as remarks, in_file(str(source) if is_path(source) else None):
        module = declare_weights(read_program(source, bind, constants=constants), weights)
        lowerings = {
            each: Lowering(module, target, given, _line_folder(line_info, each if len(options) > 1 else None))
            for each, given in options.items()
        }
        for lowering in lowerings.values():
            _check_options(lowering)
        executor = _executor_for(target, [*lowerings.values()], threads)
        model = CompiledModel(lowerings, target, executor, remarks)
        if isinstance(weights, Mapping):
            model.set_weights(weights)
        if dump is not None:
            model.dump(Path(dump))
    return model


def _executor_for(target: str, lowerings: Sequence[Lowering], threads: int | None) -> Executor:
    if target == "cpu":
        return _cpu(lowerings, threads)
    require_no_threads(target, threads)
    return _EXECUTORS[target](lowerings)


def _line_folder(line_info: str | os.PathLike[str] | None, arch: str | None) -> Path | None:
    """Where the text goes that .loc points into: of several architectures a folder for each."""
    return None if line_info is None else Path(line_info) / (arch or "")


def architectures_of(target: str, arch: str | Sequence[str] | None) -> tuple[str | None, ...]:
    """The names of the architectures that are asked for, by age; a target "cuda" takes several. None is the default.

    Raises:
        TinycError: `UnsupportedTarget`.
    """
    if arch is None or target not in ("sim", "cuda"):
        return (arch if arch is None or isinstance(arch, str) else ",".join(map(str, arch)),)
    names = tuple(each.name for each in targets_of(arch))
    if not names:
        raise TinycError("UnsupportedTarget", "'arch' names no architecture; give one, or leave it out")
    if len(names) > 1 and target == "sim":
        message = f"'arch' names {' and '.join(names)}, and target 'sim' runs one; give one, or compile for 'cuda'"
        raise TinycError("UnsupportedTarget", message)
    return names


def pass_options(target: str, arch: str | None = None, plan: object = None, line_info: object = None) -> dict[str, str]:
    """The options of the passes, as texts, that the user has given for a target.

    Raises:
        TinycError: `UnsupportedTarget`: there is no such target or architecture, or the target takes no such option;
            what is wrong with the plan.
    """
    known = either(map(repr, LISTINGS))
    if target not in LISTINGS:
        raise TinycError("UnsupportedTarget", f"'target' is {target!r}, no target; choose {known}")
    if target in ("sim", "cuda"):
        return _gpu_options(arch, plan)
    for name, value in (("arch", arch), ("plan", plan), ("line_info", line_info)):
        if value is not None:
            raise TinycError("UnsupportedTarget", f"target '{target}' takes no '{name}'; leave it out")
    return {}


def _gpu_options(arch: str | None, plan: object) -> dict[str, str]:
    options = {} if arch is None else {"arch": target_of(arch).name}
    loaded = load_plan(plan)
    return options if loaded is None else {**options, "plan": plan_to_json(loaded)}


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


def _cpu(lowerings: Sequence[Lowering], threads: int | None) -> Executor:
    (lowering,) = lowerings
    llvm_ir, program, constants = lowering.llvm_ir(), lowering.program(), lowering.constants()

    def compiled(cpu: str | None = None) -> Artifact:
        made = compile_object(llvm_ir if cpu is None else lowering.for_cpu(cpu).llvm_ir(), cpu)
        return Artifact("cpu", program, made.image, "x86-64", made.cpu, made.flags, constants)

    try:
        return replace(executor_of(compiled(), threads), compiled_for=compiled)
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


def model_init(source: object, **options: Any) -> CompiledModel:
    """Compile a program: `compile` under the name of specification 000 §8."""
    return compile(source, **options)


def model_run(model: Model, inputs: Mapping[str, Any], **options: Any) -> Arrays:
    """Run a model: `Model.run_named` under the name of specification 000 §8."""
    if not isinstance(inputs, Mapping) or not all(isinstance(name, str) for name in inputs):
        raise TinycError("InputMismatch", "the inputs are not a mapping from names to arrays; give {name: array, …}")
    return model.run_named(inputs, **options)


def model_free(model: Model) -> None:
    """Free a model: `Model.free` under the name of specification 000 §8."""
    model.free()
