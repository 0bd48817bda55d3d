"""What `printf` in a kernel prints, from its format and the buffer that `vprintf` takes.

In: a format, and a function that reads the buffer. Out: text, as C has it. In the buffer every argument stands at a
multiple of its size: 4 bytes for `int` and what is promoted to it, 8 for `long`, `double` and pointers.
Source: PTX Writer's Guide to Interoperability, "vprintf"; CUDA C++ Programming Guide, "Formatted Output".
"""

import re
import struct
from collections.abc import Callable

#: Flags, width, precision, length and conversion; `%%` has none.
_CONVERSION = re.compile(r"%(?:%|([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*)?)?(hh|h|ll|l|L|q|j|z|t)?([a-zA-Z]))")
_INTEGERS = "diuoxXc"
_FLOATS = "eEfFgGaA"
_LONG = frozenset({"l", "ll", "q", "j", "z", "t"})
_NARROW_BITS = {"hh": 8, "h": 16}
_MOST_WIDTH = 10_000

#: From an offset in the buffer and a size to the bytes there; and from an address to the text there.
ReadBuffer = Callable[[int, int], bytes]
ReadText = Callable[[int], str | None]


def argument_count(form: str) -> int:
    """How many conversions of a format take an argument: what `vprintf` returns."""
    return sum(match[5] is not None for match in _CONVERSION.finditer(form))


def printed_text(form: str, buffer: ReadBuffer, text: ReadText) -> str:
    """What a format prints."""
    arguments = _Arguments(buffer)
    return _CONVERSION.sub(lambda match: _converted(match, arguments, text), form)


class _Arguments:
    """The buffer, read from its start on."""

    def __init__(self, buffer: ReadBuffer) -> None:
        self._buffer = buffer
        self._offset = 0

    def take(self, size: int) -> bytes:
        """The bytes of the next argument."""
        start = -(-self._offset // size) * size
        self._offset = start + size
        return self._buffer(start, size)


def _converted(match: re.Match[str], arguments: _Arguments, text: ReadText) -> str:
    flags, width, precision, length, kind = match.groups()
    if kind is None:
        return "%"
    if kind not in _INTEGERS + _FLOATS + "sp":
        return match[0]
    columns, digits = _number(width, arguments), _number(precision, arguments)
    has_precision = "." in match[0] and (digits is None or digits >= 0)
    if columns is not None and columns < 0:
        flags, columns = f"{flags}-", -columns
    spec = f"%{flags}{'' if columns is None else min(columns, _MOST_WIDTH)}"
    exact = f"{spec}.{min(digits or 0, _MOST_WIDTH)}" if has_precision else spec
    if kind == "s":
        found = text(int.from_bytes(arguments.take(8), "little"))
        return f"{exact}s" % ("(null)" if found is None else found)
    if kind == "p":
        return f"{spec}s" % hex(int.from_bytes(arguments.take(8), "little"))
    if kind in _FLOATS:
        (value,) = struct.unpack("<d", arguments.take(8))
        return f"{spec}s" % _hexadecimal(value, kind) if kind in "aA" else f"{exact}{kind}" % value
    return _integer(exact, kind, length, arguments)


def _number(text: str | None, arguments: _Arguments) -> int | None:
    """A width or precision; `*` takes it from the arguments."""
    return int.from_bytes(arguments.take(4), "little", signed=True) if text == "*" else int(text) if text else None


def _integer(spec: str, kind: str, length: str | None, arguments: _Arguments) -> str:
    size = 8 if length in _LONG and kind != "c" else 4
    bits = _NARROW_BITS.get(length or "", 8 * size)
    value = int.from_bytes(arguments.take(size), "little") & (1 << bits) - 1
    if kind == "c":
        return f"{spec.partition('.')[0]}c" % chr(value & 0xFF)
    if kind in "di" and value >> bits - 1:
        value -= 1 << bits
    shown = f"{spec.replace('#', '') if not value else spec}{'d' if kind in 'iu' else kind}" % value
    return shown.replace("0o", "0") if kind == "o" else shown


def _hexadecimal(value: float, kind: str) -> str:
    """A double as C's `%a` has it: without zeros at the end."""
    shown = re.sub(r"\.?0*p", "p", value.hex())
    return shown.upper() if kind == "A" else shown
