"""Inline assembly: only what an attached table has, on values that are as wide as its registers."""

import pytest

from tinyc import text
from tinyc.dialects.nvvm import assembly
from tinyc.dialects.nvvm.assembly import attach_assembly
from tinyc.dialects.nvvm.verify import verify
from tinyc.text import capture_errors


@pytest.fixture(autouse=True)
def table(monkeypatch):
    monkeypatch.setattr(assembly, "_tables", {})
    entries = {("not.b32 $0, $1;", "=r,r"), ("f $0, $1, $2;", "=f,=h,l,0,~{memory}"), ("trap;", "")}
    attach_assembly("test", lambda *entry: entry in entries)


def found(line: str) -> list[str]:
    source = f"""
    gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {{
      llvm.func @k(%i: i32, %l: i64, %f: f32) attributes {{nvvm.kernel}} {{
        {line}
        llvm.return
      }}
    }}"""
    module = text.parse(source)
    with capture_errors(module.context) as errors:
        assert verify(module) == (not errors)
    return [str(each) for each in errors]


@pytest.mark.parametrize(
    "line",
    [
        '%r = llvm.inline_asm asm_dialect = att "not.b32 $0, $1;", "=r,r" %i : (i32) -> i32',
        '%r = llvm.inline_asm asm_dialect = att "f $0, $1, $2;", "=f,=h,l,0,~{memory}" %l, %f '
        ": (i64, f32) -> !llvm.struct<(f32, i16)>",
        'llvm.inline_asm has_side_effects asm_dialect = att "trap;", "" : () -> ()',
    ],
)
def test_an_entry_on_its_registers_passes(line):
    assert found(line) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('%r = llvm.inline_asm asm_dialect = att "not.b32 $0, $1;", "=r,l" %l : (i64) -> i32', "is no instruction"),
        ('%r = llvm.inline_asm asm_dialect = att "not.b32 $0, $1;", "=r,r" %l : (i64) -> i32', "is on i32, i64, which"),
        ('llvm.inline_asm asm_dialect = att "not.b32 $0, $1;", "=r,r" %i : (i32) -> ()', "is on i32, which"),
        (
            '%r = llvm.inline_asm asm_dialect = att "f $0, $1, $2;", "=f,=h,l,0,~{memory}" %l, %i '
            ": (i64, i32) -> !llvm.struct<(f32, i16)>",
            "which are not the types of its registers",
        ),
    ],
)
def test_what_would_end_the_process_is_refused(line, message):
    (error,) = found(line)
    assert message in error
