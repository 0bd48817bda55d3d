"""Which kernels finish a reduction in registers: those that read it element by element."""

from analysis_programs.region_kernels import matmul, one_kernel
from analysis_programs.tiny_programs import Program
from tinyc.analysis.tiled_reduction import tiled_reduction
from tinyc.dialects.registry import context


def found(program: Program) -> str | None:
    with context():
        reduction = tiled_reduction(one_kernel(program).block)
        return None if reduction is None else reduction.op.value


def test_a_reduction_with_an_epilogue_is_one():
    p = Program(a="f32 M K", b="f32 K N")
    assert found(p.result(p.relu(matmul(p, p["a"], p["b"])))) == "sum"


def test_any_reduction_is_one():
    p = Program(a="f32 M K")
    assert found(p.result(p.reduce(p["a"], op="max", axes=(1,), element="f32"))) == "max"


def test_a_kernel_without_a_reduction_has_none():
    p = Program(a="f32 M K")
    assert found(p.result(p.neg(p["a"]))) is None


def test_a_reduction_that_is_read_at_other_indices_is_none():
    p = Program(a="f32 M K")
    total = p.reduce(p["a"], op="sum", axes=(1,), element="f32")
    assert found(p.result(p.flip(total, axes=(0,)))) is None


def test_a_reduction_that_no_output_needs_does_not_count():
    p = Program(a="f32 M K")
    p.relu(p.reduce(p["a"], op="sum", axes=(1,), element="f32"))
    assert found(p.result(p.relu(p.reduce(p["a"], op="max", axes=(1,), element="f32")))) == "max"
