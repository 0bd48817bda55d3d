"""`tinyc.load`: a model from the file that `model.save` wrote, without MLIR and LLVM.

In: an artifact, from a compilation or from a file. Out: an `Executor`, or a `Model` that has it.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where, either
from tinyc.driver.model import Arrays, Executor, Model
from tinyc.runtime.artifact import Artifact, read_artifact
from tinyc.runtime.boundary import boundary_of_program
from tinyc.runtime.cpu import CpuExecutable
from tinyc.runtime.cpu_features import require_machine
from tinyc.runtime.cuda import CudaExecutable
from tinyc.runtime.executable import Executable, LaunchClock, Timer
from tinyc.runtime.object_code import ObjectError
from tinyc.target import TARGETS


def load(path: str | os.PathLike[str]) -> Model:
    """The model that was saved to a file.

    What it runs is the file's machine code: a hash tells damage, and not who made it. Load what you trust.

    Raises:
        TinycError: `UnreadableFile`; `InvalidModel`: the file is no model, damaged, or of another tinyc;
            `UnsupportedTarget`: this machine does not run its code.
    """
    if not isinstance(path, str | os.PathLike):
        raise TinycError("UnreadableFile", f"'path' is {path!r}, not a file; give a path")
    artifact, file = read_artifact(Path(path)), Where(file=str(path))
    try:
        if artifact.target == "cpu":
            require_machine(artifact.flags)
        executor = executor_of(artifact)
    except TinycError as error:
        raise error.at(file) from None
    except ObjectError as error:
        raise TinycError("InvalidModel", f"{error}; compile the program again", file) from None
    return Model(boundary_of_program(artifact.program).signature, artifact.target, executor, [])


def executor_of(artifact: Artifact) -> Executor:
    """What runs an artifact on its target.

    Raises:
        ObjectError: the object code of target "cpu" cannot be loaded.
        TinycError: `InvalidPtx`, from the simulator; `UnsupportedTarget`: there is no such architecture.
    """
    program, arrays = artifact.program, artifact.arrays
    if artifact.target == "cpu":
        return _executor(CpuExecutable(program, artifact.code, arrays), artifact)
    ptx = artifact.code.decode()
    if artifact.target == "sim":
        from tinyc.runtime.sim import SimExecutable  # with the simulator, which takes longer to import than the rest

        simulated = SimExecutable(program, ptx, arrays)
        return replace(_executor(simulated, artifact), reports=lambda: simulated.reports)
    if artifact.arch not in (known := [each.chip for each in TARGETS]):
        message = f"the PTX is for {artifact.arch}, and what runs on a GPU is for {either(known)}"
        raise TinycError("UnsupportedTarget", f"{message}; write one behind .target")
    return _executor(CudaExecutable(program, ptx, artifact.arch, arrays=arrays), artifact)


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
