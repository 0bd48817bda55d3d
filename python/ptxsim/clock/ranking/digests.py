"""What tells launches apart, and the clock from what it was: digests, by which estimates are kept.

In: a `KernelLaunch`, a device, the programs that make SASS. Out: SHA-256 in hexadecimal digits. Two launches have one
digest if texts, shapes, numbers and contents of arrays are the same.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

import ptxsim
from ptxsim.clock.devices import Device
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.transport import argument_arrays, is_zeros


class LaunchDigests:
    """Digests of launches on a device; what an array holds is read once, while it is the same object."""

    def __init__(self, device: Device, versions: str) -> None:
        figures = {name: float(value) for name, value in device.figures.items()}
        self._beside = [source_digest(), device.name, device.arch, figures, versions]
        self._contents: dict[int, tuple[np.ndarray, str]] = {}

    def digest(self, launch: KernelLaunch) -> str:
        """The digest of a launch."""
        arrays = argument_arrays(launch.args)
        number_of = {id(array): number for number, array in enumerate(arrays)}
        facts = [
            self._beside,
            hashlib.sha256(launch.ptx.encode()).hexdigest(),
            launch.kernel,
            [list(map(int, each)) for each in (launch.grid, launch.block, launch.cluster)],
            int(launch.dynamic_shared_bytes),
            [[list(array.shape), str(array.dtype), self._content(array)] for array in arrays],
            [_facts(each, number_of) for each in launch.args],
        ]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def _content(self, array: np.ndarray) -> str:
        if id(array) not in self._contents:
            held = "zeros" if is_zeros(array) else hashlib.sha256(array.tobytes()).hexdigest()
            self._contents[id(array)] = array, held
        return self._contents[id(array)][1]


def _facts(value: object, number_of: dict[int, int]) -> object:
    """What there is to be told of an argument, as JSON; an array is its number."""
    if isinstance(value, np.ndarray):
        return ["array", number_of[id(value)]]
    if isinstance(value, np.generic):
        return [str(value.dtype), value.tobytes().hex()]
    if isinstance(value, bytes | bytearray):
        return ["bytes", value.hex()]
    if is_dataclass(value):
        named = [[each.name, _facts(getattr(value, each.name), number_of)] for each in fields(value)]
        return [type(value).__name__, named]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_facts(each, number_of) for each in value]
    return [type(value).__name__, repr(value)]


@lru_cache(1)
def source_digest() -> str:
    """The digest of the source of the simulator and its clock: what it changes may change any estimate."""
    folder = Path(ptxsim.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
