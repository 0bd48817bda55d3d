"""What the user calls the tensors that a kernel is launched with."""

from analysis_programs.region_kernels import formed_kernels, matmul
from analysis_programs.tiny_programs import Program
from tinyc.analysis.host_names import host_names
from tinyc.dialects.registry import context


def names_in(program: Program, fusion=""):
    formed_kernels(program, fusion)
    with context():
        return host_names(program.module)


def test_buffers_are_called_as_the_host_calls_them():
    p = Program(X="f32 4", Y="f32 4")
    assert names_in(p.result(p.add(p["Y"], p["X"]))) == {"elementwise_add": (("Y",), ("X",), ("result0",))}


def test_launches_that_share_a_kernel_give_it_several_names():
    p = Program(X="f32 4", Y="f32 4")
    assert names_in(p.result(p.neg(p["X"]), p.neg(p["Y"]))) == {"elementwise_neg": (("X", "Y"), ("result0", "result1"))}


def test_what_lies_between_kernels_has_no_name():
    p = Program(X="f32 4")
    assert names_in(p.result(p.exp2(p.neg(p["X"]))), "none")["elementwise_exp2"] == ((), ("result0",))


def test_an_output_that_is_read_has_its_name():
    p = Program(X="f32 4")
    negative = p.neg(p["X"])
    assert names_in(p.result(negative, p.exp2(negative)), "none")["elementwise_exp2"] == (("result0",), ("result1",))


def test_a_reshape_of_a_buffer_is_called_as_the_buffer():
    p = Program(A="f16 M*K", B="f16 K N")
    kernels = names_in(p.result(matmul(p, p.reshape(p["A"], shape="M K"), p["B"])))
    assert kernels["matmul"] == (("A",), ("B",), ("result0",))
