"""Products of words of neighbours: by AMX, VNNI and AVX512-BF16, whose instructions are emulated where code runs.

The hardware of these tests has none of the instructions: numbers are those of `emulated_dots`, which computes what
Intel's manual says of them, and what is said of registers is read in the assembly.
"""

import re
from functools import cache

import numpy as np
import pytest

import tinyc
from analysis_programs.contraction_programs import CONTRACTIONS, Sizes, windows_of
from analysis_programs.cpu_kernels import spread
from analysis_programs.emulated_dots import emulated_executable, intrinsics_of
from analysis_programs.region_kernels import matmul, one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.diagnostics import TinycError
from tinyc.dialects.registry import context
from tinyc.driver.compilation import cpu_artifact
from tinyc.driver.load import executor_of
from tinyc.driver.sources import read_program
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.executors.rounding import output_tolerances
from tinyc.importers import tiny_json
from tinyc.mlir import ir
from tinyc.plan.attribute import plan_attribute
from tinyc.plan.fields import Plan
from tinyc.runtime.cpu_features import machine_cpu
from tinyc.runtime.jit import compile_object

AMX, VNNI, BF16 = "x86-64-v4+amx", "x86-64-v4+avx512vnni", "x86-64-v4+avx512bf16"
AVX_VNNI, AVX_VNNI_INT8 = "x86-64-v3+avxvnni", "x86-64-v3+avxvnniint8"
#: What each CPU multiplies a left by a right operand by.
BYTES = {
    (AMX, "i8", "i8"): "tdpbssd.internal",
    (AMX, "i8", "ui8"): "tdpbsud.internal",
    (AMX, "ui8", "i8"): "tdpbusd.internal",
    (AMX, "ui8", "ui8"): "tdpbuud.internal",
    **{(VNNI, left, right): "avx512.vpdpbusd.512" for left in ("i8", "ui8") for right in ("i8", "ui8")},
    **{(AVX_VNNI, left, right): "avx512.vpdpbusd.256" for left in ("i8", "ui8") for right in ("i8", "ui8")},
    (AVX_VNNI_INT8, "i8", "i8"): "avx2.vpdpbssd.256",
    (AVX_VNNI_INT8, "i8", "ui8"): "avx512.vpdpbusd.256",
    (AVX_VNNI_INT8, "ui8", "ui8"): "avx2.vpdpbuud.256",
}
FLOATS = {AMX: "tdpbf16ps.internal", BF16: "avx512bf16.dpbf16ps.512"}
#: Rows, columns and products: none, fewer than a word or a tile has, and several panels with words that are not whole.
SIZES = [(1, 1, 1), (2, 3, 2), (5, 128, 0), (3, 130, 7), (33, 17, 40), (70, 140, 301), (197, 65, 2091)]
#: Bytes that saturate sums of 16 bits, and those at which signs turn.
EDGES = {"i8": (-128, -128, -127, 127, 0, -1), "ui8": (255, 255, 128, 127, 0, 1)}


def lowering(p: Program):
    """A program on its way to the code of a CPU, as one kernel."""
    return tinyc.compile(one_kernel_program(p)).lowering


def agrees(p: Program, cpu: str, runs, threads: int = 1, inputs=None) -> bool:
    """Compare emulated code for a CPU with the reference at the sizes of each run."""
    executable = emulated_executable(lowering(p), cpu, threads)
    for sizes in runs:
        bound = read_program(p.module, sizes)
        arrays = {**random_inputs(bound, 0), **(inputs(sizes) if inputs else {})}
        expected = tinyc.compile(bound, target="reference").run(**arrays)
        results = compare_all(executable.run(arrays), expected, output_tolerances(bound, arrays))
        print(sizes, *(each for each in results if not each.ok))
        if not all(each.ok for each in results):
            return False
    return True


def of_bytes(left: str, right: str, shape: str = "M N K") -> Program:
    """A product of casts of bytes, whose sums are i32."""
    m, n, k = shape.split()
    p = Program(a=f"{left} {m} {k}", b=f"{right} {k} {n}")
    factors = [p.cast(p[name], element="i32") for name in "ab"]
    return p.result(matmul(p, *factors, shape, element="i32"))


def edges(left: str, right: str):
    """Matrices of bytes at the ends of their ranges."""

    def made(sizes):
        rng = np.random.default_rng(7)
        m, n, k = (sizes[name] for name in "MNK")
        return {
            "a": rng.choice(np.array(EDGES[left], "int8" if left == "i8" else "uint8"), (m, k)),
            "b": rng.choice(np.array(EDGES[right], "int8" if right == "i8" else "uint8"), (k, n)),
        }

    return made


def sized(sizes=SIZES):
    return [dict(zip("MNK", each, strict=True)) for each in sizes]


@pytest.mark.parametrize(("cpu", "left", "right"), BYTES)
def test_bytes_of_any_signs_are_multiplied_exactly_emulated(cpu, left, right):
    p = of_bytes(left, right)
    assert intrinsics_of(lowering(p), cpu) == {BYTES[cpu, left, right]}
    assert agrees(p, cpu, sized(), inputs=edges(left, right))


@pytest.mark.parametrize("cpu", FLOATS)
def test_bf16_are_multiplied_within_rounding_emulated(cpu):
    p = Program(a="bf16 M K", b="bf16 K N")
    p.result(matmul(p, p["a"], p["b"]))
    assert intrinsics_of(lowering(p), cpu) == {FLOATS[cpu]}
    assert agrees(p, cpu, sized())


@pytest.mark.parametrize("cpu", [AMX, VNNI, AVX_VNNI])
@pytest.mark.parametrize("shape", ["1 64 64", "70 140 301", "40 33 1025"])
def test_extents_that_are_known_have_words_that_are_not_whole_emulated(cpu, shape):
    m, n, k = map(int, shape.split())
    sizes = {"M": m, "N": n, "K": k}
    assert agrees(of_bytes("i8", "i8", shape), cpu, [{}], inputs=lambda _: edges("i8", "i8")(sizes))


@pytest.mark.parametrize("cpu", FLOATS)
@pytest.mark.parametrize("left", ["40 70", "70 40"])
@pytest.mark.parametrize("right", ["70 50", "50 70"])
def test_operands_in_any_order_with_what_is_done_before_and_behind_emulated(cpu, left, right):
    """Each operand along the sum or across it; one of them is a cast, and the result has a bias and is clamped."""
    p = Program(a=f"f32 {left}", b=f"bf16 {right}", bias="bf16 50")
    a = p.cast(p["a"], element="bf16")
    a = p.permute(a, perm=(1, 0)) if left == "70 40" else a
    b = p.permute(p["b"], perm=(1, 0)) if right == "50 70" else p["b"]
    y = matmul(p, a, b, "40 50 70")
    y = p.relu(p.add(y, spread(p, p.cast(p["bias"], element="f32"), y, 0)))
    p.result(p.cast(y, element="bf16"))
    assert intrinsics_of(lowering(p), cpu) == {FLOATS[cpu]}
    assert agrees(p, cpu, [{}])


@pytest.mark.parametrize("cpu", [AMX, VNNI, AVX_VNNI_INT8])
def test_batches_of_transposed_bytes_by_two_threads_emulated(cpu):
    p = Program(a="i8 3 90 40", b="i8 3 300 90", scale="f32 300")
    left = p.expand(p.cast(p.permute(p["a"], perm=(0, 2, 1)), element="i32"), **_batch((0, 1, 3)))
    right = p.expand(p.cast(p["b"], element="i32"), **_batch((0, 2, 3)))
    y = p.cast(p.sum(p.mul(left, right), 3, element="i32"), element="f32")
    p.result(p.mul(y, spread(p, p["scale"], y, 0, 1)))
    assert len(intrinsics_of(lowering(p), cpu)) == 1
    for threads in (1, 2):
        assert agrees(p, cpu, [{}], threads)


def _batch(axes):
    return {"shape": "3 40 300 90", "broadcast_dimensions": axes}


@pytest.mark.parametrize("cpu", FLOATS)
def test_f32_that_are_casts_of_bf16_are_multiplied_as_these_emulated(cpu):
    p = Program(a="bf16 40 70", b="bf16 70 50")
    p.result(matmul(p, p.cast(p["a"], element="f32"), p.cast(p["b"], element="f32"), "40 50 70"))
    assert intrinsics_of(lowering(p), cpu) == {FLOATS[cpu]}
    assert agrees(p, cpu, [{}])


@pytest.mark.parametrize("cpu", FLOATS)
@pytest.mark.parametrize("name", ["conv_nchw", "conv_strided_dilated", "conv_1x1"])
def test_convolutions_with_padding_emulated(cpu, name):
    p = CONTRACTIONS[name](Sizes({"B": 2, "C": 20, "F": 36, "Y": 5, "X": 9}))
    module = tiny_json.import_program(tiny_json.dump(p.module).replace('"fp64"', '"bf16"'))
    made, inputs = tinyc.compile(module).lowering, random_inputs(module, 0)
    assert intrinsics_of(made, cpu) == {FLOATS[cpu]}
    expected = tinyc.compile(module, target="reference").run(**inputs)
    found = emulated_executable(made, cpu).run(inputs)
    assert all(each.ok for each in compare_all(found, expected, output_tolerances(module, inputs)))


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4", VNNI])
def test_bf16_are_widened_where_the_cpu_has_no_such_instruction(cpu):
    p = Program(a="bf16 40 70", b="bf16 70 50")
    assert intrinsics_of(lowering(p.result(matmul(p, p["a"], p["b"], "40 50 70"))), cpu) == set()


def test_a_plan_that_says_lanes_has_them_instead():
    p = of_bytes("i8", "i8", "70 140 300")
    plan = 'set scheme = "cpu_contraction"; vectorize n.i 8;'
    planned = tinyc.compile(one_kernel_program(p), plan=plan).lowering
    assert intrinsics_of(planned, VNNI) == set()


# --- panels -----------------------------------------------------------------------------------------------------------


def padded_convolution() -> Program:
    """A convolution of 200 channels with padding, whose columns are packed in 9 taps where they are elements."""
    p = Program(x="bf16 1 200 16 16", w="bf16 64 200 3 3")
    x = windows_of(p, p["x"], (3, 3), (1, 1), (1, 1), (1, 1))
    shape = (1, 64, 16, 16, 200, 3, 3)
    x = p.expand(x, shape=shape, broadcast_dimensions=(0, 4, 2, 3, 5, 6))
    w = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    return p.result(p.sum(p.mul(x, w), 4, 5, 6, element="f32"))


def product_with(p: Program, feature: str, plan: Plan | None = None) -> CpuProduct:
    """The product that a program is, multiplied by a feature."""
    with context():
        kernel = one_kernel(p)
        kernel.op.attributes["dot"] = ir.StringAttr.get(feature)
        kernel.op.attributes["plan"] = plan_attribute(plan or Plan())
        nest = kernel.nest
    assert isinstance(nest, CpuProduct)
    assert nest.dot is not None
    return nest


@pytest.mark.parametrize(
    ("p", "feature", "depth"),
    [
        (of_bytes("i8", "ui8", "70 140 8000"), "amx-int8", 16 * 64),  # of eight panels
        (of_bytes("i8", "ui8", "70 140 8000"), "avx512vnni", 250 * 4),
        (padded_convolution(), "amx-bf16", 15 * 32),  # of four; in whole windows a panel would have 50 * 9
        (padded_convolution(), "avx512bf16", 225 * 2),
        (of_bytes("i8", "ui8", "70 140 301"), "amx-int8", 301),  # there is one panel
    ],
)
def test_of_several_panels_the_last_one_alone_is_filled_up_to_a_whole_step(p, feature, depth):
    assert product_with(p, feature).panel_depth == depth


@pytest.mark.parametrize("feature", ["amx-bf16", "avx512bf16"])
def test_a_plan_has_panels_of_any_depth_whatever_windows_have(feature):
    assert product_with(padded_convolution(), feature, Plan(tile=(64, 256, 100))).panel_depth == 100


@pytest.mark.parametrize("cpu", [AMX, VNNI])
def test_panels_that_are_no_whole_steps_are_filled_up_each_emulated(cpu):
    p = of_bytes("i8", "i8", "70 140 301")
    planned = tinyc.compile(one_kernel_program(p), plan={"tile": [70, 140, 99]}).lowering
    inputs = edges("i8", "i8")({"M": 70, "N": 140, "K": 301})
    expected = tinyc.compile(p.module, target="reference").run(**inputs)
    assert all(
        each.ok
        for each in compare_all(
            emulated_executable(planned, cpu).run(inputs), expected, output_tolerances(p.module, inputs)
        )
    )


@pytest.mark.parametrize("cpu", [AMX, VNNI])
@pytest.mark.parametrize("left", ["row by row", "column by column"])
@pytest.mark.parametrize("right", ["row by row", "column by column"])
def test_whole_words_are_packed_without_a_test(cpu, left, right):
    """One of 301 products is in a word with zeros."""
    p = Program(
        a="i8 70 301" if left == "row by row" else "i8 301 70",
        b="i8 301 140" if right == "row by row" else "i8 140 301",
    )
    a = p["a"] if left == "row by row" else p.permute(p["a"], perm=(1, 0))
    b = p["b"] if right == "row by row" else p.permute(p["b"], perm=(1, 0))
    p.result(matmul(p, *(p.cast(each, element="i32") for each in (a, b)), "70 140 301", element="i32"))
    text = lowering(p).for_cpu(cpu).text("loops")
    bodies = re.findall(r"(?=^( *)scf\.for .*\n((?:\1 .*\n)+))", text, re.MULTILINE)
    loops = [body for _, body in bodies if "scf.for" not in body]
    for operand in ("%arg0", "%arg1"):
        whole = [each for each in loops if each.count(f"memref.load {operand}[") == 4]
        assert any("scf.if" not in each and "cmpi" not in each for each in whole)


# --- the assembly -----------------------------------------------------------------------------------------------------

#: CPU → element type, the instruction, and how often a step of the inner loop has it.
INNER = {
    (AMX, "bf16"): ("tdpbf16ps", 4),
    (AMX, "i8"): ("tdpbssd", 4),
    (VNNI, "i8"): ("vpdpbusd", 28),
    (AVX_VNNI, "i8"): ("vpdpbusd", 12),
    (AVX_VNNI_INT8, "i8"): ("vpdpbssd", 12),
    (BF16, "bf16"): ("vdpbf16ps", 28),
}


@cache
def loops_of(cpu: str, element: str) -> list[list[str]]:
    """The instructions of each innermost loop in the assembly of a large product: those up to a jump back."""
    p = Program(a=f"{element} 672 1024", b=f"{element} 1024 256")
    kind = "i32" if element == "i8" else "f32"
    factors = [p.cast(p[name], element=kind) for name in "ab"]
    p.result(matmul(p, *factors, "672 256 1024", element=kind))
    found, block, name = [], [], ""
    for line in lowering(p).for_cpu(cpu).text("asm").splitlines():
        label = re.match(r"(\.L\w+):", line)
        if label:
            block, name = [], label[1]
        elif re.match(r"\t[\w{]", line):
            block.append(line.strip().removeprefix("{vex}").lstrip())
            if re.fullmatch(rf"\tj\w+\t{re.escape(name)}", line):
                found.append([*block])
    return found


@pytest.mark.parametrize(("cpu", "element"), INNER)
def test_the_inner_loop_has_the_instruction_and_keeps_its_sums_in_registers(cpu, element):
    instruction, count = INNER[cpu, element]

    def sums(loop: list[str]) -> list[str]:
        return [each.rsplit("%", 1)[1] for each in loop if each.startswith(instruction)]

    loop = max(loops_of(cpu, element), key=lambda each: len(set(sums(each))))
    assert len(set(sums(loop))) == count, "each sum has a register"
    assert len(sums(loop)) % count == 0, "and each step adds to all of them"
    assert not any(re.match(r"(v?mov\w+|tilestored)\s+%[xyzt]mm", each) for each in loop), "nothing is stored"


# --- CPUs that have not got it ----------------------------------------------------------------------------------------

needs_no_tiles = pytest.mark.skipif("+amx" in (machine_cpu() or ""), reason="did not run: this machine has tiles")


@needs_no_tiles
def test_code_for_tiles_is_refused_by_a_machine_that_has_none(tmp_path):
    model = tinyc.compile(one_kernel_program(of_bytes("i8", "i8", "64 64 64")))
    model.save(tmp_path / "model.tinyc", cpu="v4+amx")
    with pytest.raises(TinycError, match=r"needs a CPU with .*amx_int8, .*amx_tile.*does not list") as caught:
        tinyc.load(tmp_path / "model.tinyc")
    assert caught.value.name == "UnsupportedTarget"


@needs_no_tiles
def test_code_for_tiles_that_was_kept_is_refused_there_too():
    """What has been compiled before is run without a compilation, which would have asked for tiles."""
    artifact = cpu_artifact(lowering(of_bytes("i8", "i8", "64 64 64")), AMX)
    with pytest.raises(TinycError, match="needs a CPU with"):
        executor_of(artifact)


def test_an_intrinsic_that_a_cpu_has_not_is_refused_before_llvm_ends_the_process():
    text = lowering(of_bytes("i8", "i8", "64 64 64")).for_cpu(AMX).llvm_ir()
    with pytest.raises(TinycError, match=r"calls llvm\.x86\.\w+\.internal, which needs amx_.*cpu 'x86-64-v4' has not"):
        compile_object(text, "x86-64-v4")
