"""Reads constant expressions: integers of 64 bits as C has them, and doubles.

In: a cursor at an expression such as `(4 + 2) * WARP_SZ` or `-0f3F800000`. Out: an `Immediate`.
Source: PTX ISA §4.5 (constants, constant expressions, their evaluation).
"""

import math
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass

from ptxsim.parsing.lexer import MARK, NUMBER, Cursor
from ptxsim.parsing.syntax import Immediate

#: The threads of a warp, which PTX calls WARP_SZ.
WARP_THREADS = 32

_MASK = (1 << 64) - 1
_DEEPEST = 32

#: Binary operators by how tightly they bind, loosest first.
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_STRENGTH = {mark: strength for strength, marks in enumerate(_LEVELS) for mark in marks}

_ON_BOTH: dict[str, Callable] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_COMPARISONS: dict[str, Callable] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ON_BITS: dict[str, Callable] = {"|": operator.or_, "^": operator.xor, "&": operator.and_}


@dataclass(frozen=True, slots=True)
class _Constant:
    """A value with its type: "s64", "u64", "f64", or "f32" (of one 0f… literal, as bits in `value`)."""

    value: int | float
    type: str


def immediate(cursor: Cursor) -> Immediate:
    """Read the constant expression at the cursor."""
    constant = _expression(cursor, 0)
    value = constant.value
    if constant.type == "f32":
        bits = int(value)
        return Immediate(struct.unpack("<f", struct.pack("<I", bits))[0], "f32", bits)
    if constant.type == "f64":
        return Immediate(value, "f64", struct.unpack("<Q", struct.pack("<d", value))[0])
    return Immediate(int(value), "int", int(value) & _MASK)


def integer(cursor: Cursor, what: str) -> int:
    """Read a constant expression that must be an integer."""
    position = cursor.position
    found = immediate(cursor)
    if found.kind != "int":
        raise cursor.error(f"{what} is an integer", position)
    return int(found.value)


def take_mask(cursor: Cursor) -> int:
    """Read the one number before `(name)` in an initial value."""
    position = cursor.position
    cursor.position += 1
    found = _literal(cursor, cursor.texts[position], position)
    if isinstance(found.value, float) or found.type == "f32":
        raise cursor.error("a mask is an integer", position)
    return int(found.value)


def _literal(cursor: Cursor, text: str, position: int) -> _Constant:
    """The value of a number token."""
    if text[:2] in ("0f", "0F"):
        return _Constant(int(text[2:], 16), "f32")
    if text[:2] in ("0d", "0D"):
        return _Constant(struct.unpack(">d", bytes.fromhex(text[2:]))[0], "f64")
    is_hex = text[:2] in ("0x", "0X")
    if not is_hex and ("." in text or "e" in text or "E" in text):
        return _Constant(float(text), "f64")
    digits = text.removesuffix("U")
    base = 16 if is_hex else 2 if digits[:2] in ("0b", "0B") else 8 if digits[0] == "0" else 10
    try:
        value = int(digits, base)
    except ValueError:
        raise cursor.error(f"malformed number '{text}'", position) from None
    if value > _MASK:
        raise cursor.error(f"{text} does not fit into 64 bits", position)
    return _Constant(value, "u64" if text[-1] == "U" or value >> 63 else "s64")


def _expression(cursor: Cursor, depth: int) -> _Constant:
    if depth > _DEEPEST:
        raise cursor.error(f"a constant expression nests at most {_DEEPEST} deep")
    chosen = _binary(cursor, 0, depth)
    if not cursor.accept("?"):
        return chosen
    yes = _expression(cursor, depth + 1)
    cursor.expect(":")
    no = _expression(cursor, depth + 1)
    if "f32" in (yes.type, no.type) and yes.type != no.type:
        raise cursor.error("a constant of single precision takes no part in arithmetic")
    return yes if chosen.value else no


def _binary(cursor: Cursor, strength: int, depth: int) -> _Constant:
    """Read operands and operators that bind at least as tightly as `strength`."""
    left = _unary(cursor, depth)
    while (found := _STRENGTH.get(cursor.text, -1)) >= strength and cursor.kind == MARK:
        position = cursor.position
        mark = cursor.text
        cursor.position += 1
        left = _apply(cursor, position, mark, left, _binary(cursor, found + 1, depth))
    return left


def _unary(cursor: Cursor, depth: int) -> _Constant:
    """Read signs, `~`, `!` and casts, then a number or a parenthesis."""
    marks: list[tuple[str, int]] = []
    while True:
        position = cursor.position
        if cursor.text in ("+", "-", "~", "!") and cursor.kind == MARK:
            marks.append((cursor.text, position))
        elif cursor.text == "(" and cursor.texts[position + 1] in (".s64", ".u64"):
            marks.append((cursor.texts[position + 1], position))
            cursor.position += 1
            if cursor.texts[position + 2] != ")":
                raise cursor.error("expected ')'", position + 2)
            cursor.position += 1
        else:
            break
        cursor.position += 1
        if len(marks) > _DEEPEST:
            raise cursor.error(f"a constant expression nests at most {_DEEPEST} deep")
    value = _primary(cursor, depth)
    for mark, where in reversed(marks):
        value = _apply_unary(cursor, where, mark, value)
    return value


def _primary(cursor: Cursor, depth: int) -> _Constant:
    position = cursor.position
    text = cursor.texts[position]
    if cursor.kinds[position] == NUMBER:
        cursor.position = position + 1
        return _literal(cursor, text, position)
    if text == "WARP_SZ":
        cursor.position = position + 1
        return _Constant(WARP_THREADS, "s64")
    if cursor.accept("("):
        value = _expression(cursor, depth + 1)
        cursor.expect(")")
        return value
    raise cursor.error(f"expected a constant, found {cursor.shown()}")


def _apply_unary(cursor: Cursor, position: int, mark: str, operand: _Constant) -> _Constant:
    value, of = operand.value, operand.type
    if mark in (".s64", ".u64"):
        if of == "f32" or not math.isfinite(value):
            raise cursor.error(f"a cast to {mark} takes a finite number", position)
        return _wrapped(int(value), mark[1:])
    if mark == "+":
        return operand
    if mark == "-":
        if of == "f32":
            return _Constant(int(value) ^ (1 << 31), "f32")
        return _Constant(-value, "f64") if of == "f64" else _wrapped(-int(value), of)
    if mark == "!" and of != "f32":
        return _Constant(int(not value), "s64")
    if of not in ("s64", "u64"):
        raise cursor.error(f"'{mark}' takes an integer", position)
    return _wrapped(~int(value), of)


def _apply(cursor: Cursor, position: int, mark: str, left: _Constant, right: _Constant) -> _Constant:
    if "f32" in (left.type, right.type):
        raise cursor.error("a constant of single precision takes no part in arithmetic", position)
    a, b = left.value, right.value
    if mark in ("&&", "||"):
        return _Constant(int(bool(a and b) if mark == "&&" else bool(a or b)), "s64")
    if "f64" in (left.type, right.type):
        return _apply_to_doubles(cursor, position, mark, float(a), float(b))
    if mark in ("<<", ">>"):
        if not 0 <= b < 64:
            raise cursor.error(f"shift by {b}; a constant has 64 bits", position)
        return _wrapped(int(a) << int(b) if mark == "<<" else int(a) >> int(b), left.type)
    of = "u64" if "u64" in (left.type, right.type) else "s64"
    a, b = int(_wrapped(int(a), of).value), int(_wrapped(int(b), of).value)
    if mark in _COMPARISONS:
        return _Constant(int(_COMPARISONS[mark](a, b)), "s64")
    if mark in ("/", "%"):
        if b == 0:
            raise cursor.error("division by 0", position)
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return _wrapped(quotient if mark == "/" else a - b * quotient, of)
    return _wrapped((_ON_BOTH | _ON_BITS)[mark](a, b), of)


def _apply_to_doubles(cursor: Cursor, position: int, mark: str, a: float, b: float) -> _Constant:
    if mark in _COMPARISONS:
        return _Constant(int(_COMPARISONS[mark](a, b)), "s64")
    if mark in _ON_BOTH:
        return _Constant(_ON_BOTH[mark](a, b), "f64")
    if mark == "/" and b != 0:
        return _Constant(a / b, "f64")
    raise cursor.error("division by 0" if mark == "/" else f"'{mark}' takes integers", position)


def _wrapped(value: int, of: str) -> _Constant:
    """The value as the 64-bit integer type has it."""
    value &= _MASK
    return _Constant(value - (1 << 64) if of == "s64" and value >> 63 else value, of)
