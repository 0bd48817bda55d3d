"""The names of kernels for gdb, by its JIT interface: it stops at a function when code is registered, and reads a list.

In: an ELF object, and where its sections are in memory. Out: an entry of that list for as long as the code lives:
`break`, `bt` and `disassemble` then know kernels by their names.

gdb looks for the function and the list among the symbols of what the process has loaded. LLVM has both, and a model
from a file or from the cache has no LLVM; so they come from a library of a few bytes that is made here.

Source: gdb's manual, "JIT Compilation Interface"; System V ABI, "Object Files" and "Program Loading".
"""

import contextlib
import ctypes
import functools
import mmap
import os
import struct
import threading
import weakref
from collections.abc import Mapping
from typing import Any

_REGISTER, _DESCRIPTOR = "__jit_debug_register_code", "__jit_debug_descriptor"
_REGISTERED, _UNREGISTERED = 1, 2
#: In the header of an ELF object: where the headers of sections are, and how long one is; in such a one: its address.
_HEADERS, _HEADER_BYTES, _ADDRESS = 0x28, 0x3A, 0x10


class _Entry(ctypes.Structure):
    """`struct jit_code_entry`: a neighbour at each side in the list, and where the object is."""

    _fields_ = (
        ("next", ctypes.c_void_p),
        ("previous", ctypes.c_void_p),
        ("address", ctypes.c_void_p),
        ("size_bytes", ctypes.c_uint64),
    )


class _Descriptor(ctypes.Structure):
    """`struct jit_descriptor`: what happens to which entry, and the first one of the list."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("relevant", ctypes.c_void_p),
        ("first", ctypes.c_void_p),
    )


#: The list is changed by one thread at a time, and nowhere in the midst of a change: an owner that goes, which may be
#: at any time, leaves its entry here, for the next change to take out.
_listing = threading.Lock()
_left: "list[_Listed]" = []


class _Listed:
    """An object in the list, and the memory that both are in."""

    def __init__(self, image: bytes) -> None:
        self._image = ctypes.create_string_buffer(image, len(image))
        self.entry = _Entry(None, None, ctypes.addressof(self._image), len(image))


def register_object(owner: object, image: bytes, starts: Mapping[int, int]) -> None:
    """Tell gdb of an object whose sections are at `starts`, by their numbers, for `owner`.

    It is told that the object is gone with the next one that comes after `owner` has gone. Where the system takes no
    library from memory, kernels have no names: what runs is right without them.
    """
    with contextlib.suppress(OSError), _listing:
        library = _library()
        while _left:
            _unlist(library, _left.pop().entry)
        listed = _Listed(_at_places(image, starts))
        _list(library, listed.entry)
        weakref.finalize(owner, _left.append, listed).atexit = False


def _list(library: ctypes.CDLL, entry: _Entry) -> None:
    descriptor, address = _Descriptor.in_dll(library, _DESCRIPTOR), ctypes.addressof(entry)
    if descriptor.first:
        entry.next = descriptor.first
        _Entry.from_address(descriptor.first).previous = address
    descriptor.first = address
    _tell(library, descriptor, entry, _REGISTERED)


def _unlist(library: ctypes.CDLL, entry: _Entry) -> None:
    descriptor = _Descriptor.in_dll(library, _DESCRIPTOR)
    if entry.next:
        _Entry.from_address(entry.next).previous = entry.previous
    if entry.previous:
        _Entry.from_address(entry.previous).next = entry.next
    else:
        descriptor.first = entry.next
    _tell(library, descriptor, entry, _UNREGISTERED)


def _tell(library: ctypes.CDLL, descriptor: _Descriptor, entry: _Entry, action: int) -> None:
    descriptor.relevant, descriptor.action = ctypes.addressof(entry), action
    library[_REGISTER]()


def _at_places(image: bytes, starts: Mapping[int, int]) -> bytes:
    """The object, with the addresses of its sections in their headers, as gdb takes them."""
    placed = bytearray(image)
    (headers,), (size_bytes,) = (
        struct.unpack_from("<Q", image, _HEADERS),
        struct.unpack_from("<H", image, _HEADER_BYTES),
    )
    for number, address in starts.items():
        struct.pack_into("<Q", placed, headers + number * size_bytes + _ADDRESS, address)
    return bytes(placed)


@functools.cache
def _library() -> ctypes.CDLL:
    """The library of both symbols, loaded; gdb opens it by its path, for which the file stays open.

    Raises:
        OSError: it cannot be made, or not be loaded.
    """
    file = os.memfd_create("tinyc-gdb", os.MFD_CLOEXEC)
    os.write(file, _library_image())
    return ctypes.CDLL(f"/proc/{os.getpid()}/fd/{file}")


def _library_image() -> bytes:
    """An ELF library of x86-64 with a function that returns at once, and a list of no objects.

    One page is read and executed: headers, symbols, the function. The one behind it is written: the list, and what
    the system's loader is told.
    """
    names = b"\0" + b"".join(each.encode() + b"\0" for each in (_REGISTER, _DESCRIPTOR))
    titles = b"\0.dynsym\0.dynstr\0.text\0.data\0.shstrtab\0"
    symbols = 64 + 4 * 56  # behind the header, and those of four segments
    texts = symbols + 3 * 24
    hashes = -(-(texts + len(names)) // 8) * 8
    code = hashes + 6 * 4
    data, dynamic = mmap.PAGESIZE, mmap.PAGESIZE + 24
    end = dynamic + 6 * 16

    def symbol(name: str, kind: int, place: int, value: int, size: int) -> bytes:
        return struct.pack("<IBBHQQ", names.index(name.encode()), 0x10 | kind, 0, place, value, size)  # STB_GLOBAL

    def segment(kind: int, flags: int, start: int, size: int, alignment: int) -> bytes:
        return struct.pack("<IIQQQQQQ", kind, flags, start, start, start, size, size, alignment)

    def section(title: str, kind: int, flags: int, start: int, size: int, more: Any = (0, 0, 0)) -> bytes:
        at, (link, first, entry_bytes) = titles.index(title.encode()), more
        return struct.pack("<IIQQQQIIQQ", at, kind, flags, start, start, size, link, first, 8, entry_bytes)

    header = b"\x7fELF\2\1\1" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, end + len(titles), 0, 64, 56, 4, 64, 6, 5)
    header += segment(1, 5, 0, code + 1, mmap.PAGESIZE) + segment(1, 6, data, end - data, mmap.PAGESIZE)  # PT_LOAD
    header += segment(2, 6, dynamic, end - dynamic, 8)  # PT_DYNAMIC
    header += segment(0x6474E551, 6, 0, 0, 16)  # PT_GNU_STACK: one that is not executed
    table = bytes(24) + symbol(_REGISTER, 2, 3, code, 1) + symbol(_DESCRIPTOR, 1, 4, data, 24)
    bucket = struct.pack("<6I", 1, 3, 1, 0, 2, 0)  # one, with the chain of the symbols 1 and 2
    page = (header + table + names).ljust(hashes, b"\0") + bucket + b"\xc3"  # ret
    told = ((4, hashes), (5, texts), (6, symbols), (10, len(names)), (11, 24), (0, 0))  # DT_HASH, STRTAB, SYMTAB, …
    page = page.ljust(data, b"\0") + struct.pack("<IIQQ", 1, 0, 0, 0)
    page += b"".join(struct.pack("<QQ", *each) for each in told) + titles
    page += bytes(64) + section(".dynsym", 11, 2, symbols, len(table), (2, 1, 24))
    page += section(".dynstr", 3, 2, texts, len(names)) + section(".text", 1, 6, code, 1)
    return page + section(".data", 1, 3, data, 24) + section(".shstrtab", 3, 0, end, len(titles))
