"""`__constant__` and `__device__` variables: written before a launch, read after it; a warning where nobody set one."""

import json

import ml_dtypes
import numpy as np
import pytest

import ptxsim
from ptxsim.__main__ import main
from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import kernel, launch

MODULE = """
.const .align 4 .f32 scale[2];
.const .align 4 .u32 known = 5;
.global .align 4 .u32 cnt[2];
.global .align 2 .b8 raw[4];
.global .align 2 .bf16 half;
"""
#: Stores the word of `scale` and 7 to the second word of `cnt`.
BODY = """
ld.param.u64 %d0, [out]; ld.const.b32 %r0, [scale+4]; st.global.b32 [%d0], %r0;
ld.const.u32 %r1, [known]; add.u32 %r1, %r1, 2; st.global.u32 [cnt+4], %r1; ret;
"""
TEXT = kernel(BODY, module=MODULE)


def run(module, out):
    return module.launch("k", (1, 1, 1), (1, 1, 1), [out])


def test_a_launch_starts_with_what_was_written_and_leaves_what_it_stores():
    module, out = ptxsim.load(TEXT), np.zeros(1, np.float32)
    module.variable("scale").write(np.array([0.5, 2.5], np.float32))
    report = run(module, out)
    assert (report.findings, report.warnings) == ([], [])
    assert out.tolist() == [2.5]
    assert module.variable("cnt").read().tolist() == [0, 7]
    module.variable("cnt").write(np.array([3, 4], np.uint32))
    assert module.variable("cnt").read().tolist() == [3, 4]
    module.variable("known").write(np.uint32(20))
    run(module, out)
    assert module.variable("cnt").read().tolist() == [3, 22]


def test_a_variable_is_read_in_its_own_type_or_another():
    module = ptxsim.load(TEXT)
    assert module.variable("known").read().tolist() == 5
    assert [module.variable(each).read().dtype for each in ("scale", "cnt", "raw", "half")] == [
        np.float32,
        np.uint32,
        np.uint8,
        ml_dtypes.bfloat16,
    ]
    module.variable("raw").write(b"\x01\x00\x02\x00")
    assert module.variable("raw").read(np.uint16).tolist() == [1, 2]


def test_the_variables_are_named_and_say_what_they_are():
    module = ptxsim.load(kernel("ret;", module=f"{MODULE} .global .align 16 .v4 .f32 rows[2][3];"))
    assert sorted(module.variables) == ["cnt", "half", "known", "raw", "rows", "scale"]
    assert [repr(module.variable(each)) for each in ("scale", "known", "rows")] == [
        "<variable .const .f32 scale[2], 8 bytes>",
        "<variable .const .u32 known, 4 bytes>",
        "<variable .global .v4 .f32 rows[2][3], 96 bytes>",
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", np.zeros(3, np.float32), "variable 'scale' has 8 bytes; 12 are given"),
        ("scale", np.zeros(2, np.int32), r"variable 'scale' is a float \(.f32\); int32 is given"),
        ("known", np.float32(1), r"variable 'known' is an integer \(.u32\); float32 is given"),
        ("known", 1, "variable 'known' takes an array, a numpy scalar or bytes, not int"),
        (
            "scales",
            np.float32(1),
            "the module has no variable 'scales' in .global or .const memory; did you mean 'scale'",
        ),
    ],
)
def test_what_does_not_fit_a_variable_is_refused(name, value, message):
    with pytest.raises(InputError, match=message):
        ptxsim.load(TEXT).variable(name).write(value)


@pytest.mark.parametrize(
    ("read", "space", "called"),
    [
        ("ld.const.b32 %r0, [scale];", "const", "scale+0"),
        ("ld.global.u32 %r0, [cnt+4];", "global", "cnt+4"),
        ("cvta.global.u64 %d1, cnt; ld.u32 %r0, [%d1];", "global", "cnt+0"),
        ("atom.global.add.u32 %r0, [cnt], 1;", "global", "cnt+0"),
    ],
)
def test_reading_a_variable_that_nobody_set_warns(read, space, called):
    report = launch(kernel(f"{read} ret;", "", MODULE), [], 1)
    assert report.ok
    (warning,) = report.warnings
    assert (warning.kind, warning.variable) == ("unset-variable", called)
    assert f"4 bytes of {space} memory, a variable that has no initial value and was never set" in warning.message


def test_a_variable_with_an_initial_value_or_that_the_kernel_stores_to_is_set():
    body = "ld.const.u32 %r0, [known]; st.global.u32 [cnt], %r0; ld.global.u32 %r1, [cnt]; ret;"
    assert launch(kernel(body, "", MODULE), [], 1).warnings == []


def test_the_warning_can_be_ignored():
    report = launch(TEXT, [np.zeros(1, np.float32)], 1, ignore=["unset-variable"])
    assert (report.warnings, report.ignored) == ([], 1)


def test_the_command_sets_and_saves_variables(tmp_path, capsys):
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    options = [str(path), "--grid", "1", "--block", "1", "--arg", "o=f32[1]:0"]
    saves = ["--save", f"o={tmp_path / 'o.npy'}", "--save", f"cnt={tmp_path / 'cnt.npy'}"]
    assert main([*options, *saves, "--set", "scale=f32[2]:1.5", "--set", "cnt=u32[2]:9"]) == 0
    assert np.load(tmp_path / "o.npy").tolist() == [1.5]
    assert np.load(tmp_path / "cnt.npy").tolist() == [9, 7]
    assert "warning" not in capsys.readouterr().out
    assert main([*options, "--json", str(tmp_path / "r.json")]) == 0
    out = capsys.readouterr().out
    line = next(number for number, each in enumerate(TEXT.splitlines(), 1) if "[scale+4]" in each)
    assert f"\nwarning: {path}:{line}: unset-variable: reads 4 bytes of const memory" in out
    assert "const memory, a variable that has no initial value and was never set" in out
    assert out.endswith("\nresult   no findings; 1 warning\n")
    (warning,) = json.loads((tmp_path / "r.json").read_text())["warnings"]
    assert warning["variable"] == "scale+4"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("scales=f32:1", "error: the module has no variable 'scales'"),
        ("scale=f32:1", "error: variable 'scale' has 8 bytes; 4 are given"),
        ("scale=none.npy", "--set scale=none.npy: cannot read the file"),
    ],
)
def test_a_wrong_set_is_an_error(tmp_path, capsys, option, message):
    path = tmp_path / "k.ptx"
    path.write_text(TEXT)
    main([str(path), "--grid", "1", "--block", "1", "--arg", "o=f32[1]:0", "--set", option])
    assert message in capsys.readouterr().err
