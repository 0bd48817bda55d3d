"""DLPack capsules for memory that numpy does not reach: what is in one, and one for memory of our own.

A capsule holds a C structure, which `ctypes` reads and writes; it keeps the memory alive that it tells of.
Source: dlpack.h, the structures without a version, which every library gives where none is asked for.
"""

import ctypes
import itertools
from typing import Any, NamedTuple

import numpy as np

from tinyc.vocabulary.element_type import ElementType, NumberKind, element_of

CUDA, CUDA_MANAGED = 2, 13
#: The kinds of device whose memory a kernel on a GPU reads.
ON_GPU = (CUDA, CUDA_MANAGED)

_CODES = {NumberKind.SIGNED: 0, NumberKind.UNSIGNED: 1, NumberKind.FLOAT: 2, NumberKind.BOOL: 6}
_BFLOAT = 4
_NAME = b"dltensor"


def _code(element: ElementType) -> tuple[int, int]:
    """How DLPack says a type: a code, and bits."""
    code = _BFLOAT if element is ElementType.BF16 else _CODES[element.kind]
    return code, 8 * element.size_bytes


_ELEMENTS = {_code(element): element for element in ElementType}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Content(NamedTuple):
    """What a capsule tells of an array; strides are in elements, None where it is dense row-major."""

    address: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: tuple[int, int]


def content_of(capsule: Any) -> Content:
    """What is in a capsule, which still has to be kept for as long as the memory is used.

    Raises:
        ValueError: it is none, or of elements that no tensor has.
    """
    tensor = _Managed.from_address(_get_pointer(capsule, _NAME)).tensor
    element = _ELEMENTS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if element is None:
        raise ValueError(f"its elements are of DLPack's type {tensor.code} with {tensor.bits} bits × {tensor.lanes}")
    axes = range(tensor.rank)
    shape = tuple(tensor.shape[axis] for axis in axes)
    strides = tuple(tensor.strides[axis] for axis in axes) if tensor.strides else None
    device = tensor.device_type, tensor.device_id
    return Content((tensor.data or 0) + tensor.byte_offset, element.dtype, shape, strides, device)


def capsule_of(content: Content, owner: object) -> Any:
    """A capsule for dense memory; `owner` is kept until whoever takes it has no more use for it."""
    element = element_of(content.dtype)
    assert element is not None  # it is a result's
    shape = (ctypes.c_int64 * max(1, len(content.shape)))(*content.shape)
    pointer = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    code, bits = _code(element)
    number = next(_NUMBERS)
    tensor = _Tensor(content.address, *content.device, len(content.shape), code, bits, 1, pointer, None, 0)
    managed = _Managed(tensor, number, ctypes.cast(_deleter, ctypes.c_void_p))
    _live[number] = managed, shape, owner
    return _new_capsule(ctypes.addressof(managed), _NAME, ctypes.cast(_destructor, ctypes.c_void_p))


_NUMBERS = itertools.count(1)
#: What capsules that have not been deleted keep alive.
_live: dict[int, tuple[_Managed, Any, object]] = {}

_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
# A capsule that is being destroyed must not be referred to: it is a bare address here.
_is_unused = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _deleter(managed: int) -> None:
    _live.pop(_Managed.from_address(managed).context, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destructor(capsule: int) -> None:
    if _is_unused(capsule, _NAME):  # nobody has taken it, and with it the duty to delete
        _deleter(_pointer_in(capsule, _NAME))
