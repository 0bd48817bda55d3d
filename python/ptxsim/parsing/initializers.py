"""Reads the initial values of variables into bytes and relocations.

In: a cursor behind the `=` of a declaration. Out: the shape (with an open first extent filled in), the bytes, and the
places among them that hold addresses. Source: PTX ISA §5.4.4 (initializers).
"""

import math
import struct

from ptxsim.parsing import constants
from ptxsim.parsing.lexer import MARK, NUMBER, WORD, Cursor
from ptxsim.parsing.syntax import Immediate, Relocation
from ptxsim.parsing.types import size_bytes

#: How many bytes one initialised variable may have: its contents are kept.
_LARGEST_BYTES = 1 << 30

_FLOATS = {"f32": "<f", "f64": "<d"}


class _Image:
    """The bytes of one variable, filled element by element."""

    def __init__(self, cursor: Cursor, type_name: str) -> None:
        self.cursor = cursor
        self.type = type_name
        self.size = size_bytes(type_name)
        self.contents = bytearray()
        self.relocations: list[Relocation] = []

    def nested(self, shape: tuple[int, ...]) -> int:
        """Read `{…}` of the shape, or one element where there is none; return the outermost extent read.

        An open extent of 0 takes as many items as there are; items that are missing are zeros.
        """
        if not shape:
            self.element()
            return 0
        cursor = self.cursor
        cursor.expect("{")
        item_bytes = self.size
        for extent in shape[1:]:
            item_bytes *= extent
        count = 0
        while cursor.text != "}" and (not count or cursor.accept(",")):
            if shape[0] and count == shape[0]:
                raise cursor.error(f"more initial values than the {shape[0]} that there is room for")
            self.nested(shape[1:])
            count += 1
        cursor.expect("}")
        extent = shape[0] or count
        missing_bytes = (extent - count) * item_bytes
        if len(self.contents) + missing_bytes > _LARGEST_BYTES:
            raise cursor.error(f"an initialised variable of more than {_LARGEST_BYTES} bytes")
        self.contents.extend(bytes(missing_bytes))
        return extent

    def element(self) -> None:
        """Read one scalar value."""
        cursor = self.cursor
        is_masked = cursor.kind == NUMBER and cursor.texts[cursor.position + 1] == "("
        if is_masked or (cursor.kind == WORD and cursor.text != "WARP_SZ"):
            self.relocations.append(self._address())
            self.contents.extend(bytes(self.size))
            return
        position = cursor.position
        value = constants.immediate(cursor)
        if value.kind == "int":
            if self.type in _FLOATS or self.type.startswith(("f16", "bf16", "tf32")):
                raise cursor.error(
                    f"an initial value of '.{self.type}' is written with a point or in hexadecimal", position
                )
            bits = value.bits
        elif self.type in _FLOATS:
            bits = _float_bits(value, self.type)
        else:
            raise cursor.error(f"an initial value of '.{self.type}' is an integer", position)
        self.contents.extend((bits & ((1 << 8 * self.size) - 1)).to_bytes(self.size, "little"))

    def _address(self) -> Relocation:
        """Read `name + 4`, `generic(name) + 4` or, for one byte of it, `0xff00(name)`."""
        cursor, offset = self.cursor, len(self.contents)
        position = cursor.position
        mask = None
        if cursor.kind == NUMBER:
            mask = constants.take_mask(cursor)
            cursor.expect("(")
        symbol, addend, is_generic = self._symbol()
        if mask is not None:
            cursor.expect(")")
        shift = 0 if mask is None else (mask & -mask).bit_length() - 1
        if mask is not None and (shift % 8 or mask != 0xFF << shift or self.size != 1):
            raise cursor.error("a mask picks one byte of an address for an element of one byte", position)
        if mask is None and (self.size < 4 or self.type[0] not in "bus"):
            raise cursor.error(f"an element of '.{self.type}' does not hold an address", position)
        return Relocation(offset, self.size, symbol, addend, is_generic, shift)

    def _symbol(self) -> tuple[str, int, bool]:
        cursor = self.cursor
        is_generic = cursor.text == "generic" and cursor.texts[cursor.position + 1] == "("
        if is_generic:
            cursor.position += 2
        symbol = cursor.take(WORD, "the name of a variable or function")
        if is_generic:
            cursor.expect(")")
        addend = 0
        if cursor.kind == MARK and cursor.text in ("+", "-"):
            addend = constants.integer(cursor, "an offset")
        return symbol, addend, is_generic


def initializer(
    cursor: Cursor, type_name: str, lanes: int, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], bytes, tuple[Relocation, ...]]:
    """The shape, the bytes and the relocations of the initial value at the cursor."""
    image = _Image(cursor, type_name)
    extent = image.nested(shape if lanes == 1 else (*shape, lanes))
    return ((extent, *shape[1:]) if shape else shape), bytes(image.contents), tuple(image.relocations)


def _float_bits(constant: Immediate, type_name: str) -> int:
    """The bits of a floating-point constant in the element's type; what is too large becomes infinite."""
    if constant.kind == type_name:
        return constant.bits
    try:
        packed = struct.pack(_FLOATS[type_name], constant.value)
    except OverflowError:
        packed = struct.pack("<f", math.copysign(math.inf, constant.value))
    return int.from_bytes(packed, "little")
