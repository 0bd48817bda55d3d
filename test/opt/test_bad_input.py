"""No input of `tinyc-opt` ends in a crash, a hang or a traceback: a message, and exit status 1."""

import io
import os
import pty
import shlex
import subprocess
import sys

import pytest

from tinyc.diagnostics import TinycError
from tinyc.opt import main as opt


def run(monkeypatch, capsys, source, *flags):
    """Return the exit status and stderr of `tinyc-opt` with `source` (bytes) on stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source)))
    status = opt.main([*flags])
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"\xff\xfe\x00\x01", "is not UTF-8 text (byte 0xff at offset 0)"),
        (b"module {\n}\n\0", "-:3:1: error: the text holds a NUL byte"),
        (b"(" * 1_000_000, "brackets are nested more than 256 deep"),
        (b'"x.y"() ({' * 10_000, "brackets are nested more than 256 deep"),
        (b"func.func @f(%x: " + b"tuple<" * 10_000, "brackets are nested more than 256 deep"),
        (b"#m = affine_map<(d0) -> (" + b"- " * 100_000 + b"d0)>", "more than 256 minus signs stand in a row"),
        (b"#a = " + b"9" * 100_000 + b" : i64", "a number has more than 1000 digits"),
        (b"module {", "-:1:7: error: "),
        (b'"unterminated', "error: "),
        (b'tensor<?x?xf32, #tiny.dims<["M"]>>', "error: "),
        (b'%0:9999999999999999999999 = "tiny.rand"() : () -> i32', "error: "),
        (b'"tiny.neg"() : () -> ()', "error: "),
        (
            b"// tiny.neg\nmodule {\n  tgpu.zero\n}",
            "-:3:3: error: 'tgpu.zero' has no syntax of its own; write it in quotes",
        ),
        (b'"tiny.permute"() {perm = 1 : i64} : () -> tensor<4xf32>', "error: "),
        (
            b'"func.func"() <{function_type = (i32) -> i32, res_attrs = [], sym_name = "f"}> ({\n^bb0(%x: i32):\n'
            b'"func.return"(%x) : (i32) -> ()\n}) : () -> ()',
            "-:1:47: error: 'res_attrs' has no entries",
        ),
        (
            b'llvm.mlir.global internal @a() {"addr_space" = // 3\n #gpu<dim x>} : i32\n'
            b"llvm.func @f() {\n%0 = llvm.mlir.addressof @a : !llvm.ptr\nllvm.return\n}",
            "-:1:34: error: 'addr_space' is no number",
        ),
    ],
)
def test_bad_text_is_an_error(monkeypatch, capsys, source, message):
    status, stderr = run(monkeypatch, capsys, source)
    assert status == 1
    assert message in stderr
    assert "Traceback" not in stderr
    assert "InternalError" not in stderr


@pytest.mark.parametrize(
    "attribute", ["loc(unknown)", "array<ui32: 0>", "[{a = loc(unknown)}]", '"\\FF"', '{"\\FF" = 1}', '[@"\\FF"::@a]']
)
@pytest.mark.parametrize(
    "source", ["module attributes {{x.y = {}}} {{}}", '%0 = "tiny.const"() {{value = {}}} : () -> tensor<4xf32>']
)
def test_attributes_that_the_bindings_cannot_read_are_refused(monkeypatch, capsys, source, attribute):
    status, stderr = run(monkeypatch, capsys, source.format(attribute).encode())
    assert status == 1
    assert "of a kind that no op takes here" in stderr


@pytest.mark.parametrize(
    "source",
    [
        'module attributes {x.y = "addr_space = x, res_attrs = []"} {} // addr_space = x',
        "llvm.mlir.global internal @a() {addr_space // of shared memory\n = // 3\n 3 : i32} : i32",
    ],
)
def test_what_only_looks_like_a_fragile_attribute_is_read(monkeypatch, capsys, source):
    assert run(monkeypatch, capsys, source.encode()) == (0, "")


def test_aliases_that_double_each_other_are_refused(monkeypatch, capsys):
    aliases = ["#a0 = [1, 2]", *(f"#a{i} = [#a{i - 1},\n #a{i - 1}]" for i in range(1, 60))]
    source = "\n".join([*aliases, "module attributes {x.y = #a59} {}"]).encode()
    status, stderr = run(monkeypatch, capsys, source)
    assert status == 1
    assert "alias #a23 stands for more than 10000000 attributes" in stderr


def test_brackets_in_strings_comments_and_arrows_do_not_nest(monkeypatch, capsys):
    deep = "(" * 1000
    source = f'// {deep}\nfunc.func private @f(i32) -> i32 attributes {{a.b = "{deep}\\"{deep}"}}\n' * 1
    declared = "".join(f"func.func private @g{i}(i32) -> i32\n" for i in range(1000))
    status, stderr = run(monkeypatch, capsys, (source + declared).encode())
    assert (status, stderr) == (0, "")


def test_nesting_within_the_limit_is_read(monkeypatch, capsys):
    source = b"module {" * 100 + b"}" * 100
    assert run(monkeypatch, capsys, source) == (0, "")


@pytest.mark.parametrize("name", ["no/such/file.mlir", ".", "nul\0byte"])
def test_an_unreadable_file_is_an_error(capsys, name):
    assert opt.main([name]) == 1
    assert "TC308 UnreadableFile" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "written"), [("gemm.json", "{}"), ("a program.json", "// of two\n[]"), ("gemm.mlir", '{"uops": []}')]
)
def test_json_is_an_error_that_says_how_to_make_ir_of_it(capsys, tmp_path, name, written):
    path = tmp_path / name
    path.write_text(written)
    assert opt.main([str(path)]) == 1
    shown = shlex.quote(str(path)) if name.endswith(".json") else "program.json"
    hint = f"note: the input is JSON; 'tinyc compile {shown} --dump=tiny' makes IR of a program, in tinyc-dump/\n"
    assert capsys.readouterr().err.endswith(hint)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("kernels.ptx", "//\n.version 7.0\n.target sm_80\n"),
        ("of two.ll", "define void @f() {\n  ret void\n}\n"),
        ("unnamed", "; ModuleID = 'x'\n"),
        ("with_host.ptx", ".version 7.0\n//| module {\n//| }\n"),
    ],
)
def test_code_is_an_error_that_says_what_takes_it(capsys, tmp_path, name, written):
    path = tmp_path / name
    path.write_text(written)
    assert opt.main([str(path)]) == 1
    hint = (
        f"note: the input is machine code as text, and tinyc-opt reads MLIR; 'tinyc run {shlex.quote(str(path))}' "
        "takes PTX and LLVM IR as tinyc compile --dump writes them, 'tinyc simulate' any PTX\n"
    )
    assert capsys.readouterr().err.endswith(hint)


def test_malformed_ir_is_not_taken_for_code(capsys, tmp_path):
    path = tmp_path / "wrong.mlir"
    path.write_text("func.func @define( {\n  // .version 7\n")
    assert opt.main([str(path)]) == 1
    assert "note: " not in capsys.readouterr().err


def test_resources_are_no_json(monkeypatch, capsys):
    assert run(monkeypatch, capsys, b'{-# dialect_resources: {builtin: {a: "0x08000000"}} #-}') == (0, "")
    status, stderr = run(monkeypatch, capsys, b'{-# dialect_resources: {builtin: {a: "0x08000000" #-}')
    assert status == 1
    assert "JSON" not in stderr


def test_an_unwritable_output_is_an_error(monkeypatch, capsys, tmp_path):
    status, stderr = run(monkeypatch, capsys, b"module {}", "-o", str(tmp_path))
    assert status == 1
    assert f"cannot write '{tmp_path}'" in stderr


@pytest.mark.parametrize("flag", ["-o", "--remarks-json"])
def test_a_folder_that_is_missing_is_not_made(monkeypatch, capsys, tmp_path, flag):
    status, stderr = run(monkeypatch, capsys, b"module {}", flag, str(tmp_path / "missing" / "file"))
    assert status == 1
    assert "No such file or directory [TC308 UnreadableFile]" in stderr
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("command", ["--show-dialects >/dev/full", "- </dev/null >/dev/full", "- </dev/null >&-"])
def test_an_output_that_cannot_be_written_is_one_line(command):
    program = f"{sys.executable} -m tinyc.opt.main {command}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "[TC308 UnreadableFile]" in done.stderr


def test_a_closed_input_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert opt.main([]) == 1
    assert "cannot read '-': the standard input is closed [TC308" in capsys.readouterr().err


def test_control_characters_in_messages_are_escaped(monkeypatch, capsys):
    def refuse(*_arguments):
        raise TinycError("InvalidIr", "bad \x1b[31m")

    monkeypatch.setattr(opt.text, "parse", refuse)
    _, stderr = run(monkeypatch, capsys, b"module {}")
    assert "bad \\x1b[31m" in stderr


def test_a_defect_is_a_sentence_and_a_file(monkeypatch, capsys, tmp_path):
    def fail(*_arguments):
        raise LookupError("nobody expected this")

    monkeypatch.setattr(opt.text, "parse", fail)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    status, stderr = run(monkeypatch, capsys, b"module {}")
    assert status == 1
    (report,) = tmp_path.iterdir()
    assert "LookupError" in report.read_text()
    assert stderr == (
        "error: tinyc failed: LookupError: nobody expected this; what it was doing stands in "
        f"{report} [TC901 InternalError]\n"
    )


def test_a_reader_that_goes_away_is_no_traceback():
    program = "import sys; from tinyc.opt import main as opt; sys.exit(opt.main(['--help']))"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        stderr = process.stderr.read()
    assert process.returncode == 1
    assert stderr == b""


def test_the_context_is_as_before(monkeypatch, capsys):
    assert run(monkeypatch, capsys, b'"x.y"() : () -> ()', "--allow-unregistered-dialect") == (0, "")
    status, stderr = run(monkeypatch, capsys, b'"x.y"() : () -> ()')
    assert status == 1
    assert "unregistered dialect" in stderr


def test_bytecode_does_not_go_to_a_terminal():
    program = [sys.executable, "-m", "tinyc.opt.main", "--emit-bytecode"]
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(program, stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(terminal)
        os.close(controller)
    assert done.returncode == 1
    assert done.stderr.startswith("error: --emit-bytecode: bytecode is nothing for a terminal; give -o FILE [TC315")
