"""Rebuilds the PTX of the corpus from the CUDA sources beside it: `python test/ptxsim/data/build.py [name …]`.

In: `cuda/*.cu`, and an nvcc on PATH; no GPU is needed. Out: `cuda/*.ptx`, as nvcc wrote it, but for one thing: where a
file has line information, its `.file` directives name the source without the folder that it was compiled in.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parent / "cuda"
#: The architecture of each source that needs more than sm_80.
ARCHITECTURES = dict.fromkeys(
    ("bulk", "cluster", "handover", "mbarrier", "scheduling", "sm90", "tensormap", "tma", "warp_specialised", "wgmma"),
    "sm_90a",
)
#: The sources that are compiled with line information, so that a finding can name a line of CUDA.
LOCATED = {"shared"}
_FOLDER = re.compile(r'^(\s*\.file\s+\d+ ")[^"]*/', re.MULTILINE)


def architecture(source: Path) -> str:
    """Return what a source is compiled for, such as "sm_80"."""
    return ARCHITECTURES.get(source.stem, "sm_80")


def compile_source(source: Path, nvcc: str) -> str:
    """Return the PTX of a source.

    Raises:
        subprocess.CalledProcessError: nvcc refuses it.
    """
    command = [nvcc, "-ptx", f"-arch={architecture(source)}", source.name, "-o", "-"]
    command += ["-lineinfo"] if source.stem in LOCATED else []
    made = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=True)
    return _FOLDER.sub(r"\1", made.stdout)


def release(ptx: str) -> str:
    """Return the version of the compiler that wrote a file, as its head says it: "V13.0.88"."""
    found = re.search(r"Cuda compilation tools, release [\d.]+, (V[\d.]+)", ptx)
    return found[1] if found else ""


def main(names: list[str]) -> None:
    """Rebuild the named sources, or all."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        sys.exit("there is no nvcc on PATH; it comes with the CUDA toolkit, or with the package nvidia-cuda-nvcc")
    for source in sorted(SOURCES.glob("*.cu")):
        if not names or source.stem in names:
            source.with_suffix(".ptx").write_text(compile_source(source, nvcc), encoding="utf-8")
            print(source.with_suffix(".ptx"))


if __name__ == "__main__":
    main(sys.argv[1:])
