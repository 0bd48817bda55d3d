"""What the driver requires of the parameters of a tensor map, each rule with its own message.

In: parameters as the user gave them. Out: the same as tuples of int, or InputError, which names the
parameter, its value and the rule. Nothing here knows of `TensorMap`.

Source: CUDA Driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
"""

import operator
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ptxsim.errors import InputError
from ptxsim.tensor_maps.swizzle import SPANS

SWIZZLES = ("none", *SPANS)
PROMOTIONS = ("none", "64B", "128B", "256B")
FILLS = ("zeros", "nan_request_zero_fma")
INTERLEAVES = ("none", "16B", "32B")

#: Alignment in bytes of the global address, of the strides and of the rows of a box.
ALIGNMENT = 16
MAXIMUM_RANK = 5


class Limits(NamedTuple):
    """The first and the last value of a number, and of what it is a multiple."""

    first: int
    last: int
    step: int = 1


#: The numbers of a map that are bounded alone. A size may be 2**32, more than 32 bits hold: who passes one in 32 bits,
#: as `tensormap.replace` does, ends one below.
LIMITS = {
    "global_address": Limits(0, 2**64 - 1, ALIGNMENT),
    "global_dim": Limits(1, 2**32),
    "global_stride": Limits(0, 2**40 - 1, ALIGNMENT),
    "box_dim": Limits(1, 256),
    "element_stride": Limits(1, 8),
    "channels_per_pixel": Limits(1, 256),
    "pixels_per_column": Limits(1, 1024),
}
_TYPES = {np.dtype(each) for each in "BHIQbhiq?efd"} | {
    np.dtype(each) for each in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
}
#: Rank → the limits of a corner of the pixel box in each dimension.
_CORNERS = {
    3: Limits(-(2**15), 2**15 - 1),
    4: Limits(-(2**7), 2**7 - 1),
    5: Limits(-(2**4), 2**4 - 1),
}


def rank(value: int, minimum: int) -> int:
    """The rank, which is at least `minimum`."""
    return _integer("tensor_rank", value, Limits(minimum, MAXIMUM_RANK))


def global_address(array: NDArray) -> NDArray:
    """The array that stands for the global address: dense, of a type that tensor maps have, aligned.

    Its alignment is that of its first byte in the array that owns the memory, as every such array begins aligned.
    """
    if not isinstance(array, np.ndarray):
        raise _mismatch(f"global_address is a {type(array).__name__}; give the numpy array that the map is of")
    if array.dtype not in _TYPES:
        raise _mismatch(f"global_address has the element type {array.dtype}, which no tensor map has")
    if not array.flags.c_contiguous:
        message = "global_address is not contiguous; give the array that owns the memory, and its layout as strides"
        raise _mismatch(message)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    offset = array.ctypes.data - owner.ctypes.data
    if offset % ALIGNMENT:
        message = f"global_address lies {offset} bytes into the array it is a view of, no multiple of {ALIGNMENT} bytes"
        raise _mismatch(message)
    return array


def dimensions(values: Sequence[int], count: int) -> tuple[int, ...]:
    """The sizes of the tensor."""
    return _integers("global_dim", values, count, LIMITS["global_dim"])


def strides(values: Sequence[int], count: int) -> tuple[int, ...]:
    """The strides of all dimensions but the innermost, in bytes."""
    return _integers("global_strides", values, count - 1, LIMITS["global_stride"])


def element_strides(values: Sequence[int], count: int) -> tuple[int, ...]:
    """The traversal strides; the first is ignored by the hardware, and 1 here."""
    return (1, *_integers("element_strides", values, count, LIMITS["element_stride"])[1:])


def box(values: Sequence[int], count: int) -> tuple[int, ...]:
    """The sizes of a tiled box."""
    return _integers("box_dim", values, count, LIMITS["box_dim"])


def columns(channels: int, pixels: int) -> tuple[int, int]:
    """The channels and the pixels of an im2col box."""
    return (
        _integer("channels_per_pixel", channels, LIMITS["channels_per_pixel"]),
        _integer("pixels_per_column", pixels, LIMITS["pixels_per_column"]),
    )


def corner(name: str, values: Sequence[int], count: int) -> tuple[int, ...]:
    """A corner of the pixel box of a tensor of rank `count`."""
    return _integers(name, values, count - 2, _CORNERS[count])


def choice(name: str, value: str, known: Sequence[str]) -> str:
    """A mode, which is one of `known`."""
    if value not in known:
        raise _mismatch(f"{name} is {value!r}; there are {', '.join(repr(each) for each in known)}")
    return value


def require_within(name: str, value: int, limits: Limits) -> None:
    """Check one number."""
    if not limits.first <= value <= limits.last:
        raise _mismatch(f"{name} = {value} is not within {limits.first} … {limits.last}")
    if value % limits.step:
        raise _mismatch(f"{name} = {value} is not a multiple of {limits.step} bytes")


def require_pixels(sizes: Sequence[int], lower: Sequence[int], upper: Sequence[int]) -> None:
    """Check that the pixel box of an im2col map has a place for the filter base in each dimension."""
    for name, size, low, high in zip("WHD", sizes[1:-1], lower, upper, strict=False):
        if size + high - low < 1:
            raise _mismatch(f"the pixel box is empty in dimension {name}: it goes from {low} to {size - 1 + high}")


def require_no_interleave(interleave: str) -> None:
    """Check that the layout is one that the simulator models."""
    if choice("interleave", interleave, INTERLEAVES) != "none":
        raise _mismatch(f"interleave {interleave!r} is not modelled by the simulator; use 'none'")


def require_inner_box(name: str, size: int, swizzle: str) -> None:
    """Check the bytes of a row of the box against the granularity of copies and the span of the swizzle."""
    if size % ALIGNMENT:
        raise _mismatch(f"{name} makes rows of {size} bytes, no multiple of {ALIGNMENT} bytes")
    if swizzle == "none":
        return
    span = SPANS[swizzle]
    if size > span:
        raise _mismatch(f"{name} makes rows of {size} bytes, longer than the {span} bytes of swizzle {swizzle!r}")
    if size < span:
        message = f"{name} makes rows of {size} bytes, shorter than the {span} bytes of swizzle {swizzle!r}"
        raise _mismatch(f"{message}, whose place in shared memory is not documented; use a swizzle of their length")


def require_fill(fill: str, element_type: str) -> None:
    """Check that only floating-point elements are filled with NaN."""
    if fill != "zeros" and element_type not in ("f16", "bf16", "f32", "f64"):
        raise _mismatch(f"oob_fill {fill!r} needs elements of a floating-point type, not {element_type}")


def _mismatch(message: str) -> InputError:
    return InputError(f"tensor map: {message}")


def _integers(name: str, values: Sequence[int], count: int, limits: Limits) -> tuple[int, ...]:
    """`count` integers, each within the limits."""
    if not isinstance(values, Iterable):
        raise _mismatch(f"{name} = {values!r} is not made of integers")
    result = tuple(_integer(f"{name}[{position}]", value, limits) for position, value in enumerate(values))
    if len(result) != count:
        raise _mismatch(f"{name} has {len(result)} entries; a tensor of this rank has {count}")
    return result


def _integer(name: str, value: int, limits: Limits) -> int:
    try:
        result = operator.index(value)
    except TypeError as error:
        raise _mismatch(f"{name} = {value!r} is no integer") from error
    require_within(name, result, limits)
    return result
