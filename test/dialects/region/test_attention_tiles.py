"""Attention on the CPU: one kernel of tiles of queries, whatever masks there are, and no matrix of scores."""

import functools
import math
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import tinyc
from analysis_programs.cpu_kernels import agrees, spread, typed
from analysis_programs.region_kernels import matmul, one_kernel, one_kernel_program
from analysis_programs.tiny_programs import Program
from parameters import pairwise
from programs.cpu_levels import needs_team
from tinyc.analysis.cpu_attention import CpuAttention
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.to_loops.micro_kernel import MicroKernel
from tinyc.dialects.registry import context
from tinyc.runtime.cpu_features import machine_level
from tinyc.target import GENERIC_CPU, vector_unit_of
from tinyc.vocabulary.element_type import ElementType

LEVELS = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]


def attention_of(p: Program) -> CpuAttention | None:
    """How a program is computed as one kernel, if that is as attention."""
    with context():
        nest = one_kernel(p).nest
    return nest if isinstance(nest, CpuAttention) else None


def filled(p: Program, like: Any, value: float) -> Any:
    """Append a constant of the shape and type of `like`."""
    found = typed(like)
    return p.const(value=value, shape=found.shape, element=found.element.value)


def softmax(p: Program, scores: Any, element: str = "f32") -> Any:
    """Append the softmax of rows of scores."""
    below = p.sub(scores, spread(p, p.reduce(scores, op="max", axes=(1,), element=element), scores, 1))
    powers = p.exp2(p.mul(below, filled(p, below, math.log2(math.e))))
    return p.fdiv(powers, spread(p, p.sum(powers, 1, element=element), powers, 1))


def scores_of(p: Program, m: Any, n: Any, d: Any, element: str = "f32") -> Any:
    """Append the products of `q` with the rows of `k`."""
    return matmul(p, p["q"], p.permute(p["k"], perm=(1, 0)), f"{m} {n} {d}", element=element)


def program(m: Any, n: Any, d: Any, w: Any, element: str = "f32", **more: str) -> Program:
    return Program(q=f"{element} {m} {d}", k=f"{element} {n} {d}", v=f"{element} {n} {w}", **more)


def attention(m: Any, n: Any, d: Any, w: Any, element: str = "f32") -> Program:
    p = program(m, n, d, w, element)
    weights = softmax(p, scores_of(p, m, n, d, element), element)
    return p.result(matmul(p, weights, p["v"], f"{m} {w} {n}", element=element))


# --- shapes, types, CPUs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "n", "d", "w"), [(16, 5, 8, 70), (37, 300, 64, 64), (192, 252, 16, 8), (33, 1000, 40, 24), (400, 253, 5, 3)]
)
def test_queries_and_keys_of_any_number(m, n, d, w):
    p = attention(m, n, d, w)
    assert attention_of(p) is not None
    assert agrees(p)


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ({"unroll": {"axis": 0, "factor": 2}}, "has 'unroll', which its tiles cannot have; leave it out"),
        ({"vectorize": {"axis": 0, "width": 8}}, "has 'vectorize', which its tiles cannot have; leave it out"),
        ({"tile": [{"axis": 0, "size": 8}]}, "has 'tile', and its tiles have fields of their own; leave it out"),
    ],
)
def test_loops_that_a_plan_says_of_tiles_are_refused(loop, expected):
    with pytest.raises(TinycError, match=expected) as caught:
        tinyc.compile(one_kernel_program(attention(37, 300, 64, 64)), plan={"loop": loop})
    assert caught.value.name == "UnsupportedPlan"


@pytest.mark.parametrize("cpu", LEVELS)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_attention_is_right_in_the_vectors_of_every_cpu(cpu, element, tmp_path):
    p = attention(70, 300, 20, 33, element)
    assert attention_of(p) is not None
    tinyc.compile(one_kernel_program(p)).save(tmp_path / "attention.tinyc", cpu=cpu)
    if (machine_level() or "") < cpu:
        pytest.skip(f"it was compiled, and not run: this machine's CPU is of level {machine_level()}")
    assert agrees(p, tinyc.load(tmp_path / "attention.tinyc"))


def test_extents_that_are_known_at_run_time():
    p = attention("M", "N", 16, 24)
    assert attention_of(p) is not None
    model = tinyc.compile(one_kernel_program(p))
    for m, n in ((1, 1), (40, 700), (300, 251), (5, 0)):
        assert agrees(p, model, M=m, N=n), (m, n)


@pytest.mark.parametrize(
    ("m", "n", "d", "w", "why"),
    [(4, 100, 16, 16, "few queries"), (40, 100, 257, 16, "long keys"), (40, 100, 16, "W", "values of any length")],
)
def test_what_has_no_tiles_of_queries(m, n, d, w, why):
    p = attention(m, n, d, w)
    assert attention_of(p) is None, why
    assert agrees(p, tinyc.compile(p.module), **({"W": 30} if w == "W" else {}))


def test_scores_that_are_a_result_are_another_kernel():
    p = program(40, 50, 16, 16)
    scores = scores_of(p, 40, 50, 16)
    p.result(matmul(p, softmax(p, scores), p["v"], "40 16 50"), scores)
    assert attention_of(p) is None
    assert agrees(p, tinyc.compile(p.module))


def test_weights_of_neighbouring_rows_are_no_attention():
    p = program(40, 40, 16, 16)
    weights = p.permute(softmax(p, scores_of(p, 40, 40, 16)), perm=(1, 0))
    p.result(matmul(p, weights, p["v"], "40 16 40"))
    assert attention_of(p) is None
    assert agrees(p, tinyc.compile(p.module))


@pytest.mark.parametrize(
    "part", ["first keys", "integers", "wide sums", "no values", "a mask of other places", "of scores"]
)
def test_what_is_nearly_attention_is_none(part):
    element = "i32" if part == "integers" else "f32"
    n = 290 if part == "first keys" else 300
    p = Program(q=f"{element} 40 16", k=f"{element} 300 16", v=f"f32 {n} {0 if part == 'no values' else 16}")
    scores = scores_of(p, 40, 300, 16, element)
    scores = p.cast(scores, element="f32") if part == "integers" else scores
    places = [p.iota(shape="40 300", axis=axis, element="i32") for axis in (0, 1)]
    seen = p.cmp_lt(places[1], p.add(places[0], filled(p, places[0], 9)))
    if part == "of scores":
        seen = p.cmp_lt(filled(p, scores, 0.0), scores)
    if part in ("a mask of other places", "of scores"):
        scores = p.where(seen, scores, filled(p, scores, -1.0))
    weights = softmax(p, scores)
    if part == "first keys":
        weights = p.shrink(weights, lo=(0, 0), hi=(40, 290), step=(1, 1))
    elif part == "a mask of other places":
        flipped = p.flip(weights, axes=(1,))
        weights = p.flip(p.where(seen, flipped, filled(p, flipped, 0.0)), axes=(1,))
    elif part == "of scores":
        weights = p.where(seen, weights, filled(p, weights, 0.0))
    shape = f"40 {0 if part == 'no values' else 16} {n}"
    p.result(matmul(p, weights, p["v"], shape, element="f64" if part == "wide sums" else "f32"))
    assert attention_of(p) is None
    assert agrees(p, tinyc.compile(p.module))


@pytest.mark.parametrize("has_mask", [False, True])
def test_movements_between_scores_and_softmax(has_mask):
    p = Program(q="f32 2 40 16", k="f32 2 300 16", v="f32 2 300 16", m="f32 1 2 40 300")
    scores = matmul(p, p["q"], p.permute(p["k"], perm=(0, 2, 1)), "2 40 300 16", batch=True)
    if has_mask:  # as exporters write it
        scores = p.add(p.reshape(scores, shape="1 2 40 300"), p["m"])
    scores = p.reshape(p.mul(scores, filled(p, scores, 0.3)), shape="2 40 300")
    below = p.sub(scores, spread(p, p.reduce(scores, op="max", axes=(2,), element="f32"), scores, 2))
    powers = p.exp2(below)
    weights = p.fdiv(powers, spread(p, p.sum(powers, 2), powers, 2))
    p.result(matmul(p, weights, p["v"], "2 40 16 300", batch=True))
    assert attention_of(p) is not None
    assert agrees(p)


def test_a_tile_of_keys_is_whole_micro_kernels_of_every_cpu():
    units = map(vector_unit_of, (*LEVELS, "aarch64"))
    kernels = [MicroKernel.of(ElementType.F32, unit, GENERIC_CPU.tile_keys, is_wide=False) for unit in units]
    assert all(GENERIC_CPU.tile_keys % each.rows == 0 for each in kernels)


def test_what_is_behind_the_sums_is_in_the_kernel():
    p = program(40, 300, 16, 16, bias="f32 16")
    y = matmul(p, softmax(p, scores_of(p, 40, 300, 16)), p["v"], "40 16 300")
    shifted = p.add(y, spread(p, p["bias"], y, 0))
    p.result(p.permute(p.relu(shifted), perm=(1, 0)), y)
    assert attention_of(p) is not None
    assert agrees(p)


# --- masks ------------------------------------------------------------------------------------------------------------


def model_of(shapes: dict[str, str], attributes: str = "", inputs: str = "", opset: int = 23) -> onnx.ModelProto:
    """An ONNX model of attention, whose inputs are of these types."""
    typed_inputs = ", ".join(f"{kind} {name}" for name, kind in shapes.items())
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : {opset}]> g ({typed_inputs}) => ({shapes["q"].split("[")[0]}[B,H,M,W] y)'
        f" {{ y = Attention<{attributes}>(q, k, v{inputs}) }}"
    )


def kernels(model: tinyc.Model) -> int:
    return model.text("region").count('"region.kernel"')


def check(program: onnx.ModelProto, arrays: dict[str, np.ndarray], rtol: float = 1e-4) -> tinyc.Model:
    """Compare a program of one kernel with the reference, numbers that are none included."""
    model = tinyc.compile(program)
    assert kernels(model) == 1
    expected, found = (each.run_named(arrays)["y"] for each in (tinyc.compile(program, target="reference"), model))
    np.testing.assert_allclose(np.float64(found), np.float64(expected), rtol, rtol * 1e-2)
    return model


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def operands(heads: int, shared: int, m: int, n: int, d: int = 16) -> dict[str, np.ndarray]:
    return {"q": normal(1, heads, m, d), "k": normal(1, shared, n, d, seed=1), "v": normal(1, shared, n, d, seed=2)}


def shapes_of(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    kinds = {"float32": "float", "bool": "bool"}
    return {name: f"{kinds[str(each.dtype)]}[{','.join(map(str, each.shape))}]" for name, each in arrays.items()}


@pairwise(
    attributes=["is_causal = 1", "left_window_size = 40", "right_window_size = 3"],
    window=["", ", left_window_size = 300, right_window_size = 290"],
    lengths=[(70, 70), (300, 600), (600, 300), (40, 9)],
)
def test_keys_that_no_query_sees_are_left_out(attributes, window, lengths):
    m, n = lengths
    if window and "window" in attributes:
        attributes, window = f"is_causal = 1, {attributes}" if "left" in attributes else "left_window_size = 0", ""
    arrays = operands(1, 1, m, n)
    check(model_of(shapes_of(arrays), attributes + window, opset=27), arrays)


def test_keys_are_left_out_by_what_the_mask_says_of_places():
    p = program(600, 600, 16, 16)
    scores = scores_of(p, 600, 600, 16)
    row, key = (p.iota(shape="600 600", axis=axis, element="i32") for axis in (0, 1))
    seen = p.op("and", p.cmp_lt(key, p.add(row, filled(p, row, 1))), p.cmp_lt(p.sub(row, filled(p, row, 64)), key))
    weights = softmax(p, p.where(seen, scores, filled(p, scores, -math.inf)))
    p.result(matmul(p, weights, p["v"], "600 16 600"))
    found = attention_of(p)
    assert found is not None
    assert [each.is_upper for each in found.bounds] == [True, False]
    assert agrees(p)


@pytest.mark.parametrize("wrong", ["key + 2**30", "many constants", "falls with the row", "of data"])
def test_bounds_that_are_not_sure_leave_out_no_key(wrong):
    p = program(40, 600, 16, 16, length="i32")
    scores = scores_of(p, 40, 600, 16)
    row, key = (p.iota(shape="40 600", axis=axis, element="i32") for axis in (0, 1))
    limits = {
        "key + 2**30": p.add(row, filled(p, row, 2**30)),
        "many constants": functools.reduce(lambda so_far, _: p.add(so_far, filled(p, row, 2**24)), range(127), row),
        "falls with the row": p.sub(filled(p, row, 300), row),
        "of data": p.expand(p["length"], shape="40 600", broadcast_dimensions=()),
    }
    seen = p.cmp_lt(key, limits[wrong])
    weights = softmax(p, p.where(seen, scores, filled(p, scores, -math.inf)))
    p.result(matmul(p, weights, p["v"], "40 16 600"))
    found = attention_of(p)
    assert found is not None
    assert found.bounds == ()
    inputs = {"q": normal(40, 16), "k": normal(600, 16, seed=1), "v": normal(600, 16, seed=2), "length": np.int32(77)}
    results = [tinyc.compile(p.module, target=target).run(**inputs) for target in ("cpu", "reference")]
    np.testing.assert_allclose(*(next(iter(each.values())) for each in results), 1e-4, 1e-6)


@pytest.mark.parametrize(("heads", "shared"), [(4, 4), (4, 2), (3, 1)])
def test_a_mask_of_numbers_and_heads_that_share_their_keys(heads, shared):
    arrays = operands(heads, shared, 33, 300)
    mask = np.where(np.random.default_rng(3).random((33, 300)) < 0.5, -np.inf, normal(33, 300, seed=4))
    mask[5] = -np.inf  # nothing is seen
    mask[6:9, :260] = -np.inf  # the first tile has nothing that is seen
    arrays["m"] = mask.astype(np.float32)
    check(model_of(shapes_of(arrays), "is_causal = 0", ", m"), arrays)
    check(model_of(shapes_of(arrays), "is_causal = 1", ", m"), arrays)


def test_a_mask_of_conditions():
    arrays = operands(2, 2, 33, 300)
    arrays["m"] = np.random.default_rng(3).random((33, 300)) < 0.3
    arrays["m"][[0, 7]] = False
    check(model_of(shapes_of(arrays), "is_causal = 1", ", m"), arrays)
    y = tinyc.compile(model_of(shapes_of(arrays), "is_causal = 0", ", m")).run_named(arrays)["y"]
    assert not y[:, :, [0, 7]].any()


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e30])
@pytest.mark.parametrize("causal", [0, 1])
def test_scores_that_are_no_numbers(number, causal):
    arrays = operands(1, 1, 40, 600)
    arrays["q"][0, 0, 3, 2] = number
    arrays["k"][0, 0, [1, 500], 5] = number
    with np.errstate(all="ignore"):
        check(model_of(shapes_of(arrays), f"is_causal = {causal}"), arrays)


def test_a_key_that_is_left_out_adds_nothing_whatever_its_value():
    arrays = operands(1, 1, 64, 600)
    arrays["v"][0, 0, 64:] = np.nan
    y = tinyc.compile(model_of(shapes_of(arrays), "is_causal = 1")).run_named(arrays)["y"]
    assert np.isfinite(y).all()


def test_lengths_of_a_cache_are_known_at_run_time():
    program = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 23]> g
        (float[1,4,M,16] q, float[1,2,M,16] k, float[1,2,M,16] v, float[1,2,P,16] a, float[1,2,P,16] b)
        => (float[1,4,M,16] y, float[1,2,T,16] c, float[1,2,T,16] d)
        { y, c, d = Attention<is_causal = 1>(q, k, v, , a, b) }"""
    )
    models = [tinyc.compile(program, target=target) for target in ("cpu", "reference")]
    for m, past in ((40, 300), (9, 0), (1, 5)):
        arrays = operands(4, 2, m, m)
        arrays["k"], arrays["v"] = normal(1, 2, m, 16), normal(1, 2, m, 16, seed=5)
        arrays |= {"a": normal(1, 2, past, 16, seed=6), "b": normal(1, 2, past, 16, seed=7)}
        found, expected = (model.run_named(arrays)["y"] for model in models)
        np.testing.assert_allclose(found, expected, 1e-4, 1e-6)


def test_operands_of_16_bits_and_heads_behind_each_other():
    program = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 23]> g (bfloat16[2,50,64] q, bfloat16[2,300,64] k, bfloat16[2,300,64] v)
        => (bfloat16[2,50,64] y) { y = Attention<q_num_heads = 4, kv_num_heads = 4>(q, k, v) }"""
    )
    import ml_dtypes

    arrays = {"q": normal(2, 50, 64), "k": normal(2, 300, 64, seed=1), "v": normal(2, 300, 64, seed=2)}
    check(program, {name: each.astype(ml_dtypes.bfloat16) for name, each in arrays.items()}, 1e-2)


@needs_team
def test_bits_are_the_same_with_any_number_of_threads():
    arrays = operands(3, 3, 500, 500)
    program = model_of(shapes_of(arrays), "is_causal = 1")
    results = [tinyc.compile(program, threads=threads).run_named(arrays)["y"].tobytes() for threads in (1, 2, 5)]
    assert len(set(results)) == 1
