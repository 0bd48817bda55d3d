"""ptxas and nvdisasm: where they are, and what they make of PTX.

In: PTX and an architecture. Out: `Disassembly`: the listing with PTX lines and encodings, and what ptxas said. Both
come as packages: nvidia-cuda-nvcc has ptxas, nvidia-cuda-nvdisasm has nvdisasm, each as nvidia/cu13/bin/PROGRAM.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ptxsim.errors import FileError, InputError, PtxError

#: Name the program to be used; paths.
PROGRAM_VARIABLES = {"ptxas": "TINYC_PTXAS", "nvdisasm": "TINYC_NVDISASM"}
_PACKAGES = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


@dataclass(frozen=True)
class SassTools:
    """The programs that are used, and their versions as they tell them: "13.0.88"."""

    ptxas: Path
    nvdisasm: Path
    ptxas_version: str
    nvdisasm_version: str


@dataclass(frozen=True)
class Disassembly:
    """The text of `nvdisasm -c -gp -hex`, what `ptxas -v` said, and the version of ptxas."""

    listing: str
    said: str
    ptxas_version: str


def find_program(name: str) -> Path | None:
    """`ptxas` or `nvdisasm`: the one that the environment names, else the newest package's, else that on PATH, or None.

    Raises:
        InputError: the environment variable names no program.
    """
    variable = PROGRAM_VARIABLES[name]
    if named := os.environ.get(variable):
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise InputError(f"{variable} names no program: '{named}'; unset it or correct it")
        return Path(named)
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    packaged = [path for root in roots for path in Path(root).glob(f"*/bin/{name}") if os.access(path, os.X_OK)]
    on_path = shutil.which(name)
    return max(packaged, key=_cuda_number, default=Path(on_path) if on_path else None)


def _cuda_number(packaged: Path) -> int:
    found = re.fullmatch(r"cu(\d+)", packaged.parent.parent.name)
    return int(found[1]) if found else 0


def find_sass_tools() -> SassTools:
    """The programs that make SASS of PTX and show it.

    Raises:
        InputError: one is missing; says which, and how to get it.
        FileError: one cannot be run.
    """
    found: list[Path] = []
    for name in PROGRAM_VARIABLES:
        path = find_program(name)
        if path is None:
            raise InputError(
                f"there is no {name} to read what an instruction costs; install the package {_PACKAGES[name]} "
                f"(pip install 'tinyc[clock]'), put {name} on PATH, or set {PROGRAM_VARIABLES[name]}"
            )
        found.append(path)
    ptxas, nvdisasm = found
    return SassTools(ptxas, nvdisasm, _version(str(ptxas)), _version(str(nvdisasm)))


@lru_cache
def _version(program: str) -> str:
    said = _run(program, "--version").stdout
    found = re.search(r"\bV(\d+\.\d+\.\d+)", said)
    return found[1] if found else said.strip().splitlines()[-1] if said.strip() else "unknown"


def disassemble(ptx: str, arch: str, tools: SassTools, file: str | None = None) -> Disassembly:
    """The machine code of `ptx` for the architecture `arch`, such as "sm_90a", as text; `file` is what errors name.

    Raises:
        PtxError: ptxas refuses the PTX; with its line and what it says.
        InputError: ptxas does not know the architecture, or nvdisasm is too old for the machine code.
        FileError: a program cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="ptxsim-sass-") as folder:
        source, cubin = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_text(ptx, encoding="utf-8")
        done = _run(str(tools.ptxas), "-v", "-lineinfo", f"-arch={arch}", str(source), "-o", str(cubin))
        said = done.stdout + done.stderr
        if done.returncode != 0 or not cubin.exists():
            raise _refusal(said.replace(str(source), "kernels.ptx"), arch, tools, file)
        shown = _run(str(tools.nvdisasm), "-c", "-gp", "-hex", str(cubin))
        if shown.returncode != 0:
            raise InputError(
                f"nvdisasm {tools.nvdisasm_version} cannot read what ptxas {tools.ptxas_version} makes for {arch}: "
                f"{_last(shown.stderr + shown.stdout)}; install one as new (pip install 'tinyc[clock]')",
                file,
            )
        return Disassembly(shown.stdout, said, tools.ptxas_version)


def _refusal(said: str, arch: str, tools: SassTools, file: str | None) -> PtxError | InputError:
    if "is not defined for option 'gpu-name'" in said or "Unsupported .version" in said:
        first = said.strip().splitlines()[0]
        return InputError(
            f"ptxas {tools.ptxas_version} is too old for this PTX or for {arch}: {first}; install a newer "
            "nvidia-cuda-nvcc",
            file,
        )
    if "SM version specified by .target" in said:
        return InputError(f"the PTX is for a later architecture than {arch}; give the one of its .target", file)
    place = re.search(r"line (\d+)[;:]?\s*(?:(?:error|fatal)\s*:\s*)?(.*)", said)
    if place:
        text = place[2].strip() or said.strip().splitlines()[0]
        return PtxError(f"ptxas {tools.ptxas_version} for {arch} refuses this: {text}", int(place[1]), 1, file)
    return PtxError(f"ptxas {tools.ptxas_version} for {arch} refuses the PTX: {_last(said)}", 1, 1, file)


def _last(said: str) -> str:
    rows = said.strip().splitlines()
    return rows[-1] if rows else "it says nothing"


def _run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, errors="replace", check=False, timeout=600
        )
    except OSError as error:
        raise FileError(f"cannot run it: {error.strerror}", program) from None
    except subprocess.TimeoutExpired:
        raise FileError("it has not ended after 600 s; give a smaller kernel", program) from None
