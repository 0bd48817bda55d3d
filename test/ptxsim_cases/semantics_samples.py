"""Runs operations of `simulator.semantics` on boundary and random bits, beside the same function of Python's integers.

An expected function takes a number for each operand (signed for `s` types) and gives a number for each result, of which
the low bits count; Python's integers have no width, so it is written as the ISA states it.
"""

import random

import numpy as np

from ptxsim.semantics import operation

ROWS = 2000


def width(type_name):
    if type_name in ("pred", "cc"):
        return 1
    halves = 2 if type_name.endswith("x2") else 1
    return halves * int(type_name.removesuffix("x2").lstrip("abfsu"))


def number(bits, type_name):
    """The number that bits stand for."""
    n = width(type_name)
    return bits - (1 << n) if type_name[0] == "s" and not type_name.endswith("x2") and bits >> (n - 1) else bits


def samples(draw, type_name):
    """`ROWS` bit patterns: boundaries, numbers that can be shift amounts, and any."""
    n = width(type_name)
    top = 1 << (n - 1)
    boundaries = [x % (1 << n) for x in (0, 1, 2, -1, -2, top, top - 1, top + 1, 3, 0x7FFF8000, 31, 32, 33, 255, 256)]
    kinds = (lambda: draw.choice(boundaries), lambda: draw.randrange(70) % (1 << n), lambda: draw.getrandbits(n))
    return [draw.choice(kinds)() for _ in range(ROWS)]


def array(bits, type_name):
    n = width(type_name)
    return np.array(bits, bool if n == 1 else np.dtype(f"u{n // 8}"))


def split(text):
    opcode, *modifiers = text.split(".")
    return opcode, tuple(modifiers)


def run(text, *numbers):
    """The results of one instruction for one number an operand, as bits."""
    op = operation(*split(text))
    operands = [array([x % (1 << width(kind))], kind) for x, kind in zip(numbers, op.operands, strict=True)]
    results = tuple(int(np.ravel(result)[0]) for result in op.function(*operands))
    return results[0] if len(results) == 1 else results


def check(text, expected, constants=None):
    """Compare all rows; `constants` gives operands, by index, that are the same in all of them."""
    op = operation(*split(text))
    draw = random.Random(text)
    columns = [samples(draw, kind) for kind in op.operands]
    for index, value in (constants or {}).items():
        columns[index] = [value] * ROWS
    results = op.function(*(array(bits, kind) for bits, kind in zip(columns, op.operands, strict=True)))
    assert len(results) == len(op.results)
    results = [np.broadcast_to(result, (ROWS,)) for result in results]
    for kind, result in zip(op.results, results, strict=True):
        assert result.dtype == array([], kind).dtype, text
    for row, operands in enumerate(zip(*columns, strict=True)):
        numbers = [number(bits, kind) for bits, kind in zip(operands, op.operands, strict=True)]
        wanted = expected(*numbers)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        got = tuple(int(result[row]) for result in results)
        low = tuple(int(x) % (1 << width(kind)) for x, kind in zip(wanted, op.results, strict=True))
        assert got == low, f"{text} of {operands}"
