"""What a caller has to know of a kernel besides its buffers: the same for the host that launches it and its loops.

`region-to-loops` gives a kernel these parameters, `region-to-exec` states them in the launch contract: a status buffer
where indices come from data, the symbols of its extents, and the half-open range [lo, hi) of the parallel outer loop.
A kernel that is a `gpu.func` already says the same of itself, and grid and block besides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.diagnostics import TinycError, Where
from tinyc.dialects.region.ops import MemRefType, held_tensor
from tinyc.dialects.region.verify import CHECKED, ORDERED, block_of, outputs_of
from tinyc.dialects.tiny.attributes import arguments, decode, tensor_type
from tinyc.dialects.tiny.types import TensorType, symbols_of


def is_checked(kernel: Any) -> bool:
    """Say whether a kernel takes a status buffer: whether it reads or writes where data says."""
    return any(op.operation.name in CHECKED for op in block_of(kernel).operations)


def symbols_in(kernel: Any) -> tuple[str, ...]:
    """Return the symbols that a kernel needs, in order: those of its buffers, then those that only its body has."""
    held = [held_tensor(argument.type) for argument in block_of(kernel).arguments]
    body = [op.operation for op in block_of(kernel).operations]
    inner = [tensor_type(result.type) for op in body for result in op.results]
    cuts = [arguments(op) for op in body if op.name == "tiny.shrink"]
    return symbols_of([*held, *inner, *(TensorType("i64", (*cut["lo"], *cut["hi"])) for cut in cuts)])


def parallel_extent(kernel: Any) -> Dim:
    """Return the trip count of the parallel outer loop: the outputs' first extent, or 1 where nothing is parallel."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    return shape[0] if splits_axis_0(kernel) else 1


def splits_axis_0(kernel: Any) -> bool:
    """Say whether the iterations over axis 0 of the outputs are independent of each other."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    ordered = [op for op in block_of(kernel).operations if op.operation.name in ORDERED]
    return bool(shape) and all(op.operation.attributes["axis"].value != 0 for op in ordered)


@dataclass(frozen=True)
class Contract:
    """How one function of a kernel is launched: with pointers to its buffers, then the status slot, then the symbols.

    `updates` says that it adds to what the launch before it has written to the kernel's outputs.
    """

    symbol: str
    memory_space: str
    grid: tuple[Dim, ...]
    block: tuple[Dim, ...]
    is_checked: bool
    symbols: tuple[str, ...]
    updates: bool = False


def contracts_of(kernel: Any, known: Mapping[str, Any]) -> list[Contract]:
    """Return the contracts of the functions that a kernel is, in the order in which they are launched.

    Raises:
        TinycError: `InvalidIr`: a `gpu.func` is expanded already.
    """
    attributes = kernel.operation.attributes
    name = attributes["sym_name"].value
    if kernel.operation.name == "region.kernel":
        grid = (parallel_extent(kernel), 1, 1)
        return [Contract(name, "host", grid, (1, 1, 1), is_checked(kernel), symbols_in(kernel))]
    if "tgpu.init" not in attributes:
        return [_of_gpu_function(kernel, updates=False)]
    init = known[attributes["tgpu.init"].value]
    return [_of_gpu_function(init, updates=False), _of_gpu_function(kernel, updates=True)]


def _of_gpu_function(function: Any, updates: bool) -> Contract:
    """Read a `gpu.func`: its buffers, its status buffer, its extents, in this order; its grid and its block."""
    attributes, arguments = function.operation.attributes, block_of(function).arguments
    name = attributes["sym_name"].value
    notes = attributes.get("arg_attrs", ())
    has_status = any("tgpu.status" in note for note in notes)
    symbols = tuple(note["tgpu.extent"].value for note in notes if "tgpu.extent" in note)
    if not any(isinstance(argument.type, MemRefType) for argument in arguments):
        message = f"gpu.func @{name} is expanded already; run --region-to-exec before --gpu-expand"
        raise TinycError("InvalidIr", message, Where(node=name))
    grid, threads = decode(attributes["tgpu.grid"]), tuple(attributes["known_block_size"])
    return Contract(name, "device", grid, threads, has_status, symbols, updates)
