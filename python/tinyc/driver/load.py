"""`tinyc.load`: a model from the file that `model.save` wrote, without MLIR and LLVM.

In: an artifact, from a compilation or from a file. Out: an `Executor`, or a `Model` that has it. Where an artifact is
for several architectures, the driver is asked which GPU there is; else nothing is asked of it before the first run.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where, either
from tinyc.driver.model import Arrays, Executor, Model
from tinyc.runtime.artifact import CODE_KINDS, Artifact, read_artifact
from tinyc.runtime.boundary import boundary_of_program
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_features import TILE_FLAG, require_machine
from tinyc.runtime.executable import Executable, LaunchClock, Timer
from tinyc.runtime.object_code import ObjectError
from tinyc.runtime.threads import require_no_threads


def load(
    path: str | os.PathLike[str], target: str | None = None, arch: str | None = None, threads: int | None = None
) -> Model:
    """The model that was saved to a file.

    A model for a GPU runs on the targets "cuda" and "sim", by default on the one that it was compiled for. One that has
    code for several architectures takes what suits the GPU here best, or that of `arch`, which "sim" needs. Runs on the
    CPU have so many `threads`: by default what TINYC_THREADS says, else one for each CPU that this process may use.

    What it runs is the file's machine code: a hash tells damage, and not who made it. Load what you trust.

    Raises:
        TinycError: `UnreadableFile`; `InvalidModel`: the file is no model, damaged, or of another tinyc;
            `UnsupportedTarget`: this machine does not run its code, or it has none for `target` or `arch`;
            `InvalidOption`: `threads`.
    """
    if not isinstance(path, str | os.PathLike):
        raise TinycError("UnreadableFile", f"'path' is {path!r}, not a file; give a path")
    file = Where(file=str(path))
    artifact = read_artifact(Path(path))
    try:
        artifact = _asked_for(artifact, target, arch)
        if artifact.target == "cpu":
            require_machine(artifact.flags, artifact.arch)
        executor = executor_of(artifact, threads)
    except TinycError as error:
        raise error.at(file) from None
    except ObjectError as error:
        raise TinycError("InvalidModel", f"{error}; compile the program again", file) from None
    return Model(boundary_of_program(artifact.program).signature, artifact.target, executor, [])


def _asked_for(artifact: Artifact, target: str | None, arch: str | None) -> Artifact:
    """An artifact for the target and the architecture that are asked for.

    Raises:
        TinycError: `UnsupportedTarget`: it has no code for that, or for several and which one is to be said.
    """
    if target not in (None, artifact.target):
        if not {target, artifact.target} <= {"sim", "cuda"}:
            message = f"the model has {CODE_KINDS[artifact.target]} for '{artifact.target}', and does not run on "
            raise TinycError("UnsupportedTarget", f"{message}{target!r}; compile its program for that")
        artifact = artifact.on(target)
    if arch is not None and artifact.target == "cpu":
        raise TinycError("UnsupportedTarget", "the model is for the CPU, and takes no 'arch'; leave it out")
    if arch is not None:
        return artifact.for_architecture(arch)
    if artifact.target == "sim" and artifact.others:
        known = either(map(repr, artifact.architectures))
        message = f"the model has code for several architectures, and target 'sim' runs one; give 'arch', {known}"
        raise TinycError("UnsupportedTarget", message)
    return artifact


def executor_of(artifact: Artifact, threads: int | None = None) -> Executor:
    """What runs an artifact on its target; of several architectures on the target "cuda" what suits the GPU here best.

    On the CPU it has so many `threads`, as `load` says.

    Raises:
        ObjectError: the object code of target "cpu" cannot be loaded.
        TinycError: `InvalidPtx`, from the simulator; `UnsupportedTarget`: there is no such architecture, or no tiles;
            `InvalidOption`: `threads`, or it is given for another target.
    """
    program, arrays = artifact.program, artifact.arrays
    if artifact.target == "cpu":
        if TILE_FLAG in artifact.flags:
            require_machine(artifact.flags, artifact.arch)  # it asks the system for tile registers
        executable = CpuExecutable(program, artifact.code, arrays, threads)
        return _executor(executable, artifact)._replace(threads=executable.threads)
    require_no_threads(artifact.target, threads)
    from tinyc.target import TARGETS  # with the table of devices, which a CPU has no use of

    ptx = artifact.code.decode()
    if artifact.target == "sim":
        from tinyc.runtime.sim import SimExecutable  # with the simulator, which takes longer to import than the rest

        simulated = SimExecutable(program, ptx, arrays)
        return _executor(simulated, artifact)._replace(reports=lambda: simulated.reports)
    if artifact.arch not in (known := [each.chip for each in TARGETS]):
        message = f"the PTX is for {artifact.arch}, and what runs on a GPU is for {either(known)}"
        raise TinycError("UnsupportedTarget", f"{message}; write one behind .target")
    from tinyc.runtime.cuda import CudaExecutable
    from tinyc.runtime.cuda_driver import gpu_capability

    best = artifact.for_gpu(gpu_capability()) if artifact.others else artifact
    executable = CudaExecutable(best.program, best.code.decode(), best.arch, arrays=best.arrays)
    return _executor(executable, artifact)._replace(arch=best.arch)


def _executor(executable: Executable[Any], artifact: Artifact) -> Executor:
    arch = None if artifact.target == "cpu" else artifact.arch

    def timed(inputs: Mapping[str, Any], timer: Timer, clock: LaunchClock | None = None) -> Arrays:
        return executable.run(inputs, timer=timer, clock=clock)

    pool = executable.pool
    return Executor(
        executable.run,
        executable.release,
        executable.program,
        arch,
        artifact=artifact,
        timed=timed,
        set_weights=pool.set,
        weights=pool.by_buffer,
        missing_weights=pool.missing,
    )
