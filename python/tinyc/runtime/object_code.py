"""Machine code in this process, from the relocatable object that LLVM has made of it: the loader, without LLVM.

In: an ELF object of x86-64, compiled position-independent in the small code model, or an archive of several, which call
each other. Out: the addresses of their functions, which live as long as the `Code` that has them. All models run by it,
those that are compiled in this process and those that are read from a file.

The memory is one mapping: the sections, and behind them an entry for each symbol that is reached by its full address.
An entry is a jump and, 8 bytes on, the address: what calls a function of the C library calls the jump, and what asks
for a slot of the GOT reads the address.

Source: System V ABI, AMD64 supplement, "Relocation".
"""

import contextlib
import ctypes
import mmap
import os
from collections.abc import Sequence
from typing import NamedTuple

from tinyc.runtime.elf_object import ObjectError, ObjectSection, ObjectSymbol, Relocation, SectionKey, read_object
from tinyc.runtime.object_archive import objects_in
from tinyc.runtime.perf_map import note_functions

#: Says that gdb is to know kernels by their names.
GDB_VARIABLE = "TINYC_GDB"
#: Functions of the C library that LLVM puts in place of loops; and those that stand for an op of `math`, or for several
#: (`sincos`), or for an instruction that a CPU lacks, in f64, and with an f behind the name in f32.
_OF_MEMORY = ("memcpy", "memmove", "memset")
_OF_MATHEMATICS = (
    *("ceil", "cos", "erf", "exp", "exp10", "exp2", "floor", "fma", "fmod", "ldexp", "log", "log2", "nearbyint", "pow"),
    *("rint", "round", "roundeven", "sin", "sincos", "sqrt", "tan", "tanh", "trunc"),
)

_ALLOCATED, _WRITABLE, _THREAD_LOCAL = 0x2, 0x1, 0x400  # SHF_ALLOC, SHF_WRITE, SHF_TLS
#: The relocations by their numbers: a full address, a 32-bit distance, that of a call, a 64-bit distance, and the
#: distance of a slot of the GOT (GOTPCREL, GOTPCRELX, REX_GOTPCRELX).
_ADDRESS, _DISTANCE, _CALL, _LONG_DISTANCE = 1, 2, 4, 24
_OF_SLOTS = (9, 41, 42)
#: jmp *[rip + 2], and two bytes up to the address.
_JUMP, _SLOT, _ENTRY_BYTES = b"\xff\x25\x02\x00\x00\x00\xcc\xcc", 8, 16


class Code:
    """The machine code of objects, with the addresses of the functions that are `exported`, and of `other` ones.

    Of these there may be none.

    Raises:
        ObjectError: it is no such object, has what this loader does not know, or calls what it does not give.
    """

    def __init__(self, image: bytes, exported: Sequence[str], other: Sequence[str] = ()) -> None:
        try:
            images = objects_in(image)
            found = _linked([_to_be_loaded(each, number) for number, each in enumerate(images)])
            self._memory = memory = _Memory(found)
        except ObjectError:
            raise
        except (IndexError, OSError, OverflowError, ValueError) as error:
            raise ObjectError(f"the machine code does not load: {error}") from None
        defined = found.visible
        missing = [name for name in exported if name not in defined]
        if missing:
            raise ObjectError(f"the machine code has no function {', '.join(missing)}")
        known = (*exported, *(name for name in other if name in defined))
        self.addresses: dict[str, int] = {name: memory.address_of(defined[name]) for name in known}
        functions = [each for each in found.symbols if each.is_function and each.section in found.sections]
        if os.environ.get(GDB_VARIABLE):
            from tinyc.runtime.gdb_symbols import register_object  # few ask for it

            for number, each in enumerate(images):
                register_object(self, each, {at: place for (of, at), place in memory.starts.items() if of == number})
        note_functions((each.name, memory.address_of(each), each.size) for each in functions)


class _Loaded(NamedTuple):
    """The sections that go into memory, the symbols in order, and what is to be relocated: of an object, or several."""

    sections: dict[SectionKey, ObjectSection]
    symbols: list[ObjectSymbol]
    relocations: list[Relocation]

    @property
    def visible(self) -> dict[str, ObjectSymbol]:
        """The symbols that other objects see, by name."""
        return {each.name: each for each in self.symbols if each.is_visible and each.section is not None}

    @property
    def reached(self) -> list[int]:
        """The symbols that are reached by their full address: those outside, and those that have a slot."""
        found = {
            each.symbol
            for each in self.relocations
            if each.type in _OF_SLOTS or (each.type == _CALL and self.symbols[each.symbol].section is None)
        }
        return sorted(found)


def _linked(objects: Sequence[_Loaded]) -> _Loaded:
    """Objects as one: what one of them takes from outside is what another one has of that name.

    Raises:
        ObjectError: two have the same name.
    """
    symbols: list[ObjectSymbol] = []
    relocations: list[Relocation] = []
    for each in objects:
        relocations += [at._replace(symbol=len(symbols) + at.symbol) for at in each.relocations]
        symbols += each.symbols
    sections = {key: section for each in objects for key, section in each.sections.items()}
    visible: dict[str, ObjectSymbol] = {}
    for name, symbol in (item for each in objects for item in each.visible.items()):
        if visible.setdefault(name, symbol) is not symbol:
            raise ObjectError(f"two objects of the machine code have '{name}'")
    found = [visible.get(each.name, each) if each.section is None else each for each in symbols]
    return _Loaded(sections, found, relocations)


def _to_be_loaded(image: bytes, number: int) -> _Loaded:
    sections, symbols, relocations = read_object(image, number)
    loaded = {key: each for key, each in sections.items() if each.flags & _ALLOCATED and each.size}
    for each in loaded.values():
        # What relocations write to before the code runs is marked writable, too.
        if each.flags & _THREAD_LOCAL or (each.flags & _WRITABLE and ".rel.ro" not in each.name):
            raise ObjectError(f"the machine code has variables, in section {each.name}; kernels have none")
    return _Loaded(loaded, symbols, [each for each in relocations if each.section in loaded])


class _Memory:
    """The memory that objects are loaded into, ready to run."""

    def __init__(self, found: _Loaded) -> None:
        self._symbols = found.symbols
        places, end = _layout(found.sections)
        size_bytes = end + len(found.reached) * _ENTRY_BYTES + 1  # + 1: no mapping is empty
        self._mapping = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._mapping))
        self.starts = {key: self._base + place for key, place in places.items()}
        self._entries = {symbol: self._base + end + k * _ENTRY_BYTES for k, symbol in enumerate(found.reached)}
        for key, section in found.sections.items():
            self._write(self.starts[key], section.data)
        for symbol, entry in self._entries.items():
            self._write(entry, _JUMP + self.address_of(self._symbols[symbol]).to_bytes(8, "little"))
        for each in found.relocations:
            self._relocate(each)
        _make_executable(self._base, len(self._mapping))

    def address_of(self, symbol: ObjectSymbol) -> int:
        """The address of a symbol."""
        if symbol.section is None:
            return _external_address(symbol.name)
        if symbol.section not in self.starts:
            _, section = symbol.section
            raise ObjectError(f"the machine code has '{symbol.name}' in section {section}, which is not loaded")
        return self.starts[symbol.section] + symbol.value

    def _relocate(self, each: Relocation) -> None:
        symbol, place = self._symbols[each.symbol], self.starts[each.section] + each.offset
        if each.type in _OF_SLOTS:
            value, size = self._entries[each.symbol] + _SLOT + each.addend - place, 4
        elif each.type == _CALL and each.symbol in self._entries:
            value, size = self._entries[each.symbol] + each.addend - place, 4
        elif each.type in (_CALL, _DISTANCE) and symbol.section is not None:
            value, size = self.address_of(symbol) + each.addend - place, 4
        elif each.type == _LONG_DISTANCE:
            value, size = self.address_of(symbol) + each.addend - place, 8
        elif each.type == _ADDRESS:
            value, size = self.address_of(symbol) + each.addend, 8
        else:
            raise ObjectError(f"the machine code has a relocation of type {each.type} for '{symbol.name}', not known")
        self._write(place, (value % 2 ** (8 * size)).to_bytes(size, "little"))

    def _write(self, address: int, data: bytes) -> None:
        start = address - self._base
        if not 0 <= start <= len(self._mapping) - len(data):
            raise ObjectError("the machine code has a relocation outside of its section")
        self._mapping[start : start + len(data)] = data


def _layout(sections: dict[SectionKey, ObjectSection]) -> tuple[dict[SectionKey, int], int]:
    """Where each section starts in memory, and where the last one ends, aligned for what follows."""
    places: dict[SectionKey, int] = {}
    end = 0
    for key, section in sections.items():
        alignment = max(section.alignment, 1)
        if alignment > mmap.PAGESIZE:
            raise ObjectError(f"the machine code has a section {section.name} aligned to {alignment} bytes")
        places[key] = -(-end // alignment) * alignment
        end = places[key] + section.size
    return places, -(-end // _ENTRY_BYTES) * _ENTRY_BYTES


def _external_address(name: str) -> int:
    if not {name, name.removesuffix("f")} & {*_OF_MEMORY, *_OF_MATHEMATICS}:
        known = f"{', '.join(_OF_MEMORY)} and, in f64 and with an f behind in f32, {', '.join(_OF_MATHEMATICS)}"
        raise ObjectError(f"the machine code calls '{name}', and there are no symbols outside of it but {known}")
    for library in (None, "libm.so.6"):  # this process, where the C library is; its mathematics may not be loaded yet
        with contextlib.suppress(OSError, AttributeError):
            return ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value or 0
    raise ObjectError(f"the machine code calls '{name}', which this system's C library does not have")


def _make_executable(address: int, size_bytes: int) -> None:
    """Let memory be read and executed, and no longer written."""
    system = ctypes.CDLL(None, use_errno=True)
    protect = system.mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protect(address, size_bytes, mmap.PROT_READ | mmap.PROT_EXEC):
        raise ObjectError(
            f"the system does not let memory be executed that was written (errno {ctypes.get_errno()}); "
            "allow it for this process, or run the program on target 'sim'"
        )
