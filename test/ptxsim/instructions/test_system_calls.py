"""`vprintf` and `__assertfail`, which a module declares and the system has."""

import numpy as np
import pytest

import ptxsim
from ptxsim import PtxError
from ptxsim.__main__ import main
from ptxsim_cases.kernel_text import OWN_WORD, kernel, launch, words

PRINT = ".extern .func (.param .b32 result) vprintf (.param .b64 form, .param .b64 values);"
ASSERT = """.extern .func __assertfail
(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;"""


def constant(name, text):
    contents = ", ".join(str(byte) for byte in (*text.encode(), 0))
    return f".global .align 1 .b8 {name}[{len(text.encode()) + 1}] = {{{contents}}};\n"


def printing(text, address="form", stores=""):
    """A module's declarations, and instructions that leave the result of a call in %r1."""
    body = f"""mov.u64 %d2, {address}; .local .align 8 .b8 room[64]; cvta.local.u64 %d3, room; {stores}
    {{ .param .b64 p0; st.param.b64 [p0], %d2; .param .b64 p1; st.param.b64 [p1], %d3;
    .param .b32 back; call.uni (back), vprintf, (p0, p1); ld.param.b32 %r1, [back]; }} st.global.u32 [%d0], %r1;"""
    return PRINT + constant("form", text), body


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("plain\n", 0), ("%d", 1), ("100%% of %5.2f at %p\n", 2), ("%-*d %lld %#x", 3), ("%s é %c", 2)],
)
def test_printf_returns_how_many_arguments_its_format_takes(text, count):
    module, body = printing(text)
    assert words(body, module=module).tolist() == [count] * 32


def test_printf_without_a_format_returns_an_error():
    module, body = printing("%d", "0")
    assert words(body, module=module).tolist() == [0xFFFFFFFF] * 32


def test_only_the_lanes_that_print_get_a_result_and_all_go_on():
    module, body = printing("%d %d")
    guarded = f"mov.u32 %r1, 9; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra DONE; {body} DONE: "
    out = words(guarded + "@%p0 st.global.u32 [%d0], %r1;", module=module)
    assert out.tolist() == [9, 2] * 16


def test_printf_prints_for_each_thread_in_turn(tmp_path, capsys):
    stores = "st.local.u32 [room], %r0; st.local.b64 [room+8], 0d3FF8000000000000; st.local.b64 [room+16], word;"
    module, body = printing("t=%02d x=%.2f %s\n", stores=stores.replace("word", "%d4"))
    text = kernel(OWN_WORD + f"mov.u64 %d4, word; {body} ret;", module=module + constant("word", "end"))
    report = launch(text, [np.zeros(3, np.uint32)], 3)
    assert report.ok
    assert report.printed == "t=00 x=1.50 end\nt=01 x=1.50 end\nt=02 x=1.50 end\n"
    path = tmp_path / "k.ptx"
    path.write_text(text)
    assert main([str(path), "--grid", "1", "--block", "2", "--arg", "u32[2]:0"]) == 0
    assert "\nprintf   t=00 x=1.50 end\nprintf   t=01 x=1.50 end\n" in capsys.readouterr().out


def test_arguments_that_are_in_no_memory_are_a_finding():
    module, body = printing("%d\n", stores="mov.u64 %d3, 0;")
    report = launch(kernel(OWN_WORD + body + "ret;", module=module), [np.zeros(1, np.uint32)], 1)
    assert [each.kind for each in report.findings] == ["out-of-bounds"]
    assert "printf reads 4 bytes of an argument outside of what is allocated" in report.findings[0].message


def failing(declarations=ASSERT):
    """A module in which odd threads fail an assertion and the others store 1."""
    arguments = "; ".join(
        f".param .b{8 * size} p{number}; st.param.b{8 * size} [p{number}], {value}"
        for number, (size, value) in enumerate([(8, "%d2"), (8, "%d3"), (4, "17"), (8, "%d4"), (8, "1")])
    )
    body = f"""mov.u64 %d2, condition; mov.u64 %d3, file; mov.u64 %d4, function;
    and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra FINE;
    {{ {arguments};
    call.uni __assertfail, (p0, p1, p2, p3, p4); }}
    FINE: st.global.u32 [%d0], 1; ret;"""
    texts = constant("condition", "i < n") + constant("file", "a.cu") + constant("function", "void k(int)")
    return kernel(OWN_WORD + body, module=declarations + "\n" + texts)


def test_a_failed_assertion_is_a_trap_with_its_text_and_place():
    out = np.zeros(32, np.uint32)
    text = failing()
    (finding,) = launch(text, [out], 32, checks=()).findings
    assert finding.kind == "trap"
    assert finding.message == "the assertion 'i < n' does not hold: a.cu:17, in void k(int)"
    assert text.splitlines()[finding.line - 1].lstrip().startswith("call.uni __assertfail")
    assert [each.thread[0] for each in finding.threads] == list(range(1, 32, 2))
    assert out.tolist() == [1, 0] * 16


def test_an_assertion_that_holds_is_nothing():
    out = np.zeros(1, np.uint32)
    assert launch(failing(), [out], 1).ok
    assert out.tolist() == [1]


def test_a_system_function_that_is_declared_otherwise_is_refused():
    with pytest.raises(PtxError, match="the system has this function with other parameters") as error:
        ptxsim.load(
            failing(ASSERT.replace(".param .b64 e", ".param .b32 e")).replace(".param .b64 p4", ".param .b32 p4")
        )
    assert error.value.line > 1


@pytest.mark.parametrize("name", ["malloc", "__nv_sinf"])
def test_other_functions_without_a_body_are_refused(name):
    module = f".extern .func (.param .b64 result) {name} (.param .b64 size);"
    body = f"""{{ .param .b64 p0; st.param.b64 [p0], 8; .param .b64 back; call.uni (back), {name}, (p0); }} ret;"""
    with pytest.raises(PtxError, match=f"function '{name}' has no body in this module"):
        ptxsim.load(kernel(body, "", module))
