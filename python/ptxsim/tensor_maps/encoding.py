"""The 128 bytes of a tensor map, as a kernel holds, copies and changes them.

A GPU's encoding is opaque; here the bytes are a record whose fields have the names that `tensormap.replace` gives them.
128 zeros are a map of which nothing is set yet. What `tensormap.replace` writes into a field is checked at once; what
stores write there, and what fields require of each other, is when a copy uses the map.

Source: PTX ISA 9.1 §5.5.8 (Tensormap), §9.7.9.28 (tensormap.replace).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ptxsim.errors import InputError
from ptxsim.tensor_maps import tensor_map_rules as rules
from ptxsim.tensor_maps.tensor_layout import Im2col, TensorLayout

MAP_BYTES = 128
_MARK = b"tMap"
#: The fields of a map, where they lie in its bytes.
MAP_RECORD = np.dtype(
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
#: What the numbers of a mode stand for, in order; None is not modelled, or not of sm_90.
_MODES: dict[str, tuple[str | None, ...]] = {
    "elemtype": ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", None, "f64", "bf16"),
    "interleave_layout": ("none",),
    "swizzle_mode": rules.SWIZZLES,
    "fill_mode": rules.FILLS,
    "mode": ("tile", "im2col"),
}
#: The modes that `tensormap.replace` replaces.
MAP_MODES = frozenset(_MODES) - {"mode"}
#: The fields with one number for each dimension, but for global strides: the innermost has none.
DIMENSIONED = dict.fromkeys(("box_dim", "global_dim", "element_stride"), rules.MAXIMUM_RANK) | {
    "global_stride": rules.MAXIMUM_RANK - 1
}
#: What a field holds; the rank is held less 1.
_LIMITS = rules.LIMITS | {"rank": rules.Limits(0, rules.MAXIMUM_RANK - 1)}


@dataclass(frozen=True)
class PlacedTensor:
    """A tensor at an address; `array_bytes` from there on were memory of the kernel when the map was encoded."""

    layout: TensorLayout
    address: int
    array_bytes: int


def encode_map(tensor: TensorLayout, address: int, array_bytes: int) -> bytes:
    """The bytes of the map of a tensor that lies at an address, in an array of so many bytes."""
    record = np.zeros((), MAP_RECORD)
    record["mark"] = _MARK
    record["global_address"], record["array_bytes"] = address, array_bytes
    _set(record, "global_dim", tensor.global_dim)
    _set(record, "global_stride", tensor.global_strides)
    _set(record, "element_stride", tensor.element_strides)
    if isinstance(tensor.box, Im2col):
        record["mode"] = _MODES["mode"].index("im2col")
        _set(record, "box_dim", (tensor.box.channels_per_pixel, tensor.box.pixels_per_column))
        _set(record, "corners", tensor.box.pixel_box_lower_corner + tensor.box.pixel_box_upper_corner)
    else:
        _set(record, "box_dim", tensor.box)
    record["rank"] = tensor.rank - 1
    record["elemtype"] = _MODES["elemtype"].index(tensor.element_type)
    record["swizzle_mode"] = _MODES["swizzle_mode"].index(tensor.swizzle)
    record["fill_mode"] = _MODES["fill_mode"].index(tensor.oob_fill)
    return record.tobytes().ljust(MAP_BYTES, b"\0")


def _set(record: np.ndarray, field: str, values: tuple[int, ...]) -> None:
    record[field][: len(values)] = values


@lru_cache(maxsize=256)
def decode_map(contents: bytes) -> PlacedTensor | None:
    """The tensor that the bytes of a map describe, None for bytes that are no map.

    Raises:
        InputError: its fields do not go together.
    """
    record = np.frombuffer(contents, MAP_RECORD, 1)[0]
    if record["mark"] != _MARK:
        return None
    modes = {field: map_mode(field, int(record[field])) for field in _MODES}
    tiled = modes["mode"] == "tile"
    rank = rules.rank(int(record["rank"]) + 1, 1 if tiled else 3)
    dimensions = rules.dimensions(record["global_dim"][:rank].tolist(), rank)
    layout = TensorLayout(
        modes["elemtype"],
        dimensions,
        rules.strides(record["global_stride"][: rank - 1].tolist(), rank),
        rules.element_strides(record["element_stride"][:rank].tolist(), rank),
        _tiled_box(record, rank) if tiled else _im2col_box(record, dimensions),
        modes["swizzle_mode"],
        modes["fill_mode"],
    )
    inner = "box_dim[0]" if tiled else "channels_per_pixel"
    rules.require_inner_box(inner, layout.shape[0] * layout.element_bytes, layout.swizzle)
    rules.require_fill(layout.oob_fill, layout.element_type)
    address = int(record["global_address"])
    rules.require_within("global_address", address, rules.LIMITS["global_address"])
    return PlacedTensor(layout, address, int(record["array_bytes"]))


def _tiled_box(record: np.void, rank: int) -> tuple[int, ...]:
    return rules.box(record["box_dim"][:rank].tolist(), rank)


def _im2col_box(record: np.void, dimensions: tuple[int, ...]) -> Im2col:
    rank, corners = len(dimensions), record["corners"].tolist()
    lower = rules.corner("pixel_box_lower_corner", corners[: rank - 2], rank)
    upper = rules.corner("pixel_box_upper_corner", corners[rank - 2 : 2 * rank - 4], rank)
    rules.require_pixels(dimensions, lower, upper)
    return Im2col(lower, upper, *rules.columns(*record["box_dim"][:2].tolist()))


def map_mode(field: str, number: int) -> str:
    """What the number of a mode stands for. Raises: InputError: nothing that the simulator knows."""
    names = _MODES[field]
    name = names[number] if number < len(names) else None
    if name is None:
        known = ", ".join(f"{each} ({name})" for each, name in enumerate(names) if name)
        raise InputError(f"tensor map: {field} = {number}; the simulator knows {known}")
    return name


def replace_field(contents: bytes, field: str, ordinal: int, value: int) -> bytes | None:
    """The bytes of a map with one number or mode replaced; None where they are no map.

    Raises:
        InputError: the field cannot have the value, or the map is not one of tiles.
    """
    record = np.frombuffer(contents, MAP_RECORD, 1).copy()
    if contents.strip(b"\0") and record["mark"][0] != _MARK:
        return None
    if map_mode("mode", int(record["mode"][0])) != "tile":
        raise InputError("tensor map: it is one of im2col; tensormap.replace.tile takes one of tiles")
    if field in MAP_MODES:
        map_mode(field, value)
    else:
        rules.require_within(f"{field}[{ordinal}]" if field in DIMENSIONED else field, value, _LIMITS[field])
    record["mark"] = _MARK
    record[field].reshape(-1)[ordinal] = value
    return record.tobytes().ljust(MAP_BYTES, b"\0")
