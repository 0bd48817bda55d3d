"""`tinyc.compile`: a program, a target and options become a model; and the same as the functions of specification 000.

In: a program in any form that `sources` reads, a target, the values of symbols. Out: a `Model`, from the cache where
the same has been compiled before, and then without MLIR and LLVM. What can be refused without inputs is refused when
the model is made.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinyc.diagnostics import Remark, TinycError, Where, collect_remarks, repeat_remarks
from tinyc.driver.compiled_model import CompiledModel
from tinyc.driver.kept_programs import KeptProgram, program_entry
from tinyc.driver.load import executor_of
from tinyc.driver.model import Arrays, Model
from tinyc.driver.program_text import ProgramText, in_file, is_path, program_text
from tinyc.driver.request import CompileRequest, request_for
from tinyc.importers.files import collect_files
from tinyc.runtime.artifact import Artifact
from tinyc.runtime.container import MalformedModel

if TYPE_CHECKING:
    from tinyc.driver.lowering import Lowering
    from tinyc.mlir import ir


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
    request = request_for(target, arch, bind, plan, fusion, sizes, weights, constants, line_info)
    for name, folder in (("dump", dump), ("line_info", line_info)):
        if not isinstance(folder, str | os.PathLike | None):
            raise TinycError("UnreadableFile", f"'{name}' is {folder!r}, not a folder; give a path")
    with collect_remarks() as remarks, in_file(str(source) if is_path(source) else None):
        written = program_text(source)
        model = compile_program(written or source, request, threads, line_info=line_info, uses_cache=dump is None)
        if isinstance(weights, Mapping):
            model.set_weights(weights)
        if dump is not None:
            model.dump(Path(dump))
    model.remarks = remarks
    return model


def compile_program(
    source: object,
    request: CompileRequest,
    threads: int | None = None,
    *,
    line_info: str | os.PathLike[str] | None = None,
    uses_cache: bool = True,
    inspect: "Callable[[ir.Module], None] | None" = None,
) -> CompiledModel:
    """Compile a program as it is asked for, or, where it `uses_cache`, take what was kept of it.

    What is compiled is `inspect`ed when it has been read. Only a `ProgramText` is kept, and none with `line_info`.

    Raises:
        TinycError: as `compile`.
    """
    may_keep = uses_cache and line_info is None
    entry = program_entry(source, request) if may_keep and isinstance(source, ProgramText) else None
    with collect_remarks() as remarks:
        kept = None if entry is None else entry.read()
        if kept is not None and isinstance(source, ProgramText):
            return _kept_model(kept, source, request, threads, remarks)
        from tinyc.driver.compilation import compiled  # with MLIR, which takes a second to import

        with collect_files() as files:
            model = compiled(source, request, threads, line_info, inspect)
        if entry is not None and request.target != "reference":
            entry.keep(model, files)
    model.remarks = remarks
    return model


def _kept_model(
    kept: KeptProgram, source: ProgramText, request: CompileRequest, threads: int | None, remarks: list[Remark]
) -> CompiledModel:
    """The model of a program that was compiled before; its layers are made anew where they are asked for."""
    repeat_remarks(kept.remarks)
    place, digest = source.place, source.digest

    def lowerings() -> "Mapping[str | None, Lowering]":
        from tinyc.driver.compilation import lowerings_of

        again = place.read_again()
        try:
            kept.require_files()
            has_changed = again.digest != digest
        except (MalformedModel, OSError):
            has_changed = True
        if has_changed:
            message = "the program has changed since it was compiled; compile it again"
            raise TinycError("UnreadableFile", message, Where(file=place.name))
        return lowerings_of(again, request)

    def compiled_for(cpu: str) -> Artifact:
        from tinyc.driver.compilation import cpu_artifact

        return cpu_artifact(model.lowering, cpu)

    executor = executor_of(kept.artifact, threads)
    if request.target == "cpu":
        executor = executor._replace(compiled_for=compiled_for)
    model = CompiledModel(kept.boundary, request.target, executor, remarks, kept.layers, lowerings)
    model.from_cache = True
    return model


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
