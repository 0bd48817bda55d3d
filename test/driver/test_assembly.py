"""The assembly of kernels, beside the lines of the loops that it comes from, for this machine's CPU and for others."""

import re

import numpy as np
import pytest

import tinyc
from tinyc import TinycError
from tinyc.driver.assembly import beside_loops
from tinyc.driver.cli import main
from workloads.graph import Graph


def product():
    """Return a product with a ReLU behind it."""
    graph = Graph()
    a, b = graph.input("a", "fp32", 40, 30), graph.input("b", "fp32", 30, 50)
    space = (40, 50, 30)
    graph.result = (a.expand(space, 0, 2) * b.permute(1, 0).expand(space, 1, 2)).reduce("SUM", 2).apply("RELU")
    return graph.program(graph.result)


def test_each_comment_is_a_line_of_the_loops():
    model = tinyc.compile(product())
    assembly, loops = model.text("asm"), model.text("loops").splitlines()
    comments = re.findall(r"^\t# (\d+): (.*)$", assembly, re.MULTILINE)
    assert len(comments) > 20
    assert all(loops[int(number) - 1].strip() == line for number, line in comments)
    assert "vector.fma" in "".join(line for _, line in comments) or "arith.mulf" in assembly
    assert not re.search(r"\.(loc|cfi_|debug)", assembly)


def test_a_fused_multiply_add_stands_below_the_op_that_it_is(tmp_path):
    program = tmp_path / "product.mlir"
    program.write_text(tinyc.compile(product()).text("tiny"))
    for cpu, comment, instruction in (("x86-64-v4", "#", r"vfmadd\w+\s.*%zmm"), ("aarch64", "//", r"fmla\s+v")):
        assert main(["compile", str(program), "--dump=asm", "--cpu", cpu, "--dump-dir", str(tmp_path / cpu)]) == 0
        text = (tmp_path / cpu / "09_asm.s").read_text()
        assert re.search(rf"{comment} \d+: .*vector\.fma .*\n\t{instruction}", text), cpu


def test_what_was_read_below_the_loops_has_its_assembly_alone():
    model = tinyc.compile(product())
    x, y = (np.ones(shape, np.float32) for shape in ((40, 30), (30, 50)))
    read = tinyc.compile(model.text("llvm"))
    assert "kernel_main:" in read.text("asm")
    assert not re.search(r"^\t# \d+:", read.text("asm"), re.MULTILINE)
    np.testing.assert_array_equal(read(x, y), model(x, y))


def test_the_host_is_the_cpu_that_is_compiled_for_by_default(tmp_path):
    model = tinyc.compile(product())
    assert model.artifact("host").cpu == model.artifact().cpu
    model.save(tmp_path / "host.tinyc", cpu="host")
    assert tinyc.load(tmp_path / "host.tinyc").signature == model.signature


def test_a_model_for_aarch64_is_written_and_not_loaded_here(tmp_path):
    tinyc.compile(product()).save(tmp_path / "arm.tinyc", cpu="aarch64")
    with pytest.raises(TinycError, match=r"the model's code is for aarch64, .* compile the program here") as caught:
        tinyc.load(tmp_path / "arm.tinyc")
    assert caught.value.name == "UnsupportedTarget"


def test_a_cpu_is_asked_for_by_one_rule(tmp_path, capsys):
    model = tinyc.compile(product())
    assert model.dump(tmp_path, ("asm",), cpu="host") == model.dump(tmp_path, ("asm",))
    with pytest.raises(TinycError, match="'cpu' is 'pentium'; choose 'host', "):
        model.dump(tmp_path, ("asm",), cpu="pentium")
    program = tmp_path / "product.mlir"
    program.write_text(model.text("tiny"))
    assert main(["compile", str(program), "--target", "sim", "--cpu", "aarch64", "--dump=gpu"]) != 0
    assert "target 'sim' makes no code for a CPU; leave it out" in capsys.readouterr().err


def test_lines_that_the_loops_do_not_have_are_of_another_file():
    assert beside_loops("f:\n\t.loc\t1 9 3\n\tretq\n", "", "#") == "f:\n\tretq\n"


def test_labels_that_nothing_names_and_directives_for_others_are_left_out():
    assembly = "f:\n.Lfunc_begin0:\n\t.loc\t1 2 3\n\tjmp\t.LBB0_1\n.LBB0_1:\n\tretq\n\t.size\tf, 3\n\t.long\t7\n"
    shown = "f:\n\t# 2: second\n\tjmp\t.LBB0_1\n.LBB0_1:\n\t# 2: second\n\tretq\n\t.long\t7\n"
    assert beside_loops(assembly, "first\n  second\n", "#") == shown
