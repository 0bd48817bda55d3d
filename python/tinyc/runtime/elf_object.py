"""A relocatable ELF object as data: its sections, its symbols, and what is to be relocated.

In: the bytes of an object of 64 bits, little-endian, as LLVM makes them. Out: named tuples, whose numbers lie within
the object. A library for ELF reads all that there is of it, debug information above all, and takes a third of a start
to import.

Source: System V ABI, "Object Files".
"""

from typing import NamedTuple, TypeAlias

import numpy as np

_HEADER = np.dtype(
    {
        "names": ["magic", "class", "order", "type", "machine", "sections", "section_bytes", "count", "names"],
        "formats": ["S4", "u1", "u1", "<u2", "<u2", "<u8", "<u2", "<u2", "<u2"],
        "offsets": [0, 4, 5, 16, 18, 40, 58, 60, 62],
        "itemsize": 64,
    }
)
_SECTION = np.dtype(
    [
        *(("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8")),
        *(("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry_bytes", "<u8")),
    ]
)
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_SYMBOLS, _WITH_ADDENDS, _NO_BITS, _WITHOUT_ADDENDS = 2, 4, 8, 9  # SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL
_RELOCATABLE, _X86_64, _FUNCTION, _LOCAL = 1, 62, 2, 0  # ET_REL, EM_X86_64, STT_FUNC, STB_LOCAL


class ObjectError(ValueError):
    """An object that cannot be loaded; the message says what of it."""


class ObjectSection(NamedTuple):
    """A section; `data` is empty where the object has no bytes of it."""

    name: str
    flags: int
    size: int
    alignment: int
    data: bytes


#: The number of an object among those that are loaded together, and that of a section of it.
SectionKey: TypeAlias = tuple[int, int]


class ObjectSymbol(NamedTuple):
    """A name for a place in a section, or, where that is None, for one outside; other objects see what is visible."""

    name: str
    section: SectionKey | None
    value: int
    size: int
    is_function: bool
    is_visible: bool


class Relocation(NamedTuple):
    """At `offset` of section `section` something is stored that depends on the place of `symbol`, a number."""

    section: SectionKey
    offset: int
    type: int
    symbol: int
    addend: int


class RelocatableObject(NamedTuple):
    """The sections, the symbols in order, and what is to be relocated."""

    sections: dict[SectionKey, ObjectSection]
    symbols: list[ObjectSymbol]
    relocations: list[Relocation]


def read_object(image: bytes, own: int) -> RelocatableObject:
    """The object that an image is, whose number is `own`.

    Raises:
        ObjectError: it is none of x86-64.
        ValueError, IndexError, OverflowError: it is damaged.
    """
    header = np.frombuffer(image, _HEADER, 1)[0]
    if (header["magic"], header["class"], header["order"]) != (b"\x7fELF", 2, 1):
        raise ValueError("it is no ELF object of 64 bits")
    if (header["type"], header["machine"]) != (_RELOCATABLE, _X86_64):
        found = f"type {header['type']} for machine {header['machine']}"
        expected = f"type {_RELOCATABLE} (relocatable) for machine {_X86_64} (x86-64)"
        raise ObjectError(f"the machine code is an ELF object of {found}; it should be of {expected}")
    table = np.frombuffer(image, _SECTION, int(header["count"]), int(header["sections"]))
    rows = [dict(zip(_SECTION.names or (), row, strict=True)) for row in table.tolist()]
    data = [b"" if row["type"] == _NO_BITS else _bytes_at(image, row["offset"], row["size"]) for row in rows]
    names = data[int(header["names"])]
    sections = {
        (own, number): ObjectSection(_text(names, row["name"]), row["flags"], row["size"], row["alignment"], each)
        for number, (row, each) in enumerate(zip(rows, data, strict=True))
    }
    symbols: list[ObjectSymbol] = []
    relocations: list[Relocation] = []
    for number, row in enumerate(rows):
        if row["type"] == _SYMBOLS:
            found = np.frombuffer(data[number], _SYMBOL).tolist()
            symbols += [_symbol(own, data[row["link"]], *each) for each in found]
        elif row["type"] == _WITH_ADDENDS:
            found = np.frombuffer(data[number], _RELOCATION).tolist()
            relocations += [Relocation((own, row["info"]), *each) for each in found]
        elif row["type"] == _WITHOUT_ADDENDS:
            raise ObjectError(
                f"the machine code has relocations without addends, in section {sections[own, number].name}"
            )
    return RelocatableObject(sections, symbols, relocations)


def _bytes_at(image: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(image):
        raise ValueError(f"a section ends at byte {offset + size} of {len(image)}")
    return image[offset : offset + size]


def _symbol(own: int, names: bytes, name: int, info: int, _: int, section: int, *place: int) -> ObjectSymbol:
    value, size = place
    where = (own, section) if section else None
    return ObjectSymbol(_text(names, name), where, value, size, info & 0xF == _FUNCTION, info >> 4 != _LOCAL)


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode()
