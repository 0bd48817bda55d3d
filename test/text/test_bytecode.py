"""Bytecode: what is written is read, and what is damaged is refused, whatever MLIR would do with it."""

import contextlib
import random

import pytest

from tinyc import text
from tinyc.diagnostics import TinycError
from tinyc.text import bytecode

SOURCE = "func.func @f(%x: i32) -> (i32, i32) {\n  return %x, %x : i32, i32\n}"


def written():
    return text.bytecode_of(text.parse(SOURCE, "a.mlir"))


def test_bytecode_is_the_module_with_its_locations_and_names():
    module = text.parse(SOURCE, "a.mlir")
    again = text.parse(text.bytecode_of(module), "a.mlirbc")
    assert text.located(again) == text.located(module)
    assert "%x" in text.print_ir(again)


def test_what_is_damaged_is_refused_or_another_module(monkeypatch):
    # MLIR itself aborts on some of these, and never ends on others.
    monkeypatch.setattr(bytecode, "_SECONDS", 3)
    generator, raw = random.Random(0), written()
    refused = 0
    for _ in range(10):
        damaged = bytearray(raw)
        damaged[generator.randrange(4, len(raw))] ^= 1 << generator.randrange(8)
        with contextlib.suppress(TinycError):
            text.parse(bytes(damaged), "a.mlirbc")
            continue
        refused += 1
    assert refused > 2


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"ML\xefR", "attempting to parse a byte at the end of the bytecode"),
        (b"ML\xefR\xc9MLIR99\0", "newer than the current version"),
    ],
)
def test_the_refusal_says_what_is_wrong_and_what_to_do(raw, message):
    with pytest.raises(TinycError, match=r"a\.mlirbc: error: the bytecode cannot be read: ") as caught:
        text.parse(raw, "a.mlirbc")
    assert message in caught.value.message
    assert caught.value.message.endswith("; write it again, with tinyc-opt --emit-bytecode")


@pytest.mark.parametrize(
    ("reader", "why"),
    [
        ("import os; os.abort()", "MLIR does not survive reading it"),
        ("while True: pass", "MLIR was still reading it after 1 s"),
    ],
)
def test_a_reader_that_dies_or_never_ends_is_a_refusal(monkeypatch, reader, why):
    monkeypatch.setattr(bytecode, "_READER", reader)
    monkeypatch.setattr(bytecode, "_SECONDS", 1)
    with pytest.raises(TinycError, match=why):
        text.parse(written())


@pytest.mark.parametrize("name", [b"builtin", b"abcdef"])
def test_strings_that_are_no_text_are_refused(name):
    named = text.parse('func.func private @f() attributes {a.b = "abcdef"}')
    raw = text.bytecode_of(named)
    assert name in raw
    with pytest.raises(TinycError, match="not UTF-8"):
        text.parse(raw.replace(name, name[:-1] + b"\xff"))


def test_what_does_not_verify_is_refused_at_its_own_place():
    module = text.parse('"tiny.assume"() {lhs = "M", predicate = "le", rhs = "64"} : () -> ()', "a.mlir")
    del module.body.operations[0].attributes["lhs"]
    with pytest.raises(TinycError, match=r"^a\.mlirbc: error: the bytecode cannot be read: a\.mlir:1:1: 'tiny.assume'"):
        text.parse(text.bytecode_of(module), "a.mlirbc")


def test_what_text_may_not_be_bytecode_may_not_be():
    module = text.parse("module {" * 200 + "}" * 200)
    outer = text.parse("module {" * 200 + "}" * 200)
    innermost = outer.body
    while len(innermost.operations):
        innermost = innermost.operations[0].regions[0].blocks[0]
    innermost.append(module.body.operations[0])
    with pytest.raises(TinycError, match=r"^a\.mlirbc: error: brackets are nested more than 256 deep"):
        text.parse(text.bytecode_of(outer), "a.mlirbc")
