"""Plans on the CPU: each field is in the loops, numbers are the reference's, and what cannot be is refused."""

import random
import re

import numpy as np
import pytest

import tinyc
from analysis_programs import contraction_programs
from analysis_programs.cpu_kernels import agrees, scaled, spread
from analysis_programs.region_kernels import matmul, one_kernel_program
from analysis_programs.scan_programs import running
from analysis_programs.tiny_programs import Program
from parameters import seeds
from programs.random_plans import REFUSALS, random_plan, unless_refused
from tinyc.diagnostics import TinycError
from tinyc.executors.random_inputs import random_inputs


def gemm(m: int = 100, n: int = 70, k: int = 300) -> Program:
    p = Program(a=f"f32 {m} {k}", b=f"f32 {k} {n}", bias=f"f32 {n}")
    y = matmul(p, p["a"], p["b"], f"{m} {n} {k}")
    p.result(p.relu(p.add(y, spread(p, p["bias"], y, 0))))
    return p


def of_any_rows() -> Program:
    p = Program(a="f32 M 300", b="f32 300 70")
    p.result(matmul(p, p["a"], p["b"], "M 70 300"))
    return p


def softmax(rows: int = 6, columns: int = 640) -> Program:
    p = Program(x=f"f32 {rows} {columns}")
    x = p["x"]
    e = p.exp2(p.sub(x, spread(p, p.op("reduce", x, op="max", axes=(1,), element="f32"), x, 1)))
    p.result(p.mul(e, spread(p, p.recip(p.sum(e, 1)), x, 1)))
    return p


def planned(p: Program, threads: int = 1, **fields):
    """Compile a program as one kernel with a plan."""
    return tinyc.compile(one_kernel_program(p), plan=fields, threads=threads)


def refusal(p: Program, **fields) -> tuple[str, str]:
    with pytest.raises(TinycError) as caught:
        planned(p, **fields)
    (error,) = caught.value.errors
    return error.name, error.message


# --- contractions -----------------------------------------------------------------------------------------------------


def same_bits(p: Program, one, other) -> bool:
    """Whether two models give the same."""
    inputs = random_inputs(p.module, 0)
    found, expected = one.run_named(inputs), other.run_named(inputs)
    return all(found[name].tobytes() == each.tobytes() for name, each in expected.items())


def same_bits_with_weights(p: Program, plan: dict, model) -> bool:
    """Whether a plan gives the same where an operand is given as a weight, which may be packed once."""
    inputs = random_inputs(p.module, 0)
    expected = model.run_named(inputs)
    for name in inputs:
        weighted = tinyc.compile(one_kernel_program(p), plan=plan, weights={name: inputs[name]})
        found = weighted.run_named({other: each for other, each in inputs.items() if other != name})
        if any(found[output].tobytes() != each.tobytes() for output, each in expected.items()):
            return False
    return True


@seeds(12, 300)
def test_a_random_contraction_with_a_random_plan_agrees_with_the_reference_or_is_refused(seed):
    draw, built = random.Random(seed), 0
    while not built:
        make = draw.choice([each for each in contractions() if draw.random() < 0.5] or contractions())
        p = make(contraction_programs.Sizes(contraction_programs.SIZES))
        plan = random_plan(draw)
        print(make.__name__, plan)
        model = unless_refused(lambda plan, p=p: planned(p, **plan), plan)
        if model is not None:
            assert agrees(p, model)
            assert same_bits(p, model, planned(p, threads=5, scheme="cpu_contraction"))
            assert same_bits_with_weights(p, plan, model)
            built += 1


def contractions():
    """The programs of contractions that are one kernel each."""
    names = ("plain", "transposed_a", "transposed_b", "batched", "several_k", "k_first", "merged_k", "scores")
    return [getattr(contraction_programs, name) for name in names] + [
        each for name, each in vars(contraction_programs).items() if name.startswith("conv")
    ]


def test_a_tile_is_that_of_the_loops():
    whole, tiled = (planned(gemm(), scheme="cpu_contraction", **plan) for plan in ({}, {"tile": [32, 16, 64]}))
    assert "tile = array<i64: 32, 16, 64>" in tiled.text("plan")
    assert "grid = [4, 1, 1]" not in whole.text("exec")
    assert "grid = [20, 1, 1]" in tiled.text("exec")  # 4 tiles of rows, 5 of columns
    assert agrees(gemm(), tiled)


def test_the_order_and_the_parallel_loops_of_tiles_are_those_of_the_turns():
    plan = {"tile": [32, 16, 64], "loop": {"parallelize": [0]}}
    grids = []
    for order in (["m.o", "n.o", "k.o"], ["n.o", "m.o", "k.o"]):
        model = planned(gemm(), **plan, order=order)
        grids += re.findall(r"grid = \[(\d+), 1, 1\]", model.text("exec"))
        assert agrees(gemm(), model)
    assert grids == ["4", "5"]


def test_what_is_packed_is_what_the_plan_says():
    def panels(**pack):
        text = planned(gemm(), pack=pack).text("loops")
        return text.count("memref.prefetch") > 0, "left" in text

    p = gemm()
    assert panels(A=True)[1]
    assert not panels(A=False)[1]
    assert agrees(p, planned(p, pack={"A": False, "B": False}))


def convolution(side: int, filters: int = 96, channels: int = 40):
    """A 1 × 1 convolution of an image, whose places are the last loops, and of its weights."""
    p = Program(x=f"f32 1 {channels} {side} {side}", w=f"f32 {filters} {channels}")
    shape = f"1 {filters} {side} {side} {channels}"
    image = p.expand(p.permute(p["x"], perm=(0, 2, 3, 1)), shape=shape, broadcast_dimensions=(0, 2, 3, 4))
    y = p.sum(p.mul(image, p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4))), 4)
    p.result(p.relu(y))
    return p


@pytest.mark.parametrize(("stride", "tile"), [("row", [96, 49, 40]), ("col", [49, 96, 40])])
def test_columns_are_along_the_last_loop_or_across_it_as_the_plan_says(stride, tile):
    p = convolution(7)
    model = planned(p, layout_hints={"C_stride": stride}, tile=tile)
    assert f'C_stride = "{stride}"' in model.text("plan")
    assert f"tile = array<i64: {', '.join(map(str, tile))}>" in model.text("plan")
    assert agrees(p, model)
    assert same_bits(p, model, planned(p, threads=5))


@pytest.mark.parametrize(("side", "filters", "channels", "stride"), [(7, 512, 256, "col"), (28, 96, 40, "row")])
def test_places_of_a_small_image_are_rows_where_weights_are_packed_once(side, filters, channels, stride):
    p = convolution(side, filters, channels)
    inputs = random_inputs(p.module, 0)
    model = tinyc.compile(p.module, weights={"w": inputs["w"]})
    assert f'C_stride = "{stride}"' in model.text("plan")
    assert ('sym_name = "pack"' in model.text("plan")) is (stride == "col")
    expected = tinyc.compile(p.module, target="reference").run_named(inputs)
    found = model.run_named({"x": inputs["x"]})
    for name, each in expected.items():
        np.testing.assert_allclose(found[name], each, 1e-4, 1e-4)
    assert 'C_stride = "row"' in tinyc.compile(p.module).text("plan")


@pytest.mark.parametrize("width", [4, 8, 16])
def test_vectors_have_the_lanes_that_the_plan_says(width):
    model = planned(gemm(), vectorize={"axis": "n", "width": width})
    assert set(re.findall(r"vector\.fma .* : vector<(\d+)xf32>", model.text("loops"))) == {str(width)}
    assert agrees(gemm(), model)


@pytest.mark.parametrize(("factor", "shown"), [(1, "unroll.disable"), (4, 'unroll.count", i32 4')])
def test_the_loop_of_the_micro_kernel_is_unrolled_as_the_plan_says(factor, shown):
    model = planned(gemm(), unroll={"k.i": factor})
    assert f"llvm.loop.{shown}" in model.text("llvm")
    assert agrees(gemm(), model)


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loop", "shown"),
    [
        ({"vectorize": {"axis": 1, "width": 8}}, 'vectorize.width", i32 8'),
        ({"vectorize": {"axis": 1, "width": 1}}, 'vectorize.enable", i1 false'),
        ({"unroll": {"axis": 1, "factor": 4}}, 'unroll.count", i32 4'),
        ({"unroll": {"axis": 1, "factor": 0}}, "unroll.full"),
        ({"unroll": {"axis": 0, "factor": 1}}, "unroll.disable"),
    ],
)
def test_loops_along_an_axis_are_vectors_or_unrolled_as_the_plan_says(loop, shown):
    model = planned(softmax(), scheme="cpu_rows", loop=loop)
    assert "llvm.loop_annotation" in model.text("loops")
    assert f"llvm.loop.{shown}" in model.text("llvm")
    assert same_bits(softmax(), model, planned(softmax(), threads=5))


@pytest.mark.parametrize(("axes", "turns"), [([], 1), ([0], 6)])
def test_the_parallel_loop_has_the_axes_that_the_plan_says(axes, turns):
    model = planned(softmax(), loop={"parallelize": axes})
    assert f"grid = [{turns}, 1, 1]" in model.text("exec")
    assert agrees(softmax(), model)


def sums_along(axis, *shape):
    """Running sums along an axis."""
    p = Program(x=f"f32 {' '.join(map(str, shape))}")
    p.result(running(p, p["x"], axis, "sum", "f32", False, False))
    return p


@pytest.mark.parametrize(
    ("axis", "axes", "turns"),
    [(0, [1], 6), (0, [1, 2], 12), (1, [0, 2], 10), (2, [0, 1], 30), (2, [0], 5), (1, None, 10)],
)
def test_rows_of_a_scan_are_shared_by_threads_whatever_axis_is_walked(axis, axes, turns):
    p, loop = sums_along(axis, 5, 6, 200), {} if axes is None else {"loop": {"parallelize": axes}}
    model = planned(p, **loop)
    assert f"grid = [{turns}, 1, 1]" in model.text("exec")
    assert agrees(p, model)
    assert same_bits(p, model, planned(p, threads=5, **loop))


def test_the_axis_that_is_walked_is_not_parallel():
    name, message = refusal(sums_along(0, 5, 6, 200), loop={"parallelize": [0]})
    assert name == "PlanMismatch"
    assert "parallelizes [0], and the parallel loop is made of the leading loops; choose [], [1], [1, 2]" in message


def test_a_tile_of_steps_and_a_block_of_a_transpose_have_the_size_that_the_plan_says():
    rows = Program(x="f32 40 200")
    rows.result(rows.sum(rows["x"], 0))
    model = planned(rows, loop={"tile": [{"axis": 0, "size": 32}]})
    assert "step %c32" in model.text("loops")
    assert agrees(rows, model)
    turned = Program(x="f32 40 50")
    turned.result(scaled(turned, turned.permute(turned["x"], perm=(1, 0)), 2.0))
    model = planned(turned, loop={"tile": [{"axis": 0, "size": 8}, {"axis": 1, "size": 8}]})
    assert "grid = [35, 1, 1]" in model.text("exec")
    assert agrees(turned, model)


@pytest.mark.parametrize("scheme", ["cpu_rows", "cpu_generic"])
def test_a_contraction_may_be_computed_in_other_loops(scheme):
    model = planned(gemm(20, 30, 40), scheme=scheme)
    assert f'scheme = "{scheme}"' in model.text("plan")
    assert agrees(gemm(20, 30, 40), model)


# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [gemm, softmax])
def test_the_default_plan_is_complete_and_gives_the_same_loops(make):
    default = tinyc.compile(one_kernel_program(make()))
    again = tinyc.compile(default.text("plan"))
    assert again.text("plan") == default.text("plan")
    assert again.text("loops") == default.text("loops")


@pytest.mark.parametrize(
    ("make", "fields", "expected"),
    [
        (gemm, {"tile": [10, 16, 100_000], "pack": {"A": True}}, "bytes of the stack for each thread"),
        (of_any_rows, {"tile": [2**30, 16, 8]}, "bytes of panels and sums for each thread"),
        (gemm, {"order": ["k.o", "m.o", "n.o"]}, "the order of tiles is m.o n.o k.o or n.o m.o k.o"),
        (gemm, {"vectorize": {"axis": "m", "width": 8}}, "vectors are along n"),
        (gemm, {"unroll": {"m.i": 2}}, "the loop of the micro-kernel is over k.i"),
        (gemm, {"tile": [4, 4, 4], "pack": {"block": [4, 4, 8]}}, "leave one out"),
        (gemm, {"loop": {"unroll": {"axis": 0, "factor": 2}}}, "fields of their own"),
        (gemm, {"loop": {"parallelize": [1]}}, "choose [], [0], [0, 1]"),
        (gemm, {"layout_hints": {"A_swizzle": True}}, "has A_swizzle, which is for shared memory"),
        (gemm, {"loop": {"use_shared_memory": True}}, "which a CPU has none of"),
        (gemm, {"stages": 2}, "is not used by scheme"),
        (gemm, {"arch": "sm_80"}, "write cpu, or compile for sm_80"),
        (gemm, {"scheme": "mma"}, "no kernel builder for on cpu"),
        (softmax, {"loop": {"unroll": {"axis": 2, "factor": 2}}}, "axes of 6 × 640, counted from 0"),
        (softmax, {"loop": {"tile": [{"axis": 0, "size": 4}]}}, "computed together along no axis"),
        (gemm, {"vectorize": {"axis": "n.zz", "width": 8}}, "vectors are along n"),
        (softmax, {"precision": "tf32"}, 'write "ieee"'),
    ],
)
def test_what_a_kernel_cannot_have_is_refused_with_what_it_could(make, fields, expected):
    name, message = refusal(make(), **fields)
    assert name in REFUSALS
    assert expected in message


def test_a_tile_of_steps_whose_sums_do_not_fit_the_stack_is_refused():
    p = Program(x="f32 40 200")
    p.result(p.sum(p["x"], 0))
    name, message = refusal(p, loop={"tile": [{"axis": 0, "size": 2_200_000}]})
    assert (name, "choose a smaller one" in message) == ("ResourceExceeded", True)


@pytest.mark.parametrize(
    ("tiles", "expected"),
    [
        ([(0, 16), (1, 8)], "has tiles of 16 and 8"),
        ([(0, 8), (1, 16)], "has tiles of 8 and 16"),
        ([(0, 8), (0, 8)], "has two tiles along axis 0"),
        ([(0, 64)], "has blocks of 64, and the loops that are transposed are "),
        ([(0, 1)], "choose 2 or more"),
    ],
)
def test_a_block_has_one_size_that_its_loops_are_longer_than(tiles, expected):
    p = Program(x="f32 50 40")
    p.result(scaled(p, p.permute(p["x"], perm=(1, 0)), 2.0))
    name, message = refusal(p, loop={"tile": [{"axis": axis, "size": size} for axis, size in tiles]})
    assert (name, expected in message) == ("PlanMismatch", True)


@pytest.mark.parametrize("tile", [[16, 20, 64], [16, 5, 7], [64, 24, 64], [64, 32, 64], [64, 70, 16]])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_tiles_of_weights_are_whole_panels_or_have_none(tile, width):
    p = Program(a="f32 64 64", b="f32 64 70")
    p.result(p.relu(matmul(p, p["a"], p["b"], "64 70 64")))
    inputs = random_inputs(p.module, 0)
    plan = {"tile": tile, "vectorize": {"axis": "n", "width": width}}
    model = tinyc.compile(p.module, weights={"b": inputs["b"]}, plan=plan)
    (expected,) = tinyc.compile(p.module, target="reference").run_named(inputs).values()
    (found,) = model.run_named({"a": inputs["a"]}).values()
    np.testing.assert_allclose(found, expected, 1e-4, 1e-4)
    assert ('sym_name = "pack"' in model.text("plan")) is (tile[1] in (32, 70))


def test_what_is_summed_up_in_order_has_no_vectors():
    p = Program(x="f32 5 40 3")
    p.result(p.sum(p["x"], 1))
    name, message = refusal(p, loop={"vectorize": {"axis": 2, "width": 4}})
    assert (name, "along which no innermost loop" in message) == ("PlanMismatch", True)


def test_full_unrolling_needs_an_extent_that_is_a_number():
    p = Program(x="f32 M 64")
    p.result(p.neg(p["x"]))
    name, message = refusal(p, loop={"unroll": {"axis": 0, "factor": 0}})
    assert (name, "its extent M is no number" in message) == ("PlanMismatch", True)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("parallelize = array<i64: 0, 1>", "parallelize = array<i64: 1>", "is made of the leading loops"),
        ('precision = "ieee"', 'precision = "tf32"', "which a CPU does not have"),
        ('precision = "ieee"', "stages = 3 : i64", "'stages' is not used by the loops of this kernel"),
        ("parallelize = array<i64: 0, 1>", "use_shared_memory = true", "asks for shared memory"),
        ('scheme = "cpu_contraction"', 'scheme = "cpu_rows"', "'tile' is not used by the loops of this kernel"),
    ],
)
def test_a_plan_in_ir_is_judged_where_loops_are_made_of_it(old, new, expected):
    text = tinyc.compile(one_kernel_program(gemm())).text("plan")
    assert old in text
    with pytest.raises(TinycError) as caught:
        tinyc.compile(text.replace(old, new))
    assert expected in str(caught.value)


def test_a_plan_in_ir_without_a_scheme_counts_too():
    text = tinyc.compile(one_kernel_program(gemm())).text("plan")
    text = re.sub(r"plan = \{.*\}, sym_name", 'plan = {arch = "cpu", tile = array<i64: 32, 16, 64>}, sym_name', text)
    assert "grid = [20, 1, 1]" in tinyc.compile(text).text("exec")
