"""Winograd's algorithm on the CPU: numbers are within its bound, the same with any threads, and refusals say why."""

import json

import numpy as np
import pytest

import tinyc
from analysis_programs.convolutions import biased, convolution
from analysis_programs.cpu_kernels import typed
from analysis_programs.region_kernels import one_kernel_program
from analysis_programs.tiny_programs import Program
from tinyc.diagnostics import TinycError
from tinyc.executors.compare import compare_all
from tinyc.executors.random_inputs import random_inputs
from tinyc.explain.plans import kernel_plans
from tinyc.plan.dsl_writer import plan_to_dsl
from tinyc.plan.json_text import plan_to_json
from tinyc.plan.source import load_plan
from tinyc.target import GENERIC_CPU

PLAN = {"algo_choice": {"conv": "winograd_3x3"}}
U = 2.0**-24


def by_winograd(p: Program, threads: int = 1, **fields):
    return tinyc.compile(one_kernel_program(p), plan={**PLAN, **fields}, threads=threads)


def kernels(model) -> list[str]:
    return [
        line.split('sym_name = "')[1].split('"')[0] for line in model.text("plan").splitlines() if "sym_name" in line
    ]


# --- numbers ----------------------------------------------------------------------------------------------------------


def plain(**given) -> Program:
    p, sums = convolution(**given)
    return p.result(sums)


def with_epilogue(**given) -> Program:
    p, sums = convolution(**given)
    return p.result(biased(p, sums))


def with_residual(x="f32 1 8 9 10") -> Program:
    p, sums = convolution(x, filters=8)
    return p.result(p.relu(p.add(sums, p["x"])))


def with_prologue() -> Program:
    p = Program(x="f32 2 5 7 8", w="f32 6 5 3 3")
    image = p.pad(p.relu(p["x"]), lo=(0, 0, 1, 1), hi=(0, 0, 1, 1), value=0.0)
    windows = p.permute(p.pool(image, kernel=(3, 3), stride=(1, 1), dilation=(1, 1)), perm=(0, 2, 3, 1, 4, 5))
    shape = "2 6 7 8 5 3 3"
    w = p.expand(p.neg(p["w"]), shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    products = p.mul(p.expand(windows, shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6)), w)
    sums = p.sum(products, 4, 5, 6)
    return p.result(sums, p.neg(sums))


def channels_last() -> Program:
    p = Program(x="f32 2 7 8 5", w="f32 3 3 5 6")
    image = p.pad(p["x"], lo=(0, 1, 1, 0), hi=(0, 1, 1, 0), value=0.0)
    image = p.permute(image, perm=(0, 3, 1, 2))
    windows = p.permute(p.pool(image, kernel=(3, 3), stride=(1, 1), dilation=(1, 1)), perm=(0, 2, 3, 1, 4, 5))
    shape = "2 7 8 6 5 3 3"
    left = p.expand(windows, shape=shape, broadcast_dimensions=(0, 1, 2, 4, 5, 6))
    right = p.expand(p.permute(p["w"], perm=(3, 2, 0, 1)), shape=shape, broadcast_dimensions=(3, 4, 5, 6))
    return p.result(p.relu(p.sum(p.mul(right, left), 4, 5, 6)))


def reversed_kernel() -> Program:
    p = Program(x="f32 1 4 9 9", w="f32 6 4 3 3")
    windows = p.permute(p.pool(p["x"], kernel=(3, 3), stride=(1, 1), dilation=(1, 1)), perm=(0, 2, 3, 1, 4, 5))
    shape = "1 6 7 7 4 3 3"
    w = p.expand(p.flip(p["w"], axes=(2, 3)), shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    return p.result(p.sum(p.mul(p.expand(windows, shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6)), w), 4, 5, 6))


PROGRAMS = {
    "even": lambda: plain(),
    "odd places": lambda: with_epilogue(x="f32 1 8 9 11", filters=5),
    "no padding": lambda: plain(x="f32 1 8 9 11", pads=(0, 0, 0, 0)),
    "one row of tiles": lambda: plain(x="f32 1 3 4 20", filters=4, pads=(0, 0, 1, 1)),
    "uneven padding": lambda: plain(x="f32 1 3 6 7", filters=4, pads=(2, 1, 0, 3)),
    "much padding": lambda: plain(x="f32 1 3 2 2", filters=4, pads=(3, 4, 5, 2)),
    "images": lambda: with_epilogue(x="f32 3 7 9 9", filters=13),
    "one channel": lambda: with_epilogue(x="f32 2 1 8 8", filters=4),
    "one filter": lambda: with_epilogue(x="f32 2 4 8 8", filters=1),
    "many channels": lambda: with_epilogue(x="f32 1 300 6 6", filters=40),
    "residual": with_residual,
    "prologue": with_prologue,
    "channels last": channels_last,
    "reversed kernel": reversed_kernel,
    "f16": lambda: plain(x="f16 1 20 9 9"),
    "bf16": lambda: with_epilogue(x="bf16 2 20 8 9"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_the_references(name):
    p = PROGRAMS[name]()
    model = by_winograd(p)
    assert len(kernels(model)) == 5
    assert within_its_bound(p, model, random_inputs(p.module, 0))


@pytest.mark.parametrize("name", ["images", "many channels", "residual"])
def test_numbers_are_the_same_with_any_threads(name):
    p = PROGRAMS[name]()
    inputs = random_inputs(p.module, 0)
    found = by_winograd(p).run_named(inputs)
    for threads in (2, 5):
        again = by_winograd(p, threads=threads).run_named(inputs)
        assert all(again[output].tobytes() == each.tobytes() for output, each in found.items())


def within_its_bound(p, model, inputs) -> bool:
    expected = tinyc.compile(p.module, target="reference").run_named(inputs)
    results = compare_all(model.run_named(inputs), expected, model.lowering.tolerances(inputs))
    print(*results)
    return all(each.ok for each in results)


@pytest.mark.parametrize("name", ["even", "images", "prologue", "bf16"])
def test_weights_are_transformed_once_and_numbers_stay(name):
    p = PROGRAMS[name]()
    inputs = random_inputs(p.module, 0)
    model = tinyc.compile(one_kernel_program(p), plan=PLAN, weights={"w": inputs["w"]})
    prepared = [line for line in model.text("exec").splitlines() if "exec.kernel" in line and "prepare," in line]
    assert "symbol = @k_kernels" in prepared[0]
    found = model.run_named({each: array for each, array in inputs.items() if each != "w"})
    for output, each in by_winograd(p).run_named(inputs).items():
        np.testing.assert_array_equal(found[output], each)


_B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], float)
_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
_A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], float)


def magnitudes(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What is added up for each place of `x`, padded with 1, by its magnitude."""
    images, _, rows, columns = x.shape
    down, across = -(-rows // 2), -(-columns // 2)
    padded = np.zeros((*x.shape[:2], 2 * down + 2, 2 * across + 2))
    padded[:, :, 1 : rows + 1, 1 : columns + 1] = np.abs(x)
    kernel = np.einsum("pi,fcij,qj->fcpq", np.abs(_G), np.abs(w), np.abs(_G))
    found = np.zeros((images, w.shape[0], 2 * down, 2 * across))
    for i in range(down):
        for j in range(across):
            tile = padded[:, :, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4]
            points = np.einsum("pi,ncij,qj->ncpq", np.abs(_B), tile, np.abs(_B))
            sums = np.einsum("fcpq,ncpq->nfpq", kernel, points)
            found[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = np.einsum(
                "ap,nfpq,bq->nfab", np.abs(_A), sums, np.abs(_A)
            )
    return found[:, :, :rows, :columns]


@pytest.mark.parametrize("channels", [1, 3, 16, 65])
@pytest.mark.parametrize("spread", [0, 12])
def test_the_error_of_each_element_is_within_what_is_derived(channels, spread):
    p = plain(x=f"f32 2 {channels} 7 8", filters=6)
    draw = np.random.default_rng(channels)
    x = draw.standard_normal((2, channels, 7, 8)) * 2.0 ** draw.integers(-spread, spread + 1, (2, channels, 7, 8))
    w = draw.standard_normal((6, channels, 3, 3))
    x, w = x.astype(np.float32), w.astype(np.float32)
    (found,) = by_winograd(p).run_named({"x": x, "w": w, "bias": np.zeros(6, np.float32)}).values()
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    exact = np.einsum("ncijab,fcab->nfij", windows, w.astype(float))
    error, bound = np.abs(found - exact), (channels + 10) * U * magnitudes(x, w)
    assert (error <= bound).all()
    assert error.max() > 0.001 * bound.max(), "the bound is of the size of the error"
    most = 64 * channels * np.abs(x).max() * np.abs(w).max()
    assert magnitudes(x, w).max() <= most


# --- plans ------------------------------------------------------------------------------------------------------------


def test_the_default_is_another_algorithm():
    model = tinyc.compile(one_kernel_program(plain()))
    assert kernels(model) == ["k"]
    assert 'conv = "implicit_gemm"' in model.text("plan")


def test_the_kernels_are_those_of_ordinary_plans_and_their_text_gives_them_again():
    model = by_winograd(with_epilogue())
    assert kernels(model) == ["k_image", "k_points", "k_kernels", "k_products", "k"]
    assert 'scheme = "cpu_contraction"' in model.text("plan")
    again = tinyc.compile(model.text("plan"))
    assert again.text("plan") == model.text("plan")
    assert again.lowering.text("loops", stock=True) == model.lowering.text("loops", stock=True)
    inputs = random_inputs(with_epilogue().module, 0)
    of_sums = (each.lowering.tolerances(inputs)["sums"] for each in (again, model))
    assert len({*of_sums}) == 1


def test_the_plan_is_the_same_in_all_its_texts():
    plan = load_plan({"scheme": "cpu_winograd", **PLAN})
    assert load_plan(plan_to_dsl(plan)) == load_plan(plan_to_json(plan)) == plan
    assert plan == load_plan('algo_choice conv winograd_3x3; set scheme = "cpu_winograd"')
    assert kernels(by_winograd(plain(), scheme="cpu_winograd")) == kernels(by_winograd(plain()))


def test_one_plan_is_for_the_convolutions_that_it_fits():
    p, sums = convolution(filters=8)
    again = p.pool(sums, kernel=(2, 2), stride=(1, 1), dilation=(1, 1))
    shape = "1 4 8 9 8 2 2"
    windows = p.permute(again, perm=(0, 2, 3, 1, 4, 5))
    v = p.shrink(p["w"], lo=(0, 0, 0, 0), hi=(4, 8, 2, 2), step=(1, 1, 1, 1))
    left = p.expand(windows, shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6))
    right = p.expand(v, shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    p.result(p.sum(p.mul(left, right), 4, 5, 6))
    model = tinyc.compile(p.module, plan=PLAN)
    assert len(kernels(model)) == 6
    assert within_its_bound(p, model, random_inputs(p.module, 0))


def test_launches_of_one_kernel_share_what_it_becomes():
    p, sums = convolution(x="f32 1 8 6 6", filters=8)
    windows = p.pool(
        p.pad(sums, lo=(0, 0, 1, 1), hi=(0, 0, 1, 1), value=0.0), kernel=(3, 3), stride=(1, 1), dilation=(1, 1)
    )
    shape = "1 8 6 6 8 3 3"
    left = p.expand(p.permute(windows, perm=(0, 2, 3, 1, 4, 5)), shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6))
    right = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    p.result(p.sum(p.mul(left, right), 4, 5, 6))
    model = tinyc.compile(p.module, plan=PLAN)
    assert len(kernels(model)) == 5
    assert model.text("plan").count("_image}") == 2
    assert within_its_bound(p, model, random_inputs(p.module, 0))


def test_explain_says_that_a_plan_may_ask_for_it_and_that_one_has():
    module = one_kernel_program(plain())
    (default,), (asked,) = (kernel_plans(module, source, GENERIC_CPU) for source in (None, PLAN))
    said = {each.scheme: (each.accepts, each.taken) for each in default.schemes}
    assert said["cpu_winograd"] == (True, False)
    assert asked.plan.scheme == "cpu_winograd"
    assert {each.scheme: each.taken for each in asked.schemes}["cpu_winograd"]
    assert json.loads(plan_to_json(asked.plan))["algo_choice"] == {"conv": "winograd_3x3"}


# --- refusals ---------------------------------------------------------------------------------------------------------


def matmul() -> Program:
    p = Program(a="f32 40 50", b="f32 60 50")
    left = p.expand(p["a"], shape="40 60 50", broadcast_dimensions=(0, 2))
    return p.result(p.sum(p.mul(left, p.expand(p["b"], shape="40 60 50", broadcast_dimensions=(1, 2))), 2))


def in_groups() -> Program:
    p = Program(x="f32 2 4 8 8", w="f32 2 6 4 3 3")
    windows = p.pool(p["x"], kernel=(3, 3), stride=(1, 1), dilation=(1, 1))
    shape = "2 6 6 6 4 3 3"
    left = p.expand(p.permute(windows, perm=(0, 2, 3, 1, 4, 5)), shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6))
    right = p.expand(p["w"], shape=shape, broadcast_dimensions=(0, 1, 4, 5, 6))
    return p.result(p.sum(p.mul(left, right), 4, 5, 6))


def cut() -> Program:
    p = Program(x="f32 1 6 8 8", w="f32 6 4 3 3")
    image = p.shrink(p["x"], lo=(0, 1, 0, 0), hi=(1, 5, 8, 8), step=(1, 1, 1, 1))
    windows = p.pool(image, kernel=(3, 3), stride=(1, 1), dilation=(1, 1))
    shape = "1 6 6 6 4 3 3"
    left = p.expand(p.permute(windows, perm=(0, 2, 3, 1, 4, 5)), shape=shape, broadcast_dimensions=(0, 2, 3, 4, 5, 6))
    right = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 4, 5, 6))
    return p.result(p.sum(p.mul(left, right), 4, 5, 6))


def on_one_axis() -> Program:
    p = Program(x="f32 2 4 8", w="f32 6 4 3")
    windows = p.pool(p["x"], kernel=(3,), stride=(1,), dilation=(1,))
    left = p.expand(p.permute(windows, perm=(0, 2, 1, 3)), shape="2 6 6 4 3", broadcast_dimensions=(0, 2, 3, 4))
    return p.result(p.sum(p.mul(left, p.expand(p["w"], shape="2 6 6 4 3", broadcast_dimensions=(1, 3, 4))), 3, 4))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (matmul, "it has windows along 0 axes, and the algorithm is for two"),
        (on_one_axis, "it has windows along 1 axes, and the algorithm is for two"),
        (in_groups, "it has 2 groups, and the algorithm is for one"),
        (lambda: plain(kernel=5), "it has a kernel of 5 × 5, and the algorithm is for 3 × 3"),
        (lambda: plain(stride=2), "it has strides of 2 × 2, and the algorithm is for 1 × 1"),
        (lambda: plain(dilation=2), "it has dilations of 2 × 2, and the algorithm is for 1 × 1"),
        (lambda: plain(x="f64 1 8 9 9"), "its sums are fp64, and the transforms are of fp32"),
        (lambda: plain(value=0.5), "is padded with 0.5, not 0"),
        (cut, "its image is moved, cut or padded with numbers on the way"),
        (lambda: plain(x="f32 N 8 9 9"), "it depends on N, which a run tells; bind that"),
    ],
)
def test_what_is_no_such_convolution_is_refused_with_the_reason(make, expected):
    with pytest.raises(TinycError) as caught:
        by_winograd(make())
    (error,) = caught.value.errors
    assert error.name == "PlanMismatch"
    assert "the plan is for scheme 'cpu_winograd', which accepts no region of the module" in error.message
    assert expected in error.message


def test_alternatives_for_sizes_are_refused():
    p = plain(x="f32 N 8 9 9")
    with pytest.raises(TinycError) as caught:
        tinyc.compile(p.module, plan=PLAN, sizes=[{"N": 2}])
    assert "it is an alternative for some sizes; bind them for all runs" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {"scheme": "cpu_contraction"},
            "'algo_choice' is 'winograd_3x3', and scheme 'cpu_contraction' builds a conv as",
        ),
        ({"scheme": "cpu_winograd", "tile": [32, 32, 32]}, "'tile' is not used by scheme 'cpu_winograd'"),
        ({"algo_choice": {"conv": "implicit_gemm"}, "scheme": "cpu_winograd"}, "'algo_choice' is 'implicit_gemm', and"),
    ],
)
def test_a_plan_that_says_two_things_is_refused(fields, expected):
    with pytest.raises(TinycError) as caught:
        by_winograd(plain(), **fields)
    assert expected in str(caught.value)


def test_loops_are_not_made_of_a_kernel_that_is_to_be_several():
    text = tinyc.compile(one_kernel_program(plain())).text("plan").replace("implicit_gemm", "winograd_3x3")
    with pytest.raises(TinycError) as caught:
        tinyc.compile(text)
    assert "'algo_choice' is 'winograd_3x3', which is several kernels; run --region-winograd" in str(caught.value)


def test_the_types_of_sums_and_images_stay():
    p = plain(x="f16 1 20 9 9")
    (found,) = by_winograd(p).run_named(random_inputs(p.module, 0)).values()
    (result,) = p.block.operations[len(p.block.operations) - 1].operands
    assert found.dtype == np.float32
    assert found.shape == typed(result).shape
    assert "tensor<20x1x12x12xf16>" in by_winograd(p).text("plan"), "an image of 16 bits is written out as it is"


@pytest.mark.parametrize("written", ["3 : i64", '"winograd_5x5"'])
def test_what_a_kernel_is_a_part_of_is_an_algorithm_of_several(written):
    text = by_winograd(plain()).text("plan").replace('algorithm = "winograd_3x3"', f"algorithm = {written}")
    with pytest.raises(TinycError) as caught:
        tinyc.compile(text)
    assert f"has 'algorithm' {written}; of several kernels is \"winograd_3x3\" alone" in str(caught.value)


@pytest.mark.parametrize(("channels", "terms"), [(16, 185), (64, 9 * 64)])
def test_the_tolerance_counts_the_terms_of_the_bound_where_these_are_more(channels, terms):
    p = plain(x=f"f32 1 {channels} 4 4", filters=4)
    inputs = random_inputs(p.module, 0)
    assert by_winograd(p).lowering.tolerances(inputs)["sums"].atol == 2 * terms * U
    default = tinyc.compile(one_kernel_program(p)).lowering.tolerances(inputs)["sums"]
    assert default.atol == 2 * 9 * channels * U
