"""The PTX of a CUDA source file, by `nvcc` where there is one.

In: the path of a `.cu` file, and an architecture. Out: PTX whose line information names the source.
"""

import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

from ptxsim.errors import FileError

SUFFIX = ".cu"
DEFAULT_ARCH = "sm_90a"
_SHOWN_LINES = 20


def is_cuda(path: Path) -> bool:
    """Whether a file is CUDA source, by its name."""
    return path.suffix == SUFFIX


def compiled_cuda(path: Path, arch: str) -> str:
    """The PTX of a CUDA file.

    Raises:
        FileError: there is no `nvcc`, and what to do then; it cannot be run; or it refuses the file, with what it says.
    """
    nvcc = _nvcc()
    by_hand = f"nvcc -ptx -arch={arch} -lineinfo {path.name} -o {path.with_suffix('.ptx').name}"
    if nvcc is None:
        message = "this is CUDA source, and there is no nvcc to compile it: install the CUDA toolkit, put nvcc on PATH"
        raise FileError(f"{message}, or compile it elsewhere ({by_hand}) and give the PTX", str(path))
    with tempfile.TemporaryDirectory(prefix="ptxsim-nvcc-") as folder:
        target = Path(folder) / "kernel.ptx"
        command = [nvcc, "-ptx", f"-arch={arch}", "-lineinfo", str(path), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise FileError(f"{nvcc} cannot be run: {error.strerror}", str(path)) from None
        if done.returncode or not target.exists():
            said = (done.stderr + done.stdout).strip().splitlines()[:_SHOWN_LINES]
            raise FileError("\n".join(["nvcc does not compile the file:", *said]), str(path))
        return target.read_text(encoding="utf-8", errors="replace")


def _nvcc() -> str | None:
    """The `nvcc` on PATH, else that of the Python package nvidia-cuda-nvcc, or None."""
    on_path = shutil.which("nvcc")
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    packaged = sorted(str(found) for root in roots for found in Path(root).glob("*/bin/nvcc"))
    return on_path or (packaged[-1] if packaged else None)
