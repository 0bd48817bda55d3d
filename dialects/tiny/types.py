"""Tensor types of Tiny as plain data, shared by inference, the importer, the executors and the analyses.

`TensorType` is what `tensor<?x3xf16, #tiny.dims<["M", 3]>>` means. Converting to and from MLIR types is in `ops.py`.
"""

from dataclasses import dataclass

from tinyc.analysis import extents
from tinyc.analysis.extents import Dim

FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")
BOOL = "i1"
ELEMENTS = (*FLOATS, *SIGNED, *UNSIGNED, BOOL)

#: The names of Tiny JSON (`spec/tiny-json.md`) for the element types.
DTYPES = {
    "fp16": "f16",
    "bf16": "bf16",
    "fp32": "f32",
    "fp64": "f64",
    **{name: name for name in SIGNED},
    **{f"u{name[2:]}": name for name in UNSIGNED},
    "bool": BOOL,
}
DTYPE_NAMES = {element: dtype for dtype, element in DTYPES.items()}


def is_float(element: str) -> bool:
    """Say whether `element` is a floating-point type."""
    return element in FLOATS


def is_integer(element: str) -> bool:
    """Say whether `element` is an integer type; `i1` is not, it is bool."""
    return element in SIGNED or element in UNSIGNED


def bits(element: str) -> int:
    """Return the width of a number of that type in bits (1 for bool)."""
    return int(element.lstrip("buif"))


def uniform_bits(element: str) -> int:
    """Return how many bits a uniform random number has: as many as the type holds exactly, so that none rounds to 1."""
    return {"f16": 11, "bf16": 8}.get(element, 24)


def size_bytes(element: str) -> int:
    """Return the size of one element in memory in bytes; a bool takes one."""
    return max(1, bits(element) // 8)


def integer_range(element: str) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type or bool."""
    if element == BOOL:
        return 0, 1
    width = bits(element)
    return (0, 2**width - 1) if element in UNSIGNED else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


@dataclass(frozen=True)
class TensorType:
    """Element type and shape; the extents are ints or symbolic."""

    element: str
    shape: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every extent is an int."""
        return all(isinstance(extent, int) for extent in self.shape)

    def __str__(self) -> str:
        return f"{DTYPE_NAMES[self.element]} [{', '.join(map(str, self.shape))}]"


def symbols_of(types: "list[TensorType]") -> tuple[str, ...]:
    """Return the symbols of the types' extents in order of first appearance."""
    found: dict[str, None] = {}
    for tensor in types:
        for extent in tensor.shape:
            found.update(dict.fromkeys(extents.symbols(extent)))
    return tuple(found)
