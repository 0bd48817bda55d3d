"""PTX to machine code by `ptxas`, where there is one.

In: PTX as text, and the architecture. Out: a cubin, and what each kernel needs of the hardware, as `ptxas -v` tells it.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tinyc.diagnostics import InternalError, TinycError, Where, progress

#: Names the `ptxas` to be used; a path.
VARIABLE = "TINYC_PTXAS"
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
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise TinycError(
                "UnreadableFile", f"{VARIABLE} names no program; unset it or correct it", Where(file=named)
            )
        return Path(named)
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    packaged = (path for root in roots for path in Path(root).glob("*/bin/ptxas"))
    runnable = sorted((path for path in packaged if os.access(path, os.X_OK)), key=_cuda_release, reverse=True)
    on_path = shutil.which("ptxas")
    return runnable[0] if runnable else Path(on_path) if on_path else None


def _cuda_release(packaged: Path) -> int:
    """The release of CUDA that a package is of: `nvidia/cu13/bin/ptxas`, before that `nvidia/cuda_nvcc/…`."""
    folder = re.fullmatch(r"cu(\d+)", packaged.parent.parent.name)
    return int(folder[1]) if folder else 0


def assemble(ptx: str, arch: str) -> Assembled:
    """The machine code of `ptx` for the architecture `arch`, such as "sm_90a".

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
        return Assembled(target.read_bytes(), tuple(sorted(_resources(said), key=lambda each: each.name)))


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


_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']*)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def _resources(said: str) -> Iterator[KernelResources]:
    """Yield what each kernel takes; the functions that it calls, which follow it, count as the kernel's."""
    starts = list(_ENTRY.finditer(said))
    for start, end in zip(starts, [*(each.start() for each in starts[1:]), len(said)], strict=True):
        part = said[start.end() : end]
        frames = [[int(number) for number in frame] for frame in _STACK.findall(part)]
        registers, shared = _REGISTERS.search(part), _SHARED.search(part)
        yield KernelResources(
            name=start["name"],
            registers=int(registers[1]) if registers else 0,
            spill_store_bytes=sum(stores for _, stores, _ in frames),
            spill_load_bytes=sum(loads for _, _, loads in frames),
            stack_bytes=sum(stack for stack, _, _ in frames),
            shared_bytes=int(shared[1]) if shared else 0,
        )
