"""The 128 bytes of a tensor map, as a kernel holds, copies and changes them.

A GPU's encoding is opaque; here the bytes are a record whose fields have the names that `tensormap.replace` gives them.
128 zeros are a map of which nothing is set yet. What is written into a field is checked at once; what fields require
of each other is when a copy uses the map.

Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.28 (tensormap.replace).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ptxsim.errors import InputError
from ptxsim.tensor_maps import tensor_map_rules as rules
from ptxsim.tensor_maps.tensor_layout import ELEMENT_BYTES, Im2col, TensorLayout

MAP_BYTES = 128
_MARK = b"tMap"
_TILED, _IM2COL = 0, 1
_RECORD = np.dtype(
    [
        ("mark", "S4"),
        ("global_address", "<u8"),
        ("array_bytes", "<u8"),
        ("global_dim", "<u8", rules.MAXIMUM_RANK),
        ("global_stride", "<u8", rules.MAXIMUM_RANK - 1),
        ("box_dim", "<u2", rules.MAXIMUM_RANK),
        ("corners", "<i2", 6),
        ("element_stride", "u1", rules.MAXIMUM_RANK),
        ("rank", "u1"),
        ("elemtype", "u1"),
        ("swizzle_mode", "u1"),
        ("fill_mode", "u1"),
        ("mode", "u1"),
        ("interleave_layout", "u1"),
    ]
)
#: What the values of a mode stand for, in order; None is not modelled, or not of sm_90.
MAP_MODES: dict[str, tuple[str | None, ...]] = {
    "elemtype": ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", None, "f64", "bf16"),
    "interleave_layout": ("none",),
    "swizzle_mode": rules.SWIZZLES,
    "fill_mode": rules.FILLS,
}
#: The fields with one number for each dimension, but for global strides: the innermost has none.
DIMENSIONED = dict.fromkeys(("box_dim", "global_dim", "element_stride"), rules.MAXIMUM_RANK) | {
    "global_stride": rules.MAXIMUM_RANK - 1
}
#: Numbers that a field may have: the first, the last, and of what they are multiples.
_RANGES = {
    "global_address": (0, 2**64 - 1, rules.ALIGNMENT),
    "rank": (0, rules.MAXIMUM_RANK - 1, 1),
    "box_dim": (1, 256, 1),
    "global_dim": (1, 2**32 - 1, 1),
    "global_stride": (0, 2**40 - 1, rules.ALIGNMENT),
    "element_stride": (1, 8, 1),
}
#: Fields on which it depends that the tensor lies within its array.
_PLACING = frozenset({"global_address", "global_dim", "global_stride", "rank", "elemtype"})


@dataclass(frozen=True)
class PlacedTensor:
    """A tensor at an address; what is less than `array_bytes` behind it is known to be memory of the kernel."""

    layout: TensorLayout
    address: int
    array_bytes: int


def encode_map(tensor: TensorLayout, address: int, array_bytes: int) -> bytes:
    """The bytes of the map of a tensor that lies at an address, in an array of so many bytes."""
    record = np.zeros((), _RECORD)
    record["mark"] = _MARK
    record["global_address"], record["array_bytes"] = address, array_bytes
    _set(record, "global_dim", tensor.global_dim)
    _set(record, "global_stride", tensor.global_strides)
    _set(record, "element_stride", tensor.element_strides)
    if isinstance(tensor.box, Im2col):
        record["mode"] = _IM2COL
        _set(record, "box_dim", (tensor.box.channels_per_pixel, tensor.box.pixels_per_column))
        _set(record, "corners", tensor.box.pixel_box_lower_corner + tensor.box.pixel_box_upper_corner)
    else:
        _set(record, "box_dim", tensor.box)
    record["rank"] = tensor.rank - 1
    record["elemtype"] = MAP_MODES["elemtype"].index(tensor.element_type)
    record["swizzle_mode"] = MAP_MODES["swizzle_mode"].index(tensor.swizzle)
    record["fill_mode"] = MAP_MODES["fill_mode"].index(tensor.oob_fill)
    return record.tobytes().ljust(MAP_BYTES, b"\0")


def _set(record: np.ndarray, field: str, values: tuple[int, ...]) -> None:
    record[field][: len(values)] = values


@lru_cache(maxsize=256)
def decode_map(contents: bytes) -> PlacedTensor | None:
    """The tensor that the bytes of a map describe, None for bytes that are no map.

    Raises:
        InputError: its fields do not go together.
    """
    record = np.frombuffer(contents, _RECORD, 1)[0]
    if record["mark"] != _MARK:
        return None
    rank = int(record["rank"]) + 1
    dimensions = rules.dimensions(record["global_dim"][:rank].tolist(), rank)
    modes = {field: str(names[int(record[field])]) for field, names in MAP_MODES.items()}
    layout = TensorLayout(
        modes["elemtype"],
        dimensions,
        rules.strides(record["global_stride"][: rank - 1].tolist(), rank),
        rules.element_strides(record["element_stride"][:rank].tolist(), rank),
        _box(record, rank),
        modes["swizzle_mode"],
        modes["fill_mode"],
    )
    if not isinstance(layout.box, Im2col):
        rules.require_inner_box("box_dim[0]", layout.box[0] * ELEMENT_BYTES[layout.element_type], layout.swizzle)
    rules.require_fill(layout.oob_fill, layout.element_type)
    return PlacedTensor(layout, int(record["global_address"]), int(record["array_bytes"]))


def _box(record: np.void, rank: int) -> "tuple[int, ...] | Im2col":
    box = record["box_dim"].tolist()
    if record["mode"] == _TILED:
        return rules.integers("box_dim", box[:rank], rank, 1, 256)
    corners = record["corners"].tolist()
    return Im2col(tuple(corners[: rank - 2]), tuple(corners[rank - 2 : 2 * rank - 4]), box[0], box[1])


def replace_field(contents: bytes, field: str, ordinal: int, value: int) -> bytes | None:
    """The bytes of a map with one number or mode replaced; None where they are no map.

    Raises:
        InputError: the field cannot have the value, or the map is not one of tiles.
    """
    record = np.frombuffer(contents, _RECORD, 1).copy()
    if contents.strip(b"\0") and record["mark"][0] != _MARK:
        return None
    if record["mode"][0] != _TILED:
        raise InputError("tensor map: it is one of im2col; tensormap.replace.tile takes one of tiles")
    first, last, step = _RANGES.get(field, (0, 255, 1))
    name = f"{field}[{ordinal}]" if field in DIMENSIONED else field
    if not first <= value <= last or value % step:
        multiple = f" and a multiple of {step}" if step > 1 else ""
        raise InputError(f"tensor map: {name} = {value:#x} is not within {first} … {last}{multiple}")
    record["mark"] = _MARK
    record[field].reshape(-1)[ordinal] = value
    if field in _PLACING:
        record["array_bytes"] = 0
    return record.tobytes().ljust(MAP_BYTES, b"\0")
