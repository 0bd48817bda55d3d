"""PTX to machine code by `ptxas`, where there is one.

In: PTX as text, and the architecture. Out: a cubin, and what each kernel needs of the hardware, as `ptxas -v` tells it.
"""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ptxsim.clock.sass.resources import read_resources
from ptxsim.clock.sass.toolchain import PROGRAM_VARIABLES, find_program
from ptxsim.errors import InputError
from tinyc.diagnostics import InternalError, TinycError, Where, progress, remark

#: Names the `ptxas` to be used; a path.
VARIABLE = PROGRAM_VARIABLES["ptxas"]
_REMEDY = f"install the package nvidia-cuda-nvcc (pip install 'tinyc[cuda]'), put it on PATH, or set {VARIABLE}"


@dataclass(frozen=True)
class KernelResources:
    """The resources of a kernel: registers of a thread, bytes of a thread's spills and stack, shared bytes of a CTA."""

    name: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int


@dataclass(frozen=True)
class Assembled:
    """Machine code for one architecture, and what each of its kernels takes, by name."""

    cubin: bytes
    kernels: tuple[KernelResources, ...]


def find_ptxas() -> Path | None:
    """The `ptxas` that the environment variable names, else the newest package's, else that on PATH, or None.

    Raises:
        TinycError: `UnreadableFile`: the variable names no program.
    """
    try:
        return find_program("ptxas")
    except InputError:
        where = Where(file=os.environ[VARIABLE])
        raise TinycError("UnreadableFile", f"{VARIABLE} names no program; unset it or correct it", where) from None


def assemble(ptx: str, arch: str) -> Assembled:
    """The machine code of `ptx` for the architecture `arch`, such as "sm_90a"; a remark names each kernel that spills.

    Raises:
        TinycError: `NoDriver`: there is no ptxas; `UnsupportedTarget`: this one is too old for the PTX or the
            architecture; `UnreadableFile`: it cannot be run.
        InternalError: it refuses the PTX, with what it says.
    """
    ptxas = find_ptxas()
    if ptxas is None:
        raise TinycError("NoDriver", f"there is no ptxas to assemble PTX; {_REMEDY}")
    progress("ptxas, step", 1, 1)
    with tempfile.TemporaryDirectory(prefix="tinyc-ptxas-") as folder:
        source, target = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_text(ptx, encoding="utf-8")
        said = _run(ptxas, ["-v", "-arch", arch, "-o", str(target), str(source)], arch)
        assembled = Assembled(target.read_bytes(), _resources(said))
    for kernel in assembled.kernels:
        _tell_of_spills(kernel)
    return assembled


def _run(ptxas: Path, arguments: list[str], arch: str) -> str:
    try:
        done = subprocess.run([str(ptxas), *arguments], capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise TinycError("UnreadableFile", f"cannot run it: {error.strerror}", Where(file=str(ptxas))) from None
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return said
    if re.search(r"Unsupported \.version|is not defined for option 'gpu-name'", said):
        first = said.strip().splitlines()[0]
        raise TinycError("UnsupportedTarget", f"{ptxas} is too old for {arch}: {first}; {_REMEDY}")
    raise InternalError(f"ptxas for {arch} refuses the PTX that tinyc made: {said.strip()}")


def _tell_of_spills(kernel: KernelResources) -> None:
    """Remark on a kernel that keeps registers in local memory."""
    stored, loaded = kernel.spill_store_bytes, kernel.spill_load_bytes
    if stored or loaded:
        message = (
            f"@{kernel.name} spills: a thread stores {stored} bytes of registers to local memory and loads {loaded}, "
            "since ptxas has no more registers for it; give a plan with a smaller 'warp_tile' or 'tile'"
        )
        remark("kernel-spills", Where(), message, kernel=kernel.name, stored_bytes=stored, loaded_bytes=loaded)


def _resources(said: str) -> tuple[KernelResources, ...]:
    """What each kernel takes, by name; the functions that it calls count as the kernel's."""
    return tuple(
        KernelResources(
            name, use.registers, use.spill_store_bytes, use.spill_load_bytes, use.stack_bytes, use.shared_bytes
        )
        for name, use in sorted(read_resources(said).items())
    )
