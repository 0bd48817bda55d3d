"""Arrays in the memory of a GPU: those that a user gives, by either protocol, and those that a run gives back.

The protocols are `__cuda_array_interface__`, version 3, and DLPack. Nothing here needs a driver.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from tinyc.expr.extents import row_major_strides
from tinyc.runtime import dlpack

#: What a library raises where it does not hand an array over, such as one that gradients are taken of.
REFUSALS = (BufferError, RuntimeError, TypeError, ValueError)
#: The stream that a DLPack producer is asked to have its work done for: the default one, as CUDA numbers streams.
_DEFAULT_STREAM = 1


class DeviceView:
    """Dense memory of a GPU, as a kernel takes it; `owner` keeps it alive.

    `stream` is the one, as CUDA numbers streams, whose work so far has to be done before it is used; None is no one.
    `device` is the number of the GPU, None where the producer does not tell.
    """

    def __init__(
        self,
        address: int,
        dtype: np.dtype,
        shape: tuple[int, ...],
        owner: object,
        stream: int | None = None,
        is_read_only: bool = False,
        device: int | None = None,
    ) -> None:
        self.address, self.dtype, self.shape, self.owner = address, dtype, shape, owner
        self.stream, self.is_read_only, self.device = stream, is_read_only, device

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def overlaps(self, other: "DeviceView") -> bool:
        """Whether two share memory."""
        return max(self.address, other.address) < min(self.address + self.nbytes, other.address + other.nbytes)


class Readable(Protocol):
    """What keeps memory of a device, and copies from it."""

    def download(self, array: np.ndarray, address: int) -> None:
        """Fill a dense array from an address."""
        ...


class DeviceArray(DeviceView):
    """A result that stays on the GPU. It is complete: whoever takes it has no stream to wait for.

    Libraries take it by `__cuda_array_interface__` and `__dlpack__`, `numpy()` copies it to this machine's memory. Work
    that reads it may be on its way when the last reference to it goes: its memory is used again when that is done.
    """

    owner: Readable

    def __repr__(self) -> str:
        return f"<tinyc.DeviceArray of {self.dtype} {list(self.shape)}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array as CUDA libraries for Python tell each other of one."""
        shared = {"shape": self.shape, "typestr": self.dtype.str, "strides": None, "version": 3, "stream": None}
        return {**shared, "data": (self.address, False)}

    def __dlpack_device__(self) -> tuple[int, int]:
        """The GPU that it is on."""
        return dlpack.CUDA, 0

    def __dlpack__(self, **options: Any) -> Any:
        """A DLPack capsule; the options, such as the stream that waits, change nothing: the array is complete."""
        return dlpack.capsule_of(dlpack.Content(self.address, self.dtype, self.shape, None, (dlpack.CUDA, 0)), self)

    def numpy(self) -> np.ndarray:
        """A copy of it in this machine's memory.

        Raises:
            TinycError: `DeviceFailure`.
        """
        copied = np.empty(self.shape, self.dtype)
        self.owner.download(copied, self.address)
        return copied


def is_on_device(value: Any) -> bool:
    """Whether an array is in the memory of a GPU; of one that is not handed over, `device_view` says so."""
    if isinstance(value, np.ndarray):
        return False
    try:
        if hasattr(value, "__cuda_array_interface__"):
            return True
    except REFUSALS:
        return True
    try:
        return hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] in dlpack.ON_GPU
    except REFUSALS:
        return False  # whoever takes arrays of this machine's memory asks again


def device_view(value: Any, expected: np.dtype) -> DeviceView:
    """An array that is in the memory of a GPU, without a copy; `expected` is what bare bits may be.

    Raises:
        ValueError: it cannot be read, or is not dense row-major; the message says what it is.
    """
    if isinstance(value, DeviceView):
        return value
    told = _handed_over(lambda: getattr(value, "__cuda_array_interface__", None))
    if told is not None:
        return _by_interface(value, told, expected)
    capsule = _handed_over(lambda: value.__dlpack__(stream=_DEFAULT_STREAM))
    content = dlpack.content_of(capsule)
    device = content.device[1] if content.device[0] == dlpack.CUDA else 0  # what is managed is on all of them
    require_first_gpu(device)
    _require_dense(content.shape, content.strides)
    return DeviceView(content.address, content.dtype, content.shape, capsule, _DEFAULT_STREAM, device=device)


def require_first_gpu(number: int) -> None:
    """Check that an array is on the GPU that programs run on.

    Raises:
        ValueError: it is on another one.
    """
    if number != 0:
        raise ValueError(f"is on GPU number {number}, and programs run on number 0; copy it there")


def _handed_over(ask: Callable[[], Any]) -> Any:
    """What an array's library answers.

    Raises:
        ValueError: it refuses.
    """
    try:
        return ask()
    except REFUSALS as error:
        raise ValueError(f"is not handed over by its library: {error}; give a copy that is") from None


def _by_interface(value: Any, told: Any, expected: np.dtype) -> DeviceView:
    try:
        (address, is_read_only), shape, dtype = told["data"], tuple(told["shape"]), np.dtype(told["typestr"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"has a __cuda_array_interface__ that does not read: {error!r}; give another array") from None
    if told.get("mask") is not None:
        raise ValueError("is a masked array; a tensor has no mask: fill it")
    if dtype == np.dtype(f"V{expected.itemsize}"):  # the interface has no name for bf16
        dtype = expected
    strides = told.get("strides")
    _require_dense(shape, None if strides is None else tuple(each / dtype.itemsize for each in strides))
    return DeviceView(address, dtype, shape, value, told.get("stream"), is_read_only)


def _require_dense(shape: tuple[int, ...], strides: tuple[float, ...] | None) -> None:
    if strides is None or 0 in shape:
        return
    dense = row_major_strides(shape)
    if any(size > 1 and stride != wanted for size, stride, wanted in zip(shape, strides, dense, strict=True)):
        raise ValueError("is not dense row-major, and on the GPU nothing is copied; make it contiguous")
