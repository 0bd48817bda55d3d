"""Launches as bytes for another process: an array of zeros goes as its shape and type, others with their contents.

In: a `KernelLaunch`. Out: bytes, and from them a launch whose arrays are its own. An array that is given twice, or that
a tensor map is of, is one array on the other side, too.
"""

import io
import pickle
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.errors import InputError
from ptxsim.tensor_maps.tensor_map import TensorMap


def send_launches(launches: Sequence[KernelLaunch]) -> bytes:
    """The launches as bytes.

    Raises:
        InputError: arrays of a launch share memory, which they would not on the other side.
    """
    for each in launches:
        _check_apart(argument_arrays(each.args))
    file = io.BytesIO()
    _Sender(file, protocol=pickle.HIGHEST_PROTOCOL).dump(tuple(launches))
    return file.getvalue()


def receive_launches(sent: bytes) -> tuple[KernelLaunch, ...]:
    """The launches that `send_launches` made these bytes of."""
    return _Receiver(io.BytesIO(sent)).load()


def argument_arrays(args: Sequence[object]) -> list[np.ndarray]:
    """The different arrays among the arguments and of their tensor maps, in order."""
    held = [each.global_address if isinstance(each, TensorMap) else each for each in args]
    return list({id(each): each for each in held if isinstance(each, np.ndarray)}.values())


def is_zeros(array: np.ndarray) -> bool:
    """Whether all bytes of an array are zero."""
    if array.dtype.hasobject or not array.flags.c_contiguous:
        return False
    return not array.reshape(-1).view(np.uint8).any()


class _Sender(pickle.Pickler):
    """Pickles all but arrays of zeros, which it names by number, shape and type."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._named: dict[int, tuple[int, tuple[int, ...], np.dtype] | None] = {}
        #: Objects whose `id` is a key: they must not be collected.
        self._kept: list[np.ndarray] = []

    def persistent_id(self, obj: object) -> tuple[int, tuple[int, ...], np.dtype] | None:
        if type(obj) is not np.ndarray:
            return None
        if id(obj) not in self._named:
            self._kept.append(obj)
            self._named[id(obj)] = (len(self._named), obj.shape, obj.dtype) if is_zeros(obj) else None
        return self._named[id(obj)]


class _Receiver(pickle.Unpickler):
    """Makes the arrays of zeros anew, one for each number."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self._made: dict[int, np.ndarray] = {}

    def persistent_load(self, pid: object) -> np.ndarray:
        number, shape, dtype = cast("tuple[int, tuple[int, ...], np.dtype]", pid)
        if number not in self._made:
            self._made[number] = np.zeros(shape, dtype)
        return self._made[number]


def _check_apart(arrays: Sequence[np.ndarray]) -> None:
    for number, array in enumerate(arrays):
        for other in arrays[:number]:
            if np.may_share_memory(array, other):
                shapes = f"{list(other.shape)} and {list(array.shape)}"
                message = f"array arguments of shapes {shapes} share memory; to be ranked, launches go to processes"
                raise InputError(f"{message} of their own; give copies, or one array twice")
