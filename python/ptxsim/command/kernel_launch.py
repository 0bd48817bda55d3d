"""A kernel of a file, and its launch: what the command line leaves out is completed from the kernel and Triton's facts.

In: the path of a PTX or CUDA file, a launch as it is asked for. Out: PTX, a kernel's name, `ResolvedLaunch`.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple

from ptxsim.command.cuda_source import compiled_cuda, is_cuda
from ptxsim.command.files import read_file
from ptxsim.command.kernel_text import times
from ptxsim.command.triton_metadata import TritonMetadata
from ptxsim.errors import InputError, PtxError, TextError
from ptxsim.launch import Dim3
from ptxsim.module import Module
from ptxsim.parsing.syntax import Function

NO_KERNEL = "the file has no kernel (.entry)"


class AskedLaunch(NamedTuple):
    """A launch as the command line asks for it; None is what the kernel, or Triton's file, is to say."""

    grid: Dim3
    block: Dim3 | None
    cluster: Dim3 | None
    dynamic_shared: int | None
    clusters: Sequence[int | None] | None = None


@dataclass(frozen=True)
class ResolvedLaunch:
    """How a kernel is launched, complete."""

    grid: Dim3
    block: Dim3
    cluster: Dim3 | None
    dynamic_shared_bytes: int
    clusters: tuple[int, ...] | None

    def __str__(self) -> str:
        cluster = f", cluster {times(self.cluster)}" if self.cluster else ""
        if self.clusters is not None:
            cluster += f", of its clusters {', '.join(map(str, self.clusters))} only"
        shared = f", {self.dynamic_shared_bytes} bytes of dynamic shared memory" if self.dynamic_shared_bytes else ""
        return f"grid {times(self.grid)}, block {times(self.block)}{cluster}{shared}"


def ptx_text(path: Path, arch: str) -> str:
    """The PTX of a file; a `.cu` file is compiled by nvcc, for `arch`.

    Raises:
        FileError: it cannot be read, or compiled.
        TextError: it is not text.
    """
    if is_cuda(path):
        return compiled_cuda(path, arch)
    try:
        return read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the file is not text (byte 0x{error.object[error.start]:02x} at offset {error.start}); give PTX"
        raise TextError(message, str(path)) from None


def ptx_place(path: Path) -> str:
    """What errors and findings call a file: lines are those of the PTX, and not to be taken for a source's."""
    return f"{path} [PTX]" if is_cuda(path) else str(path)


@contextlib.contextmanager
def in_file(place: str) -> Iterator[None]:
    """Let what is wrong with the PTX name its file."""
    try:
        yield
    except PtxError as error:
        raise PtxError(error.message, error.line, error.column, place) from None


def entry_of(module: Module, asked: str | None, triton: TritonMetadata | None) -> str:
    """The kernel that is asked for; without a name the one of Triton's file, or the only one.

    Raises:
        InputError: there is none, or there are several.
    """
    if asked is not None:
        return asked
    if triton is not None and triton.name is not None:
        return triton.name
    if len(module.kernels) == 1:
        return module.kernels[0]
    if not module.kernels:
        raise InputError(NO_KERNEL)
    raise InputError(f"the file has the kernels {', '.join(module.kernels)}; choose one with --entry")


def resolved_launch(asked: AskedLaunch, kernel: Function, triton: TritonMetadata | None) -> ResolvedLaunch:
    """The launch's shape: what is asked for, else what the kernel requires, else what Triton says.

    Raises:
        InputError: nothing says how many threads a CTA has.
    """
    required = kernel.directives.get("reqntid")
    block = asked.block or (_three(required) if required else None)
    grid, cluster, shared = asked.grid, asked.cluster, asked.dynamic_shared
    if triton is not None:
        block = block or (triton.threads, 1, 1)
        shared = triton.shared_bytes if shared is None else shared
        if triton.ctas > 1:  # Triton counts programs, each a cluster along x
            grid, cluster = (grid[0] * triton.ctas, grid[1], grid[2]), cluster or (triton.ctas, 1, 1)
    if block is None:
        message = f"kernel '{kernel.name}' does not say how many threads a CTA has; say so, as in --block 128"
        raise InputError(message)
    of_one = cluster or _three(kernel.directives.get("reqnctapercluster", ()))
    clusters = _cluster_numbers(asked.clusters, prod(grid) // max(1, prod(of_one)))
    return ResolvedLaunch(grid, block, cluster, shared or 0, clusters)


def _cluster_numbers(asked: Sequence[int | None] | None, count: int) -> tuple[int, ...] | None:
    """The clusters that are run, where not all are; None among those asked for is the last of `count`."""
    return None if asked is None else tuple(count - 1 if number is None else number for number in asked)


def _three(extents: Sequence[int]) -> Dim3:
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z
