"""Attention that is written out is one op; what is a little different is left alone."""

import numpy as np
import pytest

from importers.onnx.models import assert_as_onnxruntime, frontend_ops, model_of, numbers

CONSTANTS = (
    "<float two = {2}, float half = {0.5}, float root = {0.7071067690849304}, float zero = {0}, "
    "float none = {-inf}, float least = {-1e9}, float[3] three = {1, 2, 3}, int64[1] axis = {1}>"
)
Q, K, V = "float[2, 3, 5, 4] q", "float[2, 3, 6, 4] k", "float[2, 3, 6, 7] v"
RESULT = "float[2, 3, 5, 7] y"
SPELLINGS = {
    "scores over the root of the depth": "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Div(s, two) "
    "w = Softmax<axis = -1>(d) y = MatMul(w, v)",
    "scores times a factor": "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Mul(half, s) "
    "w = Softmax<axis = 3>(d) y = MatMul(w, v)",
    "queries scaled": "h = Mul(q, half) t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(h, t) "
    "w = Softmax<axis = -1>(s) y = MatMul(w, v)",
    "queries and keys by the root, as PyTorch has it": "t = Transpose<perm = [0, 1, 3, 2]>(k) h = Mul(q, root) "
    "g = Mul(t, root) s = MatMul(h, g) w = Softmax<axis = -1>(s) y = MatMul(w, v)",
    "a root that is computed": "t = Transpose<perm = [0, 1, 3, 2]>(k) r = Sqrt(half) h = Mul(q, r) g = Mul(t, r) "
    "s = MatMul(h, g) w = Softmax<axis = -1>(s) y = MatMul(w, v)",
    "no scale": "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) w = Softmax<axis = -1>(s) y = MatMul(w, v)",
}
TRANSPOSED = "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Div(s, two) "
WEIGHTED = " w = Softmax<axis = -1>(a) y = MatMul(w, v)"
MASKS = ["float[5, 6] m", "float[2, 1, 1, 6] m", "float[1, 1, 5, 6] m", "float[2, 3, 5, 6] m", "float[6] m"]


def model(body, *more, inputs=(Q, K, V), outputs=RESULT):
    return model_of(body, ", ".join((*inputs, *more)), outputs, more=CONSTANTS)


def inputs_of(found):
    """Random inputs of a model: masks of bools let about half of the scores be seen, and each row its first one."""
    given = {}
    for at, each in enumerate(found.graph.input):
        shape = [dim.dim_value or 2 for dim in each.type.tensor_type.shape.dim]
        given[each.name] = numbers(*shape, seed=at)
        if each.type.tensor_type.elem_type == 9:
            given[each.name] = given[each.name] > 0
            given[each.name][..., 0] = True
        if each.type.tensor_type.elem_type == 10:
            given[each.name] = given[each.name].astype(np.float16)
    return given


def is_attention(found):
    return "attention" in frontend_ops(found)


@pytest.mark.parametrize("body", SPELLINGS.values(), ids=SPELLINGS)
def test_attention_that_is_written_out_is_one_op(body):
    assert frontend_ops(model(body)) == ["attention"]
    assert_as_onnxruntime(model(body), inputs_of(model(body)))


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_that_is_added_is_the_mask(mask):
    found = model(TRANSPOSED + "a = Add(d, m)" + WEIGHTED, mask)
    assert frontend_ops(found) == ["attention"]
    assert_as_onnxruntime(found, inputs_of(found))


def test_a_mask_may_say_which_scores_count():
    found = model(TRANSPOSED + "a = Where(m, d, none)" + WEIGHTED, "bool[2, 1, 5, 6] m")
    assert frontend_ops(found) == ["attention"]
    assert_as_onnxruntime(found, inputs_of(found))


def test_a_mask_may_say_which_scores_do_not_count():
    found = model(TRANSPOSED + "a = Where(m, none, d)" + WEIGHTED, "bool[5, 6] m")
    assert frontend_ops(found) == ["elementwise not", "attention"]
    mask = numbers(5, 6) > 0
    mask[:, 0] = False
    assert_as_onnxruntime(found, {**inputs_of(found), "m": mask})


def test_a_row_that_is_masked_as_a_whole_stays_nan():
    found = model(TRANSPOSED + "a = Where(m, d, none)" + WEIGHTED, "bool[5, 6] m")
    mask = np.ones((5, 6), bool)
    mask[2] = False
    assert is_attention(found)
    assert_as_onnxruntime(found, {**inputs_of(found), "m": mask})
    added = model(TRANSPOSED + "a = Add(d, m)" + WEIGHTED, "float[5, 6] m")
    assert is_attention(added)
    assert_as_onnxruntime(added, {**inputs_of(added), "m": np.where(mask, 0, -np.inf).astype(np.float32)})


def test_zeros_in_place_of_nan_are_of_the_op():
    """As `torch.onnx` writes `scaled_dot_product_attention` since PyTorch 2.7."""
    body = "a = Add(d, m) p = Softmax<axis = -1>(a) n = IsNaN(p) w = Where(n, zero, p) y = MatMul(w, v)"
    found = model(TRANSPOSED + body, "float[5, 6] m")
    assert frontend_ops(found) == ["attention"]
    mask = np.zeros((5, 6), np.float32)
    mask[2] = -np.inf
    assert_as_onnxruntime(found, {**inputs_of(found), "m": mask})


def test_attention_in_f16_with_its_softmax_in_f32_is_one_op():
    """As Hugging Face's LLaMA has it: `softmax(scores, dtype=float32).to(query.dtype)`."""
    body = (
        "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) c = CastLike(half, q) d = Mul(s, c) a = Add(d, m) "
        "f = Cast<to = 1>(a) p = Softmax<axis = -1>(f) w = Cast<to = 10>(p) y = MatMul(w, v)"
    )
    half = [each.replace("float[", "float16[") for each in (Q, K, V, "float[5, 6] m", RESULT)]
    found = model(body, half[3], inputs=half[:3], outputs=half[4])
    assert frontend_ops(found) == ["attention"]
    assert_as_onnxruntime(found, inputs_of(found), rtol=5e-3, atol=4e-3)


def test_one_transposition_of_rows_heads_and_depth_is_taken_apart():
    """As TorchScript's exporter joins `transpose(1, 2)` and `transpose(2, 3)` of the keys."""
    body = "t = Transpose<perm = [0, 2, 3, 1]>(k) s = MatMul(q, t) d = Div(s, two) w = Softmax<axis = -1>(d) "
    found = model(body + "y = MatMul(w, v)", inputs=(Q, "float[2, 6, 3, 4] k", V))
    assert frontend_ops(found) == ["movement permute", "attention"]
    assert_as_onnxruntime(found, inputs_of(found))


def test_heads_may_stand_in_the_batch():
    body = "t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) d = Div(s, two) a = Add(d, m)" + WEIGHTED
    inputs = ("float[B, 5, 4] q", "float[B, 6, 4] k", "float[B, 6, 7] v")
    found = model(body, "float[B, 5, 6] m", inputs=inputs, outputs="float[B, 5, 7] y")
    assert is_attention(found)
    assert_as_onnxruntime(found, inputs_of(found))


def test_rows_and_keys_of_any_number_are_one_op():
    inputs = ("float[B, 3, S, 4] q", "float[B, 3, T, 4] k", "float[B, 3, T, 4] v")
    found = model(
        TRANSPOSED + "a = Add(d, m)" + WEIGHTED, "float[B, 1, S, T] m", inputs=inputs, outputs="float[B, 3, S, 4] y"
    )
    assert frontend_ops(found) == ["attention"]
    shapes = {"q": (2, 3, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 4), "m": (2, 1, 5, 7)}
    assert_as_onnxruntime(found, {name: numbers(*shape) for name, shape in shapes.items()})


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("Softmax<axis = -1>", "Softmax<axis = 2>"),
        ("perm = [0, 1, 3, 2]", "perm = [1, 0, 3, 2]"),
        ("Div(s, two)", "Div(two, s)"),
        ("Div(s, two)", "Add(s, two)"),
        ("Div(s, two)", "Mul(s, s)"),
        ("a = Add(d, m)", "a = Where(c, d, least)"),  # a number that is not -inf
        ("a = Add(d, m)", "a = Mul(d, m)"),
        ("MatMul(w, v)", "MatMul(d, v)"),
    ],
)
def test_what_is_no_attention_is_left_alone(what, other):
    body = TRANSPOSED + "a = Add(d, m)" + WEIGHTED
    changed = body.replace(what, other)
    assert changed != body
    square = ("float[3, 3, 4, 4] q", "float[3, 3, 4, 4] k", "float[3, 3, 4, 4] v")
    more = ("float[4, 4] m", "bool[4, 4] c")
    assert is_attention(model(body, *more, inputs=square, outputs="float[3, 3, 4, 4] y"))
    found = model(changed, *more, inputs=square, outputs="float[3, 3, 4, 4] y")
    if "perm" in what:  # still attention, of other keys
        assert frontend_ops(found) == ["movement permute", "attention"]
    else:
        assert not is_attention(found)


@pytest.mark.parametrize(("name", "extent"), [("s", 6), ("d", 6), ("w", 6), ("t", None)])
def test_attention_whose_inside_is_read_elsewhere_is_left_alone(name, extent):
    shape = "2, 3, 4, 6" if extent is None else f"2, 3, 5, {extent}"
    body = SPELLINGS["scores over the root of the depth"]
    found = model(body, outputs=f"{RESULT}, float[{shape}] {name}")
    assert not is_attention(found)


def test_a_mask_that_is_spread_over_more_than_the_scores_is_left_alone():
    q, k, v = (each.replace("[2, 3", "[1, 3") for each in (Q, K, V))
    found = model(TRANSPOSED + "a = Add(d, m)" + WEIGHTED, "float[2, 3, 5, 6] m", inputs=(q, k, v))
    assert not is_attention(found)


def test_keys_of_other_batches_or_heads_are_left_alone():
    spread = (Q, "float[1, 3, 6, 4] k", V)
    assert not is_attention(model(SPELLINGS["no scale"], inputs=spread))
    symbolic = ("float[B, 3, 5, 4] q", "float[C, 3, 6, 4] k", "float[B, 3, 6, 7] v")
    assert not is_attention(model(SPELLINGS["no scale"], inputs=symbolic, outputs="float[B, 3, 5, 7] y"))
    heads = ("float[2, H, 5, 4] q", "float[2, H, 6, 4] k", "float[2, H, 6, 7] v")
    assert not is_attention(model(SPELLINGS["no scale"], inputs=heads, outputs="float[2, H, 5, 7] y"))


def test_a_factor_for_each_head_is_no_scale():
    body = "f = Unsqueeze(three, axis) g = Unsqueeze(f, axis) " + SPELLINGS["no scale"].replace(
        "w = Softmax<axis = -1>(s)", "d = Mul(s, g) w = Softmax<axis = -1>(d)"
    )
    assert not is_attention(model(body))


def test_keys_that_are_not_transposed_are_left_alone():
    body = "s = MatMul(q, k) w = Softmax<axis = -1>(s) y = MatMul(w, v)"
    assert not is_attention(model(body, inputs=(Q, "float[2, 3, 4, 6] k", V)))
