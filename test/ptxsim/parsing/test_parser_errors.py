"""What the parser of the PTX simulator refuses: where, in which words, and how quickly."""

import random
import time
from pathlib import Path

import pytest

from ptxsim.errors import PtxError
from ptxsim.parsing.parser import parse

HEADER = ".version 8.5\n.target sm_90a, debug\n.address_size 64\n"
DATA = Path(__file__).parents[1] / "data"


def refused(text: str) -> PtxError:
    with pytest.raises(PtxError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "a module starts with '.version'", 1, 1),
        (".version 8.5\n.target sm_90\n  .foo 3", "expected a directive of a module, found '.foo'", 3, 3),
        (".version 8.5\n.target sm_90 /* x", "the comment that starts here has no end", 2, 15),
        (HEADER + '.file 1 "abc', "the string that starts here has no end", 4, 9),
        (HEADER + ".entry k() { ret }", "expected an operand, found '}'", 4, 18),
        (HEADER + ".entry k() { op 1 2; }", "expected ',' or ';' in 'op', found '2'", 4, 19),
        (HEADER + ".entry k() { ret;", "the text ends inside the '{' of line 4", 4, 18),
        (HEADER + ".entry k() { mov.u32 0x1g; }", "malformed number '0x1g'", 4, 22),
        (HEADER + ".entry k() { mov.u32 0f12; }", "malformed number '0f12'", 4, 22),
        (HEADER + ".entry k() { mov.u32 089; }", "malformed number '089'", 4, 22),
        (HEADER + ".entry k() { mov.u32 1\0; }", "unexpected character '\\x00'", 4, 23),
        (HEADER + ".entry k() { @x ret; }", "'x' is no register", 4, 15),
        (HEADER + ".entry k() { mov.u32 %r1, 0; }", "register '%r1' is not declared", 4, 22),
        (HEADER + ".entry k() { .reg .b32 %r<10>; op %r10; }", "register '%r10' is not declared", 4, 35),
        (HEADER + ".entry k() { .reg .b32 %r<10>; op %r01; }", "register '%r01' is not declared", 4, 35),
        (HEADER + ".entry k() { .reg .b32 a, a; }", "'a' is declared twice", 4, 28),
        (HEADER + ".entry k() { .maxnreg 3; }", "unknown directive '.maxnreg' in the body", 4, 14),
        (HEADER + ".entry k() .fast { }", "unknown directive '.fast' of a function", 4, 12),
        (HEADER + ".entry k() { op 1/0; }", "division by 0", 4, 18),
        (HEADER + ".entry k() { op 1 << 64; }", "shift by 64", 4, 19),
        (HEADER + ".entry k() { op 0x10000000000000000; }", "does not fit into 64 bits", 4, 17),
        (HEADER + ".entry k() { op 0f00000000 + 1; }", "takes no part in arithmetic", 4, 28),
        (HEADER + ".entry k() { op [%tid.x]; }", "a special register", 4, 18),
        (HEADER + ".entry k() { op {{1}}; }", "a vector has registers and constants only", 4, 18),
        (HEADER + ".entry k() { ld.b32 %tid.q; }", "'.q' is no element of a vector", 4, 21),
        (HEADER + ".global .texref t;", "textures and surfaces", 4, 9),
        (HEADER + ".global .pred t;", "a variable has no type '.pred'", 4, 9),
        (HEADER + ".global .b32 t[];", "neither an extent nor an initial value", 4, 17),
        (HEADER + ".shared .b32 t = 3;", "a variable in '.shared' has no initial value", 4, 16),
        (HEADER + ".global .b32 t[1] = {1, 2};", "more initial values than the 1", 4, 25),
        (HEADER + ".global .b32 t = 1.0;", "an initial value of '.b32' is an integer", 4, 18),
        (HEADER + ".global .align 3 .b32 t;", "an alignment is a power of two", 4, 16),
        (HEADER + ".global .b32 t; .global .b32 t;", "'t' is declared twice", 4, 31),
        (HEADER + ".entry k() { ret; } .entry k() { ret; }", "'k' is declared twice", 4, 28),
    ],
)
def test_an_error_names_its_place(text: str, message: str, line: int, column: int):
    error = refused(text)
    assert message in error.message
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        ".entry k() " + "{" * 100_000,
        ".entry k() { op " + "(" * 100_000,
        ".entry k() { op " + "-" * 100_000 + "1; }",
        ".entry k() { op " + "1||1&&1|1^1&1==1<1<<1+1*(1?" * 10_000,
        ".entry k() { op 1" + "?1:1" * 100_000 + "; }",
        ".entry k() { op " + "1" * 100_000 + "; }",
        ".entry k() { op " + "a" * 100_000 + "; }",
        ".entry k() { .reg .b32 %r<" + "9" * 300 + ">; }",
        ".global .b32 x[4000000000][4000000000];",
        ".global .b32 x" + "[1]" * 10_000 + " = " + "{" * 10_000,
        ".global .b8 x[281474976710656] = {1};",
        " " * 100_000 + "\0",
        "/*" * 100_000,
        ".entry k() .maxntid 99999999999999999999999 { }",
        ".alias a, b;",
    ],
)
def test_hostile_text_is_refused_quickly(text: str):
    start = time.perf_counter()
    refused(HEADER + text)
    assert time.perf_counter() - start < 2


def error_of(text: str) -> PtxError | None:
    try:
        parse(text)
    except PtxError as error:
        return error
    return None


def test_truncated_and_garbled_text_is_parsed_or_refused():
    source = (DATA / "cuda" / "control.ptx").read_text()
    random_numbers = random.Random(4)
    for _ in range(60):
        text = source[: random_numbers.randrange(len(source))]
        at = random_numbers.randrange(max(len(text), 1))
        garbled = text[:at] + random_numbers.choice("{}[]();,.%@!|<>_\"'\0é0a \n") + text[at + 1 :]
        for each in (text, garbled):
            error = error_of(each)
            assert error is None or (1 <= error.line <= each.count("\n") + 1 and error.column >= 1)
