"""Reads declarations: registers, variables and parameters with their types, extents and alignments.

In: a cursor at a state space such as `.shared`. Out: `syntax.Registers` and `syntax.Variable`s.
Source: PTX ISA §5.1 (state spaces), §5.2 (types), §5.4 (variables), §7.1 (parameters).
"""

import math
from dataclasses import dataclass

from ptxsim.parsing import constants, initializers
from ptxsim.parsing.lexer import DIRECTIVE, NUMBER, WORD, Cursor
from ptxsim.parsing.syntax import Registers, Variable
from ptxsim.parsing.types import OPAQUE, TYPE_BITS, size_bytes

_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}

#: No address is longer than 64 bits; nothing that a kernel declares is nearly as large as this.
_LARGEST_BYTES = 1 << 48
_MOST_REGISTERS = 1 << 24
_MOST_DIMENSIONS = 64


@dataclass(frozen=True, slots=True)
class _Kind:
    """What stands before the names of a declaration."""

    type: str
    lanes: int
    alignment: int
    target: str | None

    @property
    def size(self) -> int:
        """The bytes of one element: a vector counts as one."""
        return size_bytes(self.type) * self.lanes


def registers(cursor: Cursor) -> list[Registers]:
    """Read `.reg .type a, %b<10>;`."""
    cursor.expect(".reg")
    position = cursor.position
    kind = _kind(cursor)
    if kind.lanes > 1 and kind.type == "pred":
        raise cursor.error("there are no vectors of predicates", position)
    declared = []
    while not declared or cursor.accept(","):
        line, _ = cursor.place()
        name = identifier(cursor, "the name of a register")
        count = None
        if cursor.accept("<"):
            count = _count(cursor)
            cursor.expect(">")
        declared.append(Registers(name, count, kind.type, kind.lanes, line))
    cursor.expect(";")
    return declared


def variables(cursor: Cursor, linkage: str) -> list[Variable]:
    """Read the variables of one declaration that starts at its state space, with their initialisers."""
    space = cursor.take(DIRECTIVE, "a state space")[1:]
    position = cursor.position
    kind = _kind(cursor)
    if kind.type == "pred":
        raise cursor.error("a predicate is a register; a variable has no type '.pred'", position)
    declared = []
    while not declared or cursor.accept(","):
        declared.append(_variable(cursor, space, kind, linkage))
    cursor.expect(";")
    return declared


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """Read `(.param .b32 a, .reg .f32 b, …)`; a parameter of a prototype may be named `_`."""
    cursor.expect("(")
    declared: list[Variable] = []
    while cursor.text != ")" and (not declared or cursor.accept(",")):
        position = cursor.position
        space = cursor.take(DIRECTIVE, "'.param' or '.reg'")[1:]
        if space not in ("param", "reg"):
            raise cursor.error(f"a parameter is in '.param' or '.reg', not in '.{space}'", position)
        kind = _kind(cursor)
        if kind.type == "pred" and space == "param":
            raise cursor.error("a parameter in '.param' has no type '.pred'", position)
        declared.append(_parameter(cursor, space, kind))
    cursor.expect(")")
    return tuple(declared)


def identifier(cursor: Cursor, what: str) -> str:
    """Read a name without suffixes."""
    position = cursor.position
    name = cursor.take(WORD, what)
    if "." in name:
        raise cursor.error(f"expected {what}, found '{name[:60]}'", position)
    return name


def _parameter(cursor: Cursor, space: str, kind: _Kind) -> Variable:
    line, _ = cursor.place()
    name = "_" if cursor.accept("_") else identifier(cursor, "the name of a parameter")
    if space == "reg":
        return Variable(name, space, kind.type, 0, (), 0, line, kind.lanes)
    shape = _shape(cursor)
    size = _size(cursor, kind, shape)
    return Variable(name, space, kind.type, kind.alignment, shape, size, line, kind.lanes, target=kind.target)


def _variable(cursor: Cursor, space: str, kind: _Kind, linkage: str) -> Variable:
    line, _ = cursor.place()
    name = identifier(cursor, "the name of a variable")
    shape = _shape(cursor)
    initial, relocations = None, ()
    position = cursor.position
    if cursor.accept("="):
        if space not in ("global", "const"):
            raise cursor.error(f"a variable in '.{space}' has no initial value", position)
        shape, initial, relocations = initializers.initializer(cursor, kind.type, kind.lanes, shape)
    elif shape[:1] == (0,) and not (linkage == "extern" or space == "param"):
        raise cursor.error(f"the array '{name}' has neither an extent nor an initial value, and is not '.extern'")
    size = _size(cursor, kind, shape)
    return Variable(
        name,
        space,
        kind.type,
        kind.alignment,
        shape,
        size,
        line,
        kind.lanes,
        initial,
        relocations,
        linkage,
        kind.target,
    )


def _kind(cursor: Cursor) -> _Kind:
    """Read `.align`, a vector length, the type, `.ptr` and attributes, in any order that is emitted."""
    type_name, lanes, alignment, target = "", 1, 0, None
    while cursor.kind == DIRECTIVE:
        text, position = cursor.text, cursor.position
        cursor.position += 1
        if text == ".align":
            alignment = _alignment(cursor)
        elif text in _VECTORS and not type_name:
            lanes = _VECTORS[text]
        elif text == ".ptr":
            target = _pointer(cursor)
        elif text == ".attribute":
            skip_attribute(cursor)
        elif text[1:] in OPAQUE:
            raise cursor.error(f"textures and surfaces ('{text}') are not simulated", position)
        elif text[1:] in TYPE_BITS and not type_name:
            type_name = text[1:]
        else:
            raise cursor.error(f"unexpected '{text}' in a declaration", position)
    if not type_name:
        raise cursor.error(f"expected a type, found {cursor.shown()}")
    natural = 1 if type_name == "pred" else size_bytes(type_name) * lanes
    return _Kind(type_name, lanes, alignment or natural, target)


def _alignment(cursor: Cursor) -> int:
    position = cursor.position
    text = cursor.take(NUMBER, "a number of bytes")
    if not text.isdigit() or len(text) > 10 or int(text).bit_count() != 1:
        raise cursor.error(f"an alignment is a power of two, not {text}", position)
    return int(text)


def _pointer(cursor: Cursor) -> str | None:
    """Read what a pointer parameter says of its target: the space, and an alignment that concerns no layout."""
    space = None
    if cursor.text in (".const", ".global", ".local", ".shared"):
        space = cursor.text[1:]
        cursor.position += 1
    if cursor.accept(".align"):
        _alignment(cursor)
    return space


def skip_attribute(cursor: Cursor) -> None:
    """Go past `(.managed)` or `(.unified(1, 2))`, which concern the host."""
    cursor.expect("(")
    while cursor.text != ")":
        if cursor.text not in (".managed", ".unified", "(", ",") and cursor.kind != NUMBER:
            raise cursor.error(f"unknown attribute {cursor.shown()}")
        if cursor.accept("("):
            while cursor.kind == NUMBER or cursor.text == ",":
                cursor.position += 1
            cursor.expect(")")
        else:
            cursor.position += 1
    cursor.expect(")")


def _count(cursor: Cursor) -> int:
    position = cursor.position
    text = cursor.take(NUMBER, "a number of registers")
    if not text.isdigit() or len(text) > 9 or int(text) > _MOST_REGISTERS:
        raise cursor.error(f"a number of registers is at most {_MOST_REGISTERS}, not {text[:20]}", position)
    return int(text)


def _shape(cursor: Cursor) -> tuple[int, ...]:
    """Read `[4][8]`; an open first extent `[]` is 0."""
    shape: list[int] = []
    while cursor.accept("["):
        if cursor.text == "]":
            if shape:
                raise cursor.error("only the first extent of an array may be left open")
            shape.append(0)
        else:
            position = cursor.position
            extent = constants.integer(cursor, "an extent")
            if not 0 <= extent <= _LARGEST_BYTES or len(shape) == _MOST_DIMENSIONS:
                raise cursor.error(f"an array with the extent {extent}", position)
            shape.append(extent)
        cursor.expect("]")
    return tuple(shape)


def _size(cursor: Cursor, kind: _Kind, shape: tuple[int, ...]) -> int:
    size = kind.size * math.prod(shape)
    if size > _LARGEST_BYTES:
        raise cursor.error(f"a variable of {size} bytes")
    return size
