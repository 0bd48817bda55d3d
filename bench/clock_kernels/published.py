"""A published kernel: where its source lies, how it is compiled and launched, how fast it was, and on what.

In: a folder of checkouts. Out: PTX text, launches. Sources are compiled as they are; a prelude says what their own host
program includes before them.
"""

import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ptxsim

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """The launch of a kernel at one size: CTAs, threads, CTAs of a cluster, arguments, dynamic shared memory."""

    grid: Dim3
    block: Dim3
    args: Sequence[object]
    dynamic_shared_bytes: int = 0
    cluster: Dim3 = (1, 1, 1)


@dataclass(frozen=True)
class Repository:
    """A repository at a commit, and the folder of its checkout below the one that `--kernels` names."""

    name: str
    commit: str
    folder: str


@dataclass(frozen=True)
class PublishedKernel:
    """A kernel of a repository.

    `source` is its file in the checkout, `entry` a part of its name in the PTX; `replaced` are texts of the source that
    stand for others, as its variants were made by hand; `instance` is a template's, which its host program makes
    elsewhere. `launch` takes the size n, of a product n × n × n. `published` reads speeds by size, in `unit`, given the
    folder of the checkouts; `work` is what they count, FLOP or bytes, by size. Of a kernel that takes long on the
    simulator `shallow` is the launch of a product n × n × k, by n and k, or of what else is n deep in place of
    `depth_of(n)`; it is predicted at two small `depths`.
    """

    name: str
    repository: Repository
    source: str
    entry: str
    device: str
    arch: str
    launch: Callable[[int], Launch]
    published: Callable[[Path], Mapping[int, float]]
    prelude: str = ""
    instance: str = ""
    includes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)
    shallow: Callable[[int, int], Launch] | None = None
    depths: tuple[int, int] = (256, 512)
    depth_of: Callable[[int], int] = lambda n: n
    work: Callable[[int], float] = lambda n: 2.0 * n**3
    unit: str = "TFLOP/s"

    def ptx(self, kernels: Path) -> str:
        """The PTX that nvcc makes of the source, with lines; the source itself where it is PTX.

        Raises:
            FileNotFoundError: the checkout lacks it.
            subprocess.CalledProcessError: nvcc refuses it.
        """
        root = kernels / self.repository.folder
        text = (root / self.source).read_text()
        if self.source.endswith(".ptx"):
            return text
        for old, new in self.replaced.items():
            if old not in text:
                raise ValueError(f"{self.source} of {self.repository.name} has no '{old}'; expected it at {self.name}")
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            # cuBLAS is what the authors compare with: their headers want its handle, and nothing else of it.
            (Path(folder) / "cublas_v2.h").write_text("typedef void* cublasHandle_t;\n")
            source, made = Path(folder) / "kernel.cu", Path(folder) / "kernel.ptx"
            instance = f"auto instance = {self.instance};" if self.instance else ""
            source.write_text(f"{self.prelude}\n{text}\n{instance}\n")
            folders = [f"-I{root / each}" for each in self.includes]
            command = ["nvcc", "-std=c++17", "-O3", "-DNDEBUG", "-ptx", f"-arch={self.arch}", *self.options]
            subprocess.run(
                [*command, f"-I{folder}", *folders, str(source), "-o", str(made)], check=True, capture_output=True
            )
            return made.read_text()

    def entry_of(self, module: ptxsim.Module) -> str:
        """The full name of the kernel in its module."""
        return next(name for name in module.kernels if self.entry in name)
