"""Rotary embedding that is written out is one op; what is a little different is left alone."""

import numpy as np
import pytest

from importers.onnx.models import assert_as_onnxruntime, frontend_ops, model_of, numbers

CONSTANTS = (
    "<int64[1] nil = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}, int64[1] last = {3}, "
    "int64[1] far = {9223372036854775807}, float minus = {-1}, float half = {0.5}, "
    "float[3, 4] table = {1, 0, 1, 0, 0.5, 0.2, 0.5, 0.2, -1, 0.3, -1, 0.3}, "
    "float[3, 4] other = {1, 0, 1, 0, 0.5, 0.2, 0.5, 0.2, -1, 0.3, -1, 0.4}>"
)
#: Cosines and sines as Hugging Face has them: of angles that are there twice.
ANGLES = (
    "e = Concat<axis = -1>(f, f) c0 = Cos(e) s0 = Sin(e) c1 = Mul(c0, half) s1 = Mul(s0, half) "
    "c = Unsqueeze(c1, one) s = Unsqueeze(s1, one) "
)
TURN = (
    "low = Slice(x, nil, two, last) high = Slice(x, two, far, last) minus_high = Neg(high) "
    "r = Concat<axis = -1>(minus_high, low) a = Mul(x, c) b = Mul(r, s) y = Add(a, b)"
)
SPELLINGS = {
    "Hugging Face": ANGLES + TURN,
    "parts of a split, times minus one, swapped": ANGLES
    + "low, high = Split<axis = 3, num_outputs = 2>(x) n = Mul(minus, high) r = Concat<axis = 3>(n, low) "
    "a = Mul(c, x) b = Mul(s, r) y = Add(b, a)",
    "half by half": "c0 = Cos(f) s0 = Sin(f) c = Unsqueeze(c0, one) s = Unsqueeze(s0, one) "
    "low, high = Split<axis = 3, num_outputs = 2>(x) a = Mul(low, c) b = Mul(high, s) p = Sub(a, b) "
    "d = Mul(high, c) e = Mul(low, s) q = Add(d, e) y = Concat<axis = -1>(p, q)",
}
X, F, Y = "float[2, 5, 3, 4] x", "float[2, 3, 2] f", "float[2, 5, 3, 4] y"


def model(body, inputs=(X, F), outputs=Y):
    return model_of(body, ", ".join(inputs), outputs, more=CONSTANTS)


def is_rotary(found):
    return "rotary_embedding" in frontend_ops(found)


def rows(*shape):
    return {"x": numbers(*shape), "f": numbers(shape[0], shape[2], shape[3] // 2, seed=1)}


@pytest.mark.parametrize("body", SPELLINGS.values(), ids=SPELLINGS)
def test_a_rotary_embedding_that_is_written_out_is_one_op(body):
    ops = frontend_ops(model(body))
    assert ops.count("rotary_embedding") == 1
    assert "elementwise neg" not in ops
    assert ops[-1] == "rotary_embedding"
    assert_as_onnxruntime(model(body), rows(2, 5, 3, 4))


def test_angles_may_be_the_same_for_all_batches():
    found = model(SPELLINGS["Hugging Face"], (X, "float[1, 3, 2] f"))
    assert is_rotary(found)
    assert_as_onnxruntime(found, {**rows(2, 5, 3, 4), "f": numbers(1, 3, 2)})


def test_batches_and_rows_may_have_any_number():
    found = model(SPELLINGS["Hugging Face"], ("float[B, 5, S, 4] x", "float[B, S, 2] f"), "float[B, 5, S, 4] y")
    assert is_rotary(found)
    assert_as_onnxruntime(found, rows(3, 5, 7, 4))


def test_heads_may_stand_behind_the_rows():
    body = SPELLINGS["Hugging Face"].replace("c1, one", "c1, two").replace("s1, one", "s1, two")
    found = model(body, ("float[2, 3, 5, 4] x", F), "float[2, 3, 5, 4] y")
    assert is_rotary(found)
    assert_as_onnxruntime(found, {"x": numbers(2, 3, 5, 4), "f": numbers(2, 3, 2)})


def test_angles_may_come_from_a_table_by_position():
    """As the exporters of older LLaMAs have it: `cos_cached[position_ids].unsqueeze(1)`."""
    angles = "g = Gather(table, p) c = Unsqueeze(g, one) k = Gather(table, p) n = Neg(k) s = Unsqueeze(n, one) "
    inputs = (X, "int64[2, 3] p")
    found = model(angles + TURN, inputs)
    assert is_rotary(found)
    assert_as_onnxruntime(found, {"x": numbers(2, 5, 3, 4), "p": np.array([[0, 1, 2], [2, 0, 1]])})
    assert not is_rotary(model(angles.replace("Gather(table, p) c", "Gather(other, p) c") + TURN, inputs))


def test_a_rotary_embedding_of_f16_is_one_op():
    body = SPELLINGS["Hugging Face"].replace(
        "c = Unsqueeze(c1, one) s = Unsqueeze(s1, one)",
        "c2 = Cast<to = 10>(c1) s2 = Cast<to = 10>(s1) c = Unsqueeze(c2, one) s = Unsqueeze(s2, one)",
    )
    found = model(body, ("float16[2, 5, 3, 4] x", F), "float16[2, 5, 3, 4] y")
    assert is_rotary(found)
    given = rows(2, 5, 3, 4)
    assert_as_onnxruntime(found, {**given, "x": given["x"].astype(np.float16)}, rtol=4e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("minus_high = Neg(high)", "minus_high = Abs(high)"),
        ("Concat<axis = -1>(minus_high, low)", "Concat<axis = -1>(low, minus_high)"),
        ("low = Slice(x, nil, two, last)", "low = Slice(x, one, last, last)"),  # not the first half
        ("Concat<axis = -1>(f, f)", "Concat<axis = -1>(f, g)"),  # other angles in the second half
        ("y = Add(a, b)", "y = Sub(a, b)"),
        ("y = Add(a, b)", "y = Mul(a, b)"),
        ("b = Mul(r, s)", "b = Div(r, s)"),
    ],
)
def test_what_is_no_rotary_embedding_is_left_alone(what, other):
    body = SPELLINGS["Hugging Face"]
    assert what in body
    assert not is_rotary(model(body.replace(what, other), (X, F, "float[2, 3, 2] g")))


@pytest.mark.parametrize(("name", "extent"), [("a", 4), ("r", 4), ("low", 2), ("minus_high", 2)])
def test_a_rotary_embedding_whose_inside_is_read_elsewhere_is_left_alone(name, extent):
    outputs = f"{Y}, float[2, 5, 3, {extent}] {name}"
    assert not is_rotary(model(SPELLINGS["Hugging Face"], outputs=outputs))


def test_angles_for_each_head_are_left_alone():
    angles = "e = Concat<axis = -1>(f, f) c = Cos(e) s = Sin(e) "
    assert not is_rotary(model(angles + TURN, (X, "float[2, 5, 3, 2] f")))


def test_another_number_of_rows_is_left_alone():
    assert not is_rotary(model(SPELLINGS["Hugging Face"], (X, "float[2, 1, 2] f")))
    symbolic = ("float[B, 5, S, 4] x", "float[C, S, 2] f")
    assert not is_rotary(model(SPELLINGS["Hugging Face"], symbolic, "float[B, 5, S, 4] y"))


def test_integers_are_left_alone():
    body = "c = Unsqueeze(e, one) s = Unsqueeze(e, one) e = Concat<axis = -1>(f, f) " + TURN
    inputs = ("int32[2, 5, 3, 4] x", "int32[2, 3, 2] f")
    assert not is_rotary(model(body, inputs, "int32[2, 5, 3, 4] y"))


def test_pairs_of_neighbours_are_left_alone():
    body = (
        ANGLES + "low = Slice(x, nil, far, last, two) high = Slice(x, one, far, last, two) m = Neg(high) "
        "r = Concat<axis = -1>(m, low) a = Mul(x, c) b = Mul(r, s) y = Add(a, b)"
    )
    assert not is_rotary(model(body))
