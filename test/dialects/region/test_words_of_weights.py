"""Weights of products of bf16 and of bytes: in words of neighbours in panels, which are made once.

Where code runs, the instructions are emulated (`emulated_dots`).
"""

import re

import pytest

import tinyc
from analysis_programs.emulated_dots import emulated_executable, intrinsics_of
from analysis_programs.region_kernels import matmul
from analysis_programs.tiny_programs import Program
from parameters import pairwise
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances

AMX, VNNI, BF16 = "x86-64-v4+amx", "x86-64-v4+avx512vnni", "x86-64-v4+avx512bf16"
AVX_VNNI, AVX_VNNI_INT8 = "x86-64-v3+avxvnni", "x86-64-v3+avxvnniint8"
#: CPUs, each with an element type of operands.
CPUS = [
    *((cpu, element) for cpu in (AMX, VNNI, AVX_VNNI) for element in ("i8", "ui8")),
    *((cpu, "bf16") for cpu in (AMX, BF16)),
    (AVX_VNNI_INT8, "i8"),
]


def layer(element: str, m: int, n: int, k: int, weights: str) -> Program:
    """A layer whose weights have a row for each product or for each column."""
    p = Program(a=f"{element} {m} {k}", w=f"{element} {k} {n}" if weights == "by products" else f"{element} {n} {k}")
    a, w = p["a"], p["w"]
    if element == "bf16":
        w = w if weights == "by products" else p.permute(w, perm=(1, 0))
        return p.result(matmul(p, a, w, f"{m} {n} {k}"))
    a, w = (p.cast(each, element="i32") for each in (a, w))
    w = w if weights == "by products" else p.permute(w, perm=(1, 0))
    return p.result(matmul(p, a, w, f"{m} {n} {k}", element="i32"))


@pairwise(
    cpu=CPUS,
    shape=[(64, 17, 40), (70, 300, 61), (33, 35, 5), (40, 140, 1301), (37, 70, 2091)],
    weights=["by products", "by columns"],
)
def test_words_of_weights_are_packed_once_and_multiplied_emulated(cpu, shape, weights):
    name, element = cpu
    p = layer(element, *shape, weights)
    given = random_inputs(p.module, 0)
    made = tinyc.compile(p.module, weights={"w": given["w"]}).lowering
    text = made.for_cpu(name).text("plan")
    assert text.count(f"panel_group = {2 if element == 'bf16' else 4} : i64") == 2, "a kernel packs, and one reads"
    assert len(intrinsics_of(made, name)) == 1
    executable = emulated_executable(made, name)
    executable.pool.set({"w": given["w"]})
    for run in range(2):
        inputs = {**given, "a": random_inputs(p.module, run)["a"]}
        expected = tinyc.compile(p.module, target="reference").run(**inputs)
        found = executable.run({"a": inputs["a"]})
        assert all(each.ok for each in compare_all(found, expected, output_tolerances(p.module, inputs)))


@pytest.mark.parametrize(("cpu", "element"), [(AMX, "i8"), (AMX, "bf16"), (VNNI, "i8")])
def test_no_run_packs_words_of_weights(cpu, element):
    """A matrix that is given with each run is packed in a workspace; weights are read where they are."""
    p = layer(element, 64, 40, 70, "by products")
    weights = {"w": random_inputs(p.module, 0)["w"]}
    loops = [tinyc.compile(p.module, **more).lowering.for_cpu(cpu).text("loops") for more in ({}, {"weights": weights})]
    given, kept = (text[text.index("func.func @matmul") :] for text in loops)
    assert "workspace" in given
    assert "workspace" not in kept
    assert not re.search(r"memref\.load %\w*arg1", kept)


def test_words_in_panels_are_a_matrix_like_any_other():
    """What a kernel computes of them does not depend on how it multiplies: here element by element."""
    p = layer("i8", 40, 33, 70, "by products")
    given = random_inputs(p.module, 0)
    text = tinyc.compile(p.module, weights={"w": given["w"]}).lowering.for_cpu(VNNI).text("plan")
    assert 'dot = "avx512vnni", ' in text
    model = tinyc.compile(text.replace('dot = "avx512vnni", ', ""))
    model.set_weights({"w": given["w"]})
    expected = tinyc.compile(p.module, target="reference").run(**given)
    assert (next(iter(model.run(a=given["a"]).values())) == next(iter(expected.values()))).all()


@pytest.mark.parametrize(("depth", "is_kept"), [(128, True), (100, False)])
def test_a_plan_whose_panels_are_no_whole_steps_packs_in_each_run(depth, is_kept):
    p = layer("i8", 40, 64, 300, "by products")
    plan = {"tile": [40, 64, depth]}
    made = tinyc.compile(p.module, weights={"w": random_inputs(p.module, 0)["w"]}, plan=plan).lowering
    assert ("panel_group = 4" in made.for_cpu(AMX).text("plan")) == is_kept
