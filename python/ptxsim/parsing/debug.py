"""Reads what compilers say about sources: `.file`, `.loc` and the sections of DWARF data.

Files may be named after the code that refers to them, so they are collected before the module is parsed. Of the DWARF
sections only the strings of `.debug_str` are read, for the names of inlined functions. Source: PTX ISA §11.5.
"""

from ptxsim.parsing import constants
from ptxsim.parsing.lexer import DIRECTIVE, END, NUMBER, STRING, WORD, Cursor
from ptxsim.parsing.syntax import Source


class Sources:
    """The source files and positions of one module."""

    def __init__(self, cursor: Cursor) -> None:
        self._files = _files(cursor)
        self._names = _strings(cursor)
        self._seen: dict[tuple[str, int, int], Source] = {}

    def location(self, cursor: Cursor) -> Source:
        """Read `.loc file line column, function_name label + 4, inlined_at file line column`."""
        cursor.expect(".loc")
        file, line, column = self._position(cursor)
        function, caller = None, None
        while cursor.accept(","):
            attribute = cursor.take(WORD, "'function_name' or 'inlined_at'")
            if attribute == "function_name":
                label = cursor.take(WORD, "a label")
                offset = constants.integer(cursor, "an offset") if cursor.text == "+" else 0
                function = self._names.get(label, {}).get(offset, label)
            elif attribute == "inlined_at":
                place = self._position(cursor)
                caller = self._seen.get(place) or Source(*place)
            else:
                raise cursor.error(f"unknown attribute '{attribute[:60]}' of '.loc'", cursor.position - 1)
        source = Source(file, line, column, function, caller)
        self._seen[file, line, column] = source
        return source

    def _position(self, cursor: Cursor) -> tuple[str, int, int]:
        numbers = [_number(cursor) for _ in range(3)]
        return self._files.get(numbers[0], f"file {numbers[0]}"), numbers[1], numbers[2]


def skip_file(cursor: Cursor) -> None:
    """Go past `.file 1 "name", timestamp, size`."""
    cursor.expect(".file")
    _number(cursor)
    cursor.take(STRING, "the name of a file")
    while cursor.accept(","):
        _number(cursor)


def skip_section(cursor: Cursor) -> None:
    """Go past `.section .name { … }`."""
    cursor.expect(".section")
    cursor.take(DIRECTIVE, "the name of a section")
    cursor.expect("{")
    while cursor.text != "}" or cursor.kind == STRING:
        if cursor.kind == END or cursor.text == "{":
            raise cursor.error(f"expected the '}}' of a section, found {cursor.shown()}")
        cursor.position += 1
    cursor.expect("}")


def _number(cursor: Cursor) -> int:
    position = cursor.position
    text = cursor.take(NUMBER, "a number")
    if not text.isdigit() or len(text) > 20:
        raise cursor.error(f"expected a number, found '{text[:60]}'", position)
    return int(text)


def _files(cursor: Cursor) -> dict[int, str]:
    files: dict[int, str] = {}
    for position in _positions(cursor, ".file"):
        number, name = cursor.texts[position + 1 : position + 3] if position + 2 < len(cursor.texts) else ("", "")
        if number.isdigit() and len(number) <= 20:
            files[int(number)] = name
    return files


def _strings(cursor: Cursor) -> dict[str, dict[int, str]]:
    """Return, by label, the strings of `.debug_str` by their offsets from the label."""
    strings: dict[str, dict[int, str]] = {}
    for position in _positions(cursor, ".debug_str"):
        if cursor.texts[position - 1] != ".section":
            continue
        label, contents = "", bytearray()
        for at in range(position + 2, len(cursor.texts)):
            text, kind = cursor.texts[at], cursor.kinds[at]
            if kind == WORD or text == "}":
                strings[label] = _terminated(contents)
                label, contents = text, bytearray()
            if text == "}" and kind != STRING:
                break
            if kind == NUMBER and text.isdigit() and len(text) <= 3:
                contents.append(int(text) & 0xFF)
    return strings


def _terminated(contents: bytearray) -> dict[int, str]:
    """The strings that zeros end, by where they start."""
    strings, start = {}, 0
    for part in contents.split(b"\0"):
        strings[start] = part.decode("utf-8", "replace")
        start += len(part) + 1
    return strings


def _positions(cursor: Cursor, directive: str) -> list[int]:
    return [at for at, text in enumerate(cursor.texts) if text == directive and cursor.kinds[at] == DIRECTIVE]
