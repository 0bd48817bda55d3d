"""What Triton's runtime knows about a kernel beside its PTX, and how it launches it.

In: the JSON that Triton writes next to the PTX in its cache (`~/.triton/cache/…/<kernel>.json`). Out: `TritonMetadata`,
which completes a launch as Triton's launcher does: a tensor descriptor becomes a tensor map, its shape and its strides,
and the last two parameters point to scratch memory. Source: Triton 3.x, `backends/nvidia/driver.py`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ptxsim.command import elements
from ptxsim.command.argument_text import Value
from ptxsim.command.files import read_file
from ptxsim.command.tensor_map_text import described
from ptxsim.errors import InputError, MetadataError
from ptxsim.parsing.syntax import Variable
from ptxsim.tensor_maps.encoding import MAP_BYTES
from ptxsim.tensor_maps.tensor_map import TensorMap

_WARP_THREADS = 32
#: The number of a swizzle mode in the driver's interface → its name.
_SWIZZLES = ("none", "32B", "64B", "128B")
_SCRATCH = ("global_scratch_size", "profile_scratch_size")


@dataclass(frozen=True)
class TritonDescriptor:
    """What Triton has decided about a tensor descriptor: `block` is in elements, outermost dimension first."""

    block: tuple[int, ...]
    swizzle: str

    def parameters(self, array: np.ndarray) -> list[Value]:
        """The kernel's parameters for the descriptor of an array: the map, the shape, the strides in elements."""
        fields = described(array) | {"box_dim": self.block[::-1], "swizzle": self.swizzle}
        strides = [stride // array.itemsize for stride in array.strides]
        return [TensorMap.tiled(**fields), *map(np.int32, array.shape), *map(np.int64, strides)]


@dataclass(frozen=True)
class TritonMetadata:
    """The facts of one kernel: `scratch_bytes` are those of each CTA, for the kernel and for Triton's profiler."""

    name: str | None
    threads: int
    ctas: int
    shared_bytes: int
    scratch_bytes: tuple[int, ...]
    descriptors: tuple[TritonDescriptor, ...]

    def arguments(self, given: Sequence[Value], parameters: Sequence[Variable], ctas: int) -> list[Value]:
        """The arguments for `parameters`; `ctas` are those of the whole grid.

        Raises:
            InputError: the kernel takes more tensor descriptors than Triton has described;
                MemoryShortage: for the scratch memory.
        """
        found: list[Value] = []
        descriptors = iter(self.descriptors)
        for value in given:
            is_map = len(found) < len(parameters) and parameters[len(found)].size == MAP_BYTES
            if not (is_map and isinstance(value, np.ndarray)):
                found.append(value)
                continue
            descriptor = next(descriptors, None)
            if descriptor is None:
                message = f"Triton's file describes {len(self.descriptors)} tensor descriptors, and the kernel has more"
                raise InputError(f"{message}; give the tensor map as tma:{{…}}")
            found += descriptor.parameters(value)
        if len(found) == len(parameters) - len(self.scratch_bytes):
            found += [_scratch(ctas * size) if size else np.uint64(0) for size in self.scratch_bytes]
        return found


def _scratch(size_bytes: int) -> np.ndarray:
    return elements.filled(np.dtype(np.uint8), (size_bytes,), "zeros", ())


def read_metadata(path: Path) -> TritonMetadata:
    """The metadata of a file.

    Raises:
        FileError, MetadataError.
    """
    try:
        facts = json.loads(read_file(path))
    except (ValueError, RecursionError) as error:
        raise MetadataError(f"the file is no JSON: {error}", str(path)) from None
    try:
        return _metadata(facts)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        message = "the file is not what Triton writes beside a kernel's PTX: <kernel>.json with num_warps and shared"
        raise MetadataError(message, str(path)) from None


def _metadata(facts: Mapping[str, Any]) -> TritonMetadata:
    name = facts.get("name")
    if name is not None and not isinstance(name, str):
        raise TypeError
    return TritonMetadata(
        name=name,
        threads=_WARP_THREADS * _count(facts["num_warps"]),
        ctas=_count(facts.get("num_ctas", 1)),
        shared_bytes=_count(facts["shared"]),
        scratch_bytes=tuple(_count(facts.get(each, 0)) for each in _SCRATCH),
        descriptors=tuple(_descriptor(each) for each in facts.get("tensordesc_meta") or ()),
    )


def _descriptor(facts: Mapping[str, Any]) -> TritonDescriptor:
    return TritonDescriptor(
        tuple(_count(extent) for extent in facts["block_size"]), _SWIZZLES[_count(facts["swizzle"])]
    )


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**40:
        raise TypeError
    return value
